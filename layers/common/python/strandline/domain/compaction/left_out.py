"""What is neither covered by the summary nor shown, and why: with what is, these are all messages of a session."""

from collections.abc import Sequence

from strandline.domain.compaction.assembly import Left, Stored


def left_out(
    span: tuple[int, int], shown: Sequence[Stored], left: Sequence[Left], read_from: int
) -> list[Left]:
    """The rows of `left`, and one for each gap: before `read_from` nothing was read, as it could not have been shown;
    behind it what is not there is missing from the bucket. `span`: first and last seq that are not covered."""
    rows: list[Left] = []
    known = [Left(message["seq"], message["seq"], "over_budget") for message in shown]
    at = span[0]
    for row in sorted([*known, *left], key=lambda each: each.seq_from):
        if row.seq_to < at:
            continue  # pinned: it is covered
        rows += _gap(at, row.seq_from - 1, read_from)
        at = row.seq_to + 1
    return _joined(sorted([*rows, *_gap(at, span[1], read_from), *left], key=lambda each: each.seq_from))


def _joined(rows: Sequence[Left]) -> list[Left]:
    """One row for rows of one reason that follow each other."""
    joined: list[Left] = []
    for row in rows:
        known = joined[-1] if joined else None
        if known and known.reason == row.reason and known.seq_to + 1 == row.seq_from:
            joined[-1] = Left(known.seq_from, row.seq_to, row.reason)
        else:
            joined.append(row)
    return joined


def _gap(first: int, last: int, read_from: int) -> list[Left]:
    rows = []
    if first <= min(last, read_from - 1):
        rows.append(Left(first, min(last, read_from - 1), "over_budget"))
    if max(first, read_from) <= last:
        rows.append(Left(max(first, read_from), last, "missing"))
    return rows
