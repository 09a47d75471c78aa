"""Words and likeness together.

    score = ½ · bm25 / greatest bm25  +  ½ · (likeness - least) / (greatest - least)

Both are taken over all documents that are searched, whatever the conditions, so that a condition changes what is
found but not how it scores. A document without a word of the query has no BM25, one without a vector no likeness.
Weighted sums of scores scaled like this beat fusion by rank when one side is weaker (measured on LoCoMo:
docs/BENCHMARKS.md); the weights are equal, and results hardly depend on them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from strandline.domain.ranking.analysis import analyze
from strandline.domain.ranking.index import Index, all_views
from strandline.domain.ranking.search import Conditions, Hit, Place, Scorer, best
from strandline.domain.ranking.view import View

WEIGHT = 0.5


def search_blended(
    indexes: Sequence[Index], query: str, alike: Mapping[bytes, float], conditions: Conditions
) -> list[Hit]:
    """The best documents by words and likeness, best first; of equal scores the smaller id first. `alike` is the
    likeness of texts to the query, by their hash. Scores are between 0 and 1; `explain` has both parts of them.

    Raises ValueError for a negative limit or a `now` that is no time.
    """
    parts = all_views(indexes)
    worded = _by_words(parts, query)
    meant = _scaled(alike)

    def explain(part: int, number: int, score: float) -> Mapping[str, float]:
        words = worded.get((part, number), 0.0)
        return {"words": words, "likeness": score - words}

    return best(parts, _scores(parts, worded, meant), conditions, explain)


def _by_words(parts: Sequence[View], query: str) -> dict[Place, float]:
    found = list(Scorer(parts, Counter(analyze(query))).scores())
    greatest = max((score for _, _, score in found), default=0.0) or 1.0
    return {(part, number): WEIGHT * score / greatest for part, number, score in found}


def _scores(
    parts: Sequence[View], worded: Mapping[Place, float], meant: Mapping[bytes, float]
) -> Iterator[tuple[int, int, float]]:
    for part, view in enumerate(parts):
        keys = view.segment.keys
        for number in view.numbers():
            score = worded.get((part, number), 0.0) + (1 - WEIGHT) * meant.get(keys[number], 0.0)
            if score > 0.0:
                yield part, number, score


def _scaled(alike: Mapping[bytes, float]) -> dict[bytes, float]:
    """From 0, the least alike, to 1; all 1 when none is more alike than another, as when there is only one."""
    low, high = min(alike.values(), default=0.0), max(alike.values(), default=0.0)
    return {key: (value - low) / (high - low) if high > low else 1.0 for key, value in alike.items()}
