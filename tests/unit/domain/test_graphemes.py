"""Texts are cut between characters as a reader sees them."""

import unicodedata

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from strandline.domain.graphemes import LONGEST, beginning, ending
from strandline.domain.text import cut

FAMILY = "👨‍👩‍👧‍👦"
KISS = "👩🏽‍❤️‍💋‍👨🏿"
NORWAY, ENGLAND = "🇳🇴", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
E_ACUTE, HAN, KSHA, KEYCAP = "e\u0301", "\u1112\u1161\u11ab", "क्षि", "1\ufe0f\u20e3"
LETTERS = (
    FAMILY,
    KISS,
    NORWAY,
    ENGLAND,
    E_ACUTE,
    HAN,
    KSHA,
    KEYCAP,
    "👍🏽",
    "\r\n",
    "นำ",
    "a",
    "字",
    "é",
    "한",
)


@pytest.mark.parametrize("letter", LETTERS)
def test_nothing_is_cut_inside_what_is_read_as_one(letter: str) -> None:
    text = f"x{letter}y"
    for limit in range(len(text)):
        inside = limit <= len(letter)
        assert beginning(text, limit) == text[: min(limit, 1) if inside else limit]
        assert ending(text, limit) == text[len(text) - (min(limit, 1) if inside else limit) :]


def test_flags_are_told_apart_by_counting() -> None:
    flags = "🇳🇴🇸🇪🇩🇰"
    assert [beginning(flags, n) for n in range(7)] == ["", "", "🇳🇴", "🇳🇴", "🇳🇴🇸🇪", "🇳🇴🇸🇪", flags]
    assert [ending(flags, n) for n in range(7)] == ["", "", "🇩🇰", "🇩🇰", "🇸🇪🇩🇰", "🇸🇪🇩🇰", flags]


def test_what_has_no_end_is_cut_all_the_same() -> None:
    endless = "a" + "\u0301" * 10 * LONGEST
    assert len(beginning(endless, 5 * LONGEST)) == 5 * LONGEST
    assert len(ending(endless, 5 * LONGEST)) == 5 * LONGEST
    assert beginning("🇳🇴" * 10 * LONGEST, 5 * LONGEST) == "🇳🇴" * (5 * LONGEST // 2)


def test_a_line_is_cut_before_a_letter_that_does_not_fit() -> None:
    assert cut("x" * 10 + FAMILY + "yz", 14) == "x" * 10 + "…"
    assert cut("naı" + E_ACUTE, 5) == "naı" + E_ACUTE
    assert cut("naı" + E_ACUTE + "t", 5) == "naı…"


ODD = "".join(
    c
    for c in map(chr, (*range(0x300), *range(0x900, 0x950), *range(0x1100, 0x1200), *range(0x1F1E6, 0x1F200)))
    if unicodedata.category(c) not in ("Cc", "Cn")
)
some = st.text(st.sampled_from(ODD + "".join(LETTERS) + "\u200d\u200c\ufe0f"), max_size=40)


@given(some, st.integers(0, 40))
def test_every_place_of_a_cut_is_a_boundary_by_the_standard(text: str, limit: int) -> None:
    clusters = [found.span() for found in regex.finditer(r"\X", text)]
    boundaries = {0, len(text), *(start for start, _ in clusters)}
    first, last = beginning(text, limit), ending(text, limit)
    assert text.startswith(first)
    assert text.endswith(last)
    assert len(first) <= limit or first == text
    assert {len(first), len(text) - len(last)} <= boundaries


def test_no_character_of_unicode_is_parted_from_the_letter_that_it_belongs_to() -> None:
    """Those that are newer than one of the two tables aside."""
    every = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x20000), *range(0xE0000, 0xE1000))))
    joined = regex.findall(r"[\p{GCB=Extend}\p{GCB=SpacingMark}\p{GCB=ZWJ}]", every)
    known = [c for c in joined if unicodedata.category(c) != "Cn"]
    assert len(known) > 2_000
    assert not [hex(ord(c)) for c in known if beginning(f"a{c}b", 1)]
