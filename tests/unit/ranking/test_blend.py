"""Words and likeness together: the values are worked out by hand."""

import pytest

from strandline.domain.ranking import Conditions, Document, Index, search_blended
from strandline.domain.ranking.likeness import hash_text

LINES = {"a": "green tea", "b": "black coffee", "c": "tea with milk and tea again", "d": "rain"}
EVERYTHING = Conditions(limit=10)


def index(**attributes: dict[str, str]) -> Index:
    return Index().replace_groups(
        {key: [Document(key, key, text, attributes.get(key, {}))] for key, text in LINES.items()}
    )


def alike(**values: float) -> dict[bytes, float]:
    return {hash_text(LINES[key]): value for key, value in values.items()}


def found(query: str, likeness: dict[bytes, float], conditions: Conditions = EVERYTHING) -> dict[str, float]:
    hits = search_blended([index()], query, likeness, conditions)
    return {hit.document.id: round(hit.score, 6) for hit in hits}


def test_likeness_alone_finds_what_has_no_word_of_the_query() -> None:
    scores = found("beverage", alike(a=0.9, b=0.5, c=0.7, d=0.1))
    assert scores == {"a": 0.5, "c": 0.375, "b": 0.25}  # d is the least alike, and has no word either


def test_the_best_by_words_and_by_likeness_has_one() -> None:
    scores = found("coffee", alike(a=0.2, b=0.8, c=0.5, d=0.2))
    assert scores == {"b": 1.0, "c": 0.25}


def test_words_count_half() -> None:
    scores = found("coffee", alike(a=0.8, b=0.2, c=0.5, d=0.2))
    assert scores == {"a": 0.5, "b": 0.5, "c": 0.25}


def test_without_a_vector_words_still_count() -> None:
    assert found("rain", alike(a=0.8, b=0.2)) == {"a": 0.5, "d": 0.5}


def test_when_all_are_equally_alike_words_decide() -> None:
    assert found("rain", alike(a=0.3, b=0.3, c=0.3, d=0.3)) == {"d": 1.0, "a": 0.5, "b": 0.5, "c": 0.5}


def test_conditions_come_before_the_limit_and_change_no_score() -> None:
    likeness = alike(a=0.9, b=0.5, c=0.7, d=0.1)
    every = found("beverage", likeness)
    some = Conditions(limit=1, accept=lambda document: document.id in "bd")
    assert found("beverage", likeness, some) == {"b": every["b"]}
    assert found("beverage", likeness, Conditions(limit=10, score_threshold=0.3)) == {"a": 0.5, "c": 0.375}
    assert found("beverage", likeness, Conditions(limit=0)) == {}


def test_what_has_expired_is_not_found() -> None:
    expired = index(a={"expires_at": "2026-01-01T00:00:00Z"})
    hits = search_blended([expired], "tea", alike(a=0.9, b=0.1), Conditions(10, now="2026-01-02T00:00:00Z"))
    assert "a" not in {hit.document.id for hit in hits}


def test_parts_of_an_index_are_searched_as_one() -> None:
    whole = search_blended([index()], "tea", alike(a=0.9, b=0.1, c=0.5), EVERYTHING)
    halves = [
        Index().replace_groups({key: [Document(key, key, LINES[key])] for key in keys})
        for keys in ("ab", "cd")
    ]
    assert search_blended(halves, "tea", alike(a=0.9, b=0.1, c=0.5), EVERYTHING) == whole


def test_both_parts_of_a_score_are_explained() -> None:
    best = search_blended([index()], "coffee", alike(a=0.2, b=0.8), EVERYTHING)[0]
    assert best.explain == {"words": 0.5, "likeness": 0.5}


def test_a_limit_cannot_be_negative() -> None:
    with pytest.raises(ValueError, match="negative"):
        search_blended([index()], "tea", {}, Conditions(limit=-1))
