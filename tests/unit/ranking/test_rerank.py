"""What else speaks for a memory line; the values are worked out by hand."""

import pytest

from strandline.domain.ranking import Document, Hit, reranked, scores_of_turns, spread


def line(name: str, score: float, seq: int | None = None, *, to: int | None = None, peer: str = "") -> Hit:
    cited = {} if seq is None else {"session_id": "s", "seq_from": seq, "seq_to": to or seq}
    return Hit(Document(name, name, name, {"peer": peer or None, **cited}), score, {"tea": score}, 4.0)


def message(seq: int, score: float) -> Hit:
    return Hit(Document(f"m{seq}", "g", "", {"session_id": "s", "seq": seq}), score, {})


def scores(hits: list[Hit]) -> dict[str, float]:
    return {hit.document.id: round(hit.score, 6) for hit in hits}


TURNS = {("s", 1): 1.0, ("s", 2): 0.5}


def test_messages_count_by_their_share_of_the_best() -> None:
    assert scores_of_turns([message(1, 8.0), message(2, 2.0)]) == {("s", 1): 1.0, ("s", 2): 0.25}
    assert scores_of_turns([]) == {}


def test_the_best_message_that_is_cited_speaks_for_a_line() -> None:
    hits = [line("a", 4.0, 3), line("b", 3.0, 1), line("c", 2.0, 2, to=3)]
    # half of the greatest, 4, for the best message; a quarter for one half as good
    assert scores(reranked(hits, "tea", TURNS)) == {"b": 5.0, "a": 4.0, "c": 3.0}


def test_what_somebody_wrote_is_its_own_message() -> None:
    assert scores(reranked([line("own", 3.0)], "tea", TURNS)) == {"own": 4.5}


def test_without_messages_only_names_count() -> None:
    assert scores(reranked([line("own", 3.0), line("a", 2.0, 1)], "tea", None)) == {"own": 3.0, "a": 2.0}


@pytest.mark.parametrize(
    ("query", "score"),
    [
        ("What does Ann-Marie drink?", 3.2),  # 0.3 of 4 more
        ("ann marie's tea", 3.2),
        ("What does Ann drink?", 2.0),  # another Ann
        ("tea", 2.0),
    ],
)
def test_a_query_that_names_a_person_is_about_that_persons_lines(query: str, score: float) -> None:
    hits = [line("a", 2.0, 9, peer="Ann Marie"), line("b", 2.0, 9, peer="Ben"), line("c", 2.0, 9)]
    assert scores(reranked(hits, query, TURNS)) == {"a": score, "b": 2.0, "c": 2.0}


def test_a_line_of_messages_that_better_ones_cite_counts_half() -> None:
    hits = [
        line("a", 4.0, 1, to=2),
        line("b", 3.0, 2),
        line("c", 2.9, 2, to=3),
        line("d", 1.0, 3),
        line("e", 0.9),
    ]
    found = spread(hits)
    assert scores(found) == {"a": 4.0, "c": 2.9, "b": 1.5, "e": 0.9, "d": 0.5}
    assert found == sorted(found, key=lambda hit: -hit.score)


def test_every_part_of_a_score_is_explained() -> None:
    first, second = spread(reranked([line("a", 4.0, 1, peer="Ann"), line("b", 3.0, 1)], "Ann", TURNS))
    assert first.explain == pytest.approx({"tea": 4.0, "said": 2.0, "named": 1.2})
    assert second.explain == pytest.approx({"tea": 3.0, "said": 2.0, "again": -2.5})
    assert all(hit.score == pytest.approx(sum(hit.explain.values())) for hit in (first, second))
