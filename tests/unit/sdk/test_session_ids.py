import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from strandline.domain.message import Identifier
from strandline_sdk.importers.session_ids import accepted

SERVICE = TypeAdapter(Identifier)


@pytest.mark.parametrize(
    "text", ["weekend", "a b.c", "-", "...", "窯" * 64, "x" * 128, "é~@:%", "1", "\x85", "%2E"]
)
def test_an_id_that_the_service_accepts_stays(text: str) -> None:
    assert accepted(text) == text == SERVICE.validate_python(text)


@pytest.mark.parametrize(
    ("text", "beginning"),
    [
        ("a/b", "a-b-"),
        ("a?b\\c\n\x7f", "a-b-c---"),
        (".", ""),
        ("..", ""),
        ("/", ""),
        ("x" * 129, "x" * 119 + "-"),
        ("窯" * 65, "窯" * 61 + "-"),
        (" " * 65, " " * 61 + "-"),
        ("\udcff", ""),
        ("", ""),
    ],
)
def test_any_other_is_replaced_and_marked_by_a_hash(text: str, beginning: str) -> None:
    made = accepted(text)
    assert made.startswith(beginning)
    assert len(made) == len(beginning) + 8
    assert SERVICE.validate_python(made) == made


def test_different_texts_give_different_ids() -> None:
    texts = ["a/b", "a?b", "a-b", ".", "..", "/", "x" * 129, "x" * 130, "\udcff", "\udcfe", ""]
    assert len({accepted(text) for text in texts}) == len(texts)


@given(st.text(max_size=300) | st.text("/\\.?\x00\x1f\x7f -窯\ud800", max_size=8))
def test_whatever_a_conversation_is_called_the_service_accepts_it(text: str) -> None:
    made = accepted(text)
    assert SERVICE.validate_python(made) == made == accepted(made)
