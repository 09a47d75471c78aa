import pytest
from hypothesis import given
from hypothesis import strategies as st

from strandline.domain.rules.sentences import (
    MAX_SCANNED,
    MAX_SENTENCE,
    MAX_SENTENCES,
    captions,
    sentences,
)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("I went. It rained! Why?", ["I went.", "It rained!", "Why?"]),
        ("Wow!! It's 3.5 km... Nice", ["Wow!!", "It's 3.5 km...", "Nice"]),
        (
            "Dr. Lee met J. Roe at 5 p.m. on St. John St. today.",
            ["Dr. Lee met J. Roe at 5 p.m. on St. John St. today."],
        ),
        ("Great!I went there.", ["Great!", "I went there."]),
        ('She said "no." Then left.', ['She said "no."', "Then left."]),
        ("i am good . i just left .", ["i am good .", "i just left ."]),
        ("See https://a.b/c?d=e.f now. Ok.", ["See https://a.b/c?d=e.f now.", "Ok."]),
        ("one\ntwo\r\n\r\nthree\u2028four", ["one", "two", "three", "four"]),
        ("# Title\n- first\n* second\n2) third", ["Title", "first", "second", "third"]),
        ("我很好。你呢？真的！他说：“好。”走了", ["我很好。", "你呢？", "真的！", "他说：“好。”", "走了"]),
        ("うわー ！私は元気です。", ["うわー ！", "私は元気です。"]),
        ("Before.\n```py\nx = 1. y\n```\nAfter.", ["Before.", "After."]),
        ("Before. ```never closed. At all.", ["Before."]),
        ("Look at this [image: a cat. On a mat.] Nice.", ["Look at this", "Nice."]),
        ("", []),
        (" \n\t ", []),
    ],
)
def test_a_message_in_sentences(message: str, expected: list[str]) -> None:
    assert [s.text for s in sentences(message)] == expected


@given(st.text(alphabet="aI .!?。！？\n\"'`[]:-#1,", max_size=400))
def test_a_sentence_is_a_verbatim_trimmed_part_in_order(message: str) -> None:
    end = 0
    for sentence in sentences(message):
        assert message[sentence.start : sentence.end] == sentence.text
        assert sentence.text == sentence.text.strip() != ""
        assert sentence.start >= end
        end = sentence.end


def test_a_long_sentence_is_cut_at_a_space() -> None:
    parts = sentences("word " * 500)
    assert len(parts) == 5
    assert all(len(p.text) <= MAX_SENTENCE and p.text.endswith("word") for p in parts)


def test_text_without_spaces_is_cut_anyway() -> None:
    assert [len(p.text) for p in sentences("x" * (MAX_SENTENCE + 1))] == [MAX_SENTENCE, 1]


def test_only_so_much_of_a_message_is_looked_at() -> None:
    assert len(sentences("I went. " * 10_000)) == MAX_SENTENCES
    assert sentences(" " * MAX_SCANNED + "I went.") == []


def test_captions() -> None:
    message = "Hi [image: a red bike] and [Photo: a cat] [image: ] [link: no] [image: [image: nested]"
    assert [c.text for c in captions(message)] == ["a red bike", "a cat", "nested"]
