"""How a long archive is taken apart and put together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strandline.domain.admission import check
from strandline.domain.extraction import Extraction, Usage
from strandline.domain.language_model.combine import beside, joined, total
from strandline.domain.language_model.parts import MESSAGE_TOKENS, halves, span, split
from strandline.domain.memory_policy import MemoryPolicy
from tests.unit.language_model.asked import TALK, answer, extraction, fact, transcript


def words(text: str) -> int:
    return len(text.split())


def test_parts_are_filled_turn_by_turn() -> None:
    of = transcript(*["one two three"] * 5)
    each = 3 + MESSAGE_TOKENS
    assert [span(part) for part in split(of, 2 * each, words)] == [(1, 2), (3, 4), (5, 5)]
    assert [span(part) for part in split(of, 5 * each, words)] == [(1, 5)]
    assert [span(part) for part in split(of, 5 * each - 1, words)] == [(1, 4), (5, 5)]


def test_a_giant_turn_is_alone_and_whole() -> None:
    of = transcript("small", "giant " * 10_000, "small", "small")
    parts = split(of, 200, words)
    assert [span(part) for part in parts] == [(1, 1), (2, 2), (3, 4)]
    assert parts[1].turns[0].text == "giant " * 10_000


def test_nobody_spoke() -> None:
    assert split(transcript("", " "), 100, words) == []


@given(st.lists(st.text(alphabet="ab 猫🦊", max_size=40), max_size=30), st.integers(1, 300))
def test_every_turn_is_in_exactly_one_part(texts: list[str], budget: int) -> None:
    of = transcript(*texts)
    parts = split(of, budget, words)
    assert [turn for part in parts for turn in part.turns] == [t for t in of.turns if t.text.strip()]
    for part in parts:
        assert len(part.turns) == 1 or sum(words(t.text) + MESSAGE_TOKENS for t in part.turns) <= budget


@given(st.lists(st.integers(0, 50), min_size=2, max_size=20))
def test_halves_are_two_and_whole(sizes: list[int]) -> None:
    of = transcript(*["x" * size for size in sizes])
    left, right = halves(of)
    assert left.turns and right.turns
    assert left.turns + right.turns == of.turns


@pytest.mark.parametrize(("sizes", "first"), [((10, 10, 10, 10), 2), ((100, 1, 1), 1), ((1, 1, 100), 2)])
def test_halves_are_of_about_the_same_length(sizes: tuple[int, ...], first: int) -> None:
    assert len(halves(transcript(*["x" * size for size in sizes]))[0].turns) == first


def test_one_turn_has_no_halves() -> None:
    assert [span(half) for half in halves(transcript("x"))] == [(1, 1)]


# ---- together


def found(text: str, abstract: str = "They talked.") -> Extraction:
    given_answer = {**answer(profile=[fact(text=text)]), "abstract": abstract}
    return extraction(given_answer)


def test_parts_are_joined_in_order() -> None:
    spent = Usage(models=("m",), calls=2, input_tokens=30, output_tokens=5)
    whole = joined([((1, 4), found("Ann rows.", "First.")), ((5, 9), found("Ann swims.", "Then."))], spent)
    assert whole.abstract == "First. Then."
    assert [p.claims[0].text for p in whole.proposals] == ["Ann rows.", "Ann swims."]
    assert (whole.extractor, whole.usage) == ("test/1", spent)


def test_one_part_is_itself() -> None:
    one = found("Ann rows.")
    assert joined([((1, 2), one)], Usage()).model_copy(update={"usage": None}) == one


def test_a_summary_of_many_parts_is_bounded() -> None:
    long = {**answer(), "abstract": "word " * 100}
    whole = joined([((n, n), extraction(long)) for n in range(100)], Usage())
    assert len(whole.abstract) < 2_000


def test_rules_and_model_stand_side_by_side() -> None:
    rules = found("Ann bought a canoe.").model_copy(update={"extractor": "rules/1", "abstract": "By rules."})
    read = found("Ann bought a red canoe on 7 May 2023.").model_copy(update={"usage": Usage(calls=1)})
    both = beside(rules, read)
    assert (both.extractor, both.abstract, both.usage) == ("rules/1+test/1", "They talked.", Usage(calls=1))
    (file,) = check(both, TALK, MemoryPolicy(), "0123456789ab").files
    assert [line.text for line in file.lines] == [
        "Ann bought a canoe.",
        "Ann bought a red canoe on 7 May 2023.",
    ]


def test_what_both_say_in_the_same_words_is_one_line() -> None:
    one = found("Ann bought a red canoe.")
    (file,) = check(beside(one, one), TALK, MemoryPolicy(), "0123456789ab").files
    assert [line.text for line in file.lines] == ["Ann bought a red canoe."]


def test_usage_adds_up() -> None:
    one = Usage(models=("a",), calls=1, input_tokens=10, output_tokens=2)
    other = Usage(models=("b", "a"), calls=2, input_tokens=5, output_tokens=1)
    assert total([one, other]) == Usage(models=("a", "b"), calls=3, input_tokens=15, output_tokens=3)
    assert total([]) == Usage()
