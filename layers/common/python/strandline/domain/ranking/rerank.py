"""What else speaks for a memory line than its own words, and what against it.

    score = words + SAID · (score of the best message it cites) + NAMED · (whether it is of a person the query names)

Both are parts of the greatest score by words, messages of the greatest of theirs, so nothing depends on how long the
query is. What somebody wrote cites nothing, and is its own message. A line that cites only messages which better lines
cite as well counts half: what it can add is little. What each step gives on LoCoMo stands in docs/BENCHMARKS.md; the
weights were chosen on three of its conversations, hardly matter between 0.25 and 0.75, 0.2 and 0.4, and give as much on
the other four.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from strandline.domain.ranking.analysis import analyze
from strandline.domain.ranking.document import Document
from strandline.domain.ranking.search import Hit

SAID = 0.5
NAMED = 0.3
AGAIN = 0.5

Turn = tuple[str, int]  # session, seq
Turns = Mapping[Turn, float]


def scores_of_turns(messages: Sequence[Hit]) -> dict[Turn, float]:
    """The score of each message that was found, of 1 for the best."""
    greatest = max((hit.score for hit in messages), default=0.0) or 1.0
    said = ((hit.document.attributes, hit.score / greatest) for hit in messages)
    return {(str(told["session_id"]), int(str(told["seq"]))): score for told, score in said}


def reranked(hits: Sequence[Hit], query: str, turns: Turns | None) -> list[Hit]:
    """The hits with what else speaks for them, best first; of equal scores the smaller id first. Without `turns`
    messages say nothing."""
    asked = set(analyze(query))
    return sorted((_lifted(hit, asked, turns) for hit in hits), key=_order)


def spread(hits: Sequence[Hit]) -> list[Hit]:
    """The hits, best first, with those that cite nothing new at half their score."""
    seen: set[Turn] = set()
    shown = []
    for hit in hits:
        cited = set(cites(hit.document))
        again = bool(cited) and cited <= seen
        seen |= cited
        shown.append(_added(hit, "again", -AGAIN * hit.score) if again else hit)
    return sorted(shown, key=_order)


def cites(document: Document) -> Iterator[Turn]:
    """The messages that a memory line is from; none for what somebody wrote."""
    told = document.attributes
    if "seq_from" in told:
        first, last = int(str(told["seq_from"])), int(str(told["seq_to"]))
        yield from ((str(told["session_id"]), seq) for seq in range(first, last + 1))


def _lifted(hit: Hit, asked: set[str], turns: Turns | None) -> Hit:
    peer = set(analyze(str(hit.document.attributes.get("peer") or "")))
    named = bool(peer) and peer <= asked
    said = 0.0 if turns is None else _said(hit, turns)
    return _added(_added(hit, "said", SAID * said), "named", NAMED * named * hit.greatest)


def _said(hit: Hit, turns: Turns) -> float:
    cited = list(cites(hit.document))
    return max((turns.get(turn, 0.0) for turn in cited), default=0.0) * hit.greatest if cited else hit.score


def _added(hit: Hit, why: str, score: float) -> Hit:
    if not score:
        return hit
    return replace(hit, score=hit.score + score, explain={**hit.explain, why: score})


def _order(hit: Hit) -> tuple[float, str, str]:
    return -hit.score, hit.document.id, hit.document.group
