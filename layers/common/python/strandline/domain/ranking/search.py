"""Searching one part or several as if they were one."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from operator import add, itemgetter

from strandline.domain.ranking.analysis import analyze
from strandline.domain.ranking.bm25 import Statistics, term_scores
from strandline.domain.ranking.document import Document, instant
from strandline.domain.ranking.view import View


@dataclass(frozen=True)
class Hit:
    """A found document. `explain` says what each term of the query added; the score is their sum, always positive.
    `greatest` is the score of the best of all documents, whatever the conditions."""

    document: Document
    score: float
    explain: Mapping[str, float]
    greatest: float = 0.0


@dataclass(frozen=True)
class Conditions:
    """What a hit must satisfy, besides containing a term of the query. `now` None: nothing counts as expired."""

    limit: int
    accept: Callable[[Document], bool] | None = None
    now: str | None = None
    score_threshold: float | None = None


def search(parts: Sequence[View], query: str, conditions: Conditions) -> list[Hit]:
    """The best documents, best first; of equal scores the smaller id first.

    Conditions are applied before the limit. Raises ValueError for a negative limit or a `now` that is no time.
    """
    scorer = Scorer(parts, Counter(analyze(query)))
    return best(parts, scorer.scores(), conditions, lambda part, number, _: scorer.explain(part, number))


Explain = Callable[[int, int, float], Mapping[str, float]]


def best(
    parts: Sequence[View], scores: Iterable[tuple[int, int, float]], conditions: Conditions, explain: Explain
) -> list[Hit]:
    """The best of what was scored (part, number, score) that is acceptable. A document is read only when it may be
    among them. Raises ValueError for a negative limit or a `now` that is no time."""
    if conditions.limit < 0:
        raise ValueError("limit must not be negative")
    acceptable = acceptance(conditions)
    hits: list[Hit] = []
    greatest = 0.0
    for score, places in _best_first(scores, conditions.score_threshold or 0.0):
        if len(hits) >= conditions.limit:
            break
        greatest = greatest or score
        found = ((parts[part].document(number), part, number) for part, number in places)
        ranked = sorted((x for x in found if acceptable(x[0])), key=lambda x: (x[0].id, x[0].group))
        hits += [Hit(document, score, explain(part, n, score), greatest) for document, part, n in ranked]
    return hits[: conditions.limit]


def acceptance(conditions: Conditions) -> Callable[[Document], bool]:
    now = None if conditions.now is None else instant(conditions.now)
    accept = conditions.accept

    def acceptable(document: Document) -> bool:
        if now is not None and document.expired(now):
            return False
        return accept is None or accept(document)

    return acceptable


Place = tuple[int, int]  # part, document number in it


def _best_first(
    scores: Iterable[tuple[int, int, float]], threshold: float
) -> Iterator[tuple[float, Iterable[Place]]]:
    scored = [(score, (part, number)) for part, number, score in scores if score >= threshold]
    scored.sort(key=itemgetter(0), reverse=True)
    for score, ties in groupby(scored, key=itemgetter(0)):
        yield score, (place for _, place in ties)


class Scorer:
    """BM25 of the documents of several parts for one query, with the statistics of all of them."""

    def __init__(self, parts: Sequence[View], query: Mapping[str, int]) -> None:
        statistics = reduce(add, (part.statistics(query) for part in parts), Statistics(0, 0, 0, {}))
        weights = {term: repeats * statistics.idf(term) for term, repeats in query.items()}
        self._parts = [_scores_by_term(part, weights, statistics.mean_length) for part in parts]

    def scores(self) -> Iterator[tuple[int, int, float]]:
        """Part, number and score of every document with a term of the query."""
        for part, by_term in enumerate(self._parts):
            totals: dict[int, float] = {}
            for scores in by_term.values():
                for number, score in scores.items():
                    totals[number] = totals.get(number, 0.0) + score
            yield from ((part, number, total) for number, total in totals.items())

    def explain(self, part: int, number: int) -> dict[str, float]:
        """What each term adds to the score of one document."""
        return {term: scores[number] for term, scores in self._parts[part].items() if number in scores}


def _scores_by_term(
    part: View, weights: Mapping[str, float], mean_length: float
) -> dict[str, dict[int, float]]:
    norms = part.norms(mean_length)
    return {
        term: term_scores(weight, zip(*part.postings(term), strict=True), norms)
        for term, weight in weights.items()
    }
