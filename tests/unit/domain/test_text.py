import pytest
from hypothesis import given
from hypothesis import strategies as st

from strandline.domain.text import MAX_LINE, cut, is_unspaced, one_line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\nb\r\n\tc\u2028d\x00e", "a b c d e"),
        ("  a  b  ", "a b"),
        ("a --> b <!-- c", "a -- > b < !-- c"),
        ("a ---> b --!> c", "a --- > b --! > c"),
        ("[a](b)", "[a] (b)"),
        ("left\u202eright\u200b\ufeff", "leftright"),
        ("-\u200b-\u200b>", "-- >"),
        ("<\u200b!--", "< !--"),
        ("family \U0001f468\u200d\U0001f469", "family \U0001f468\u200d\U0001f469"),
        ("lone \ud800 surrogate", "lone surrogate"),
        ("", ""),
    ],
)
def test_one_line(text: str, line: str) -> None:
    assert one_line(text) == line


@given(st.text(alphabet="<!->]( \n\u200b", max_size=60))
def test_nothing_opens_or_closes_a_comment_or_a_link(text: str) -> None:
    line = one_line(text)
    assert not [mark for mark in ("<!", "-->", "--!>", "](", "\n") if mark in line]


@given(st.text(max_size=300), st.integers(min_value=2, max_value=50))
def test_cut_keeps_the_bound_and_the_beginning(text: str, limit: int) -> None:
    short = cut(text, limit)
    assert len(short) <= limit
    assert short == text or text.startswith(short.removesuffix("…"))


def test_cut_prefers_a_space() -> None:
    assert cut("one two three four", 12) == "one two…"


def test_a_line_is_never_longer_than_a_claim_may_be() -> None:
    assert len(one_line("-->" * 2000)) <= MAX_LINE


@pytest.mark.parametrize(
    ("text", "unspaced"),
    [
        ("我很好", True),
        ("元気です。OK", True),
        ("좋아요", True),
        ("ไทย", True),
        ("Hello 你", False),
        ("Привет", False),
        ("12!", False),
    ],
)
def test_scripts_without_spaces(text: str, unspaced: bool) -> None:
    assert is_unspaced(text) is unspaced
