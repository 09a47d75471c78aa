"""A partition of the table, cut into pages."""

from collections.abc import Iterator

from strandline.ports import BY_KEY, Item, Items, Order, Page

_FIRST, _LAST = "!", "\U0010ffff"
_WHOLE = 200


def page(items: Items, pk: str, after: str | None, limit: int, order: Order = BY_KEY) -> Page:
    """A page from behind `after`, which is read along and left out: between is inclusive."""
    low, high = (_FIRST, after or _LAST) if order.newest_first else (after or _FIRST, _LAST)
    found = items.query(pk, between=(low, high), limit=limit + 1, order=order)
    rows = [item for item in found.items if item[order.by] != after]
    more = len(rows) > limit or found.next is not None
    rows = rows[:limit]
    return Page(rows, rows[-1][order.by] if more and rows else None)


def whole(items: Items, pk: str) -> Iterator[Item]:
    """Every item of a partition by its key, fetched as it is consumed."""
    after: str | None = None
    while True:
        found = page(items, pk, after, _WHOLE)
        yield from found.items
        after = found.next
        if after is None:
            return
