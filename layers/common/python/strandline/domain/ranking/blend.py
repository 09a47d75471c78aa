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
from strandline.domain.ranking.document import Document
from strandline.domain.ranking.index import Index
from strandline.domain.ranking.likeness import embedded, hash_text
from strandline.domain.ranking.search import Conditions, Hit, Scorer, acceptance
from strandline.domain.ranking.segment import Segment

WEIGHT = 0.5


def search_blended(
    indexes: Sequence[Index], query: str, alike: Mapping[bytes, float], conditions: Conditions
) -> list[Hit]:
    """The best documents by words and likeness, best first; of equal scores the smaller id first. `alike` is the
    likeness of texts to the query, by their hash. Scores are between 0 and 1; `explain` has both parts of them.

    Raises ValueError for a negative limit or a `now` that is no time.
    """
    if conditions.limit < 0:
        raise ValueError("limit must not be negative")
    segments = [index.segment for index in indexes]
    worded = _by_words(segments, query)
    greatest = max(worded.values(), default=0.0) or 1.0
    meant = _scaled(alike)
    acceptable, threshold = acceptance(conditions), conditions.score_threshold or 0.0
    hits = []
    for place, document in _documents(segments):
        words = WEIGHT * worded.get(place, 0.0) / greatest
        meaning = (1 - WEIGHT) * meant.get(hash_text(embedded(document)), 0.0)
        if words + meaning > 0.0 and words + meaning >= threshold and acceptable(document):
            hits.append(Hit(document, words + meaning, {"words": words, "likeness": meaning}))
    hits.sort(key=lambda hit: (-hit.score, hit.document.id, hit.document.group))
    return hits[: conditions.limit]


Place = tuple[int, int]


def _by_words(segments: Sequence[Segment], query: str) -> dict[Place, float]:
    scorer = Scorer(segments, Counter(analyze(query)))
    return {(part, number): score for part, number, score in scorer.scores()}


def _documents(segments: Sequence[Segment]) -> Iterator[tuple[Place, Document]]:
    for part, segment in enumerate(segments):
        for number in range(len(segment.records)):
            yield (part, number), segment.document(number)


def _scaled(alike: Mapping[bytes, float]) -> dict[bytes, float]:
    """From 0, the least alike, to 1; all 1 when none is more alike than another, as when there is only one."""
    low, high = min(alike.values(), default=0.0), max(alike.values(), default=0.0)
    return {key: (value - low) / (high - low) if high > low else 1.0 for key, value in alike.items()}
