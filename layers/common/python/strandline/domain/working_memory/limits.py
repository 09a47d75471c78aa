"""How long a document may get, and what goes first: when it is stored, and when it is shown within a budget.

The published limits are in characters, 8,000 a section and 54,000 in all. Tokens are bounded besides, since a Chinese
character is a token or more: 2,000 a section, as many as 8,000 English characters have, and 10,000 in all, as many as
there are messages before the first document is made: it is never longer than what it first stands for.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from strandline.domain.graphemes import beginning
from strandline.domain.working_memory.document import (
    HEADINGS,
    SECTIONS,
    Document,
    Section,
    item,
    left_out,
    render,
)

SECTION_CHARS = 8_000
SECTION_TOKENS = 2_000
TOTAL_CHARS = 54_000
TOTAL_TOKENS = 10_000
_NOTICE = 50
"""Characters of a heading, or of the count of what is left out, at most."""

SHORT = 100
"""Characters that an old error keeps before any error is let go of."""

_WORTH: tuple[Section, ...] = (
    "state",
    "task",
    "open",
    "errors",
    "facts",
    "files",
    "results",
    "learnings",
    "worklog",
)
"""The sections, the one that is needed most to go on first."""

_FIRST_STAYS: frozenset[Section] = frozenset({"task"})
"""The first item is what the session began with: the last to go."""

Count = Callable[[str], int]


def weight(text: str) -> int:
    """About as many tokens as the text has: four ASCII characters, or two bytes of others, to a token. Not counted: the
    same document comes out whatever a deployment counts with."""
    ascii_only = len(text.encode("ascii", "ignore"))
    return 1 + ascii_only // 4 + (len(text.encode("utf-8", "replace")) - ascii_only) // 2


def within_limits(document: Document) -> Document:
    """The document within all limits: each section, then the whole, lets go of its oldest items and counts them.

    Old errors are shortened first, so that as many as possible stay.
    """
    for name in SECTIONS:
        document = _section(document, name, SECTION_CHARS, SECTION_TOKENS)
    share = 1.0
    while (len(render(document)) > TOTAL_CHARS or _tokens(document) > TOTAL_TOKENS) and share > 0.01:
        share *= (
            0.9  # every section gives the same part of what it may hold, those that are short give nothing
        )
        for name in SECTIONS:
            document = _section(document, name, int(SECTION_CHARS * share), int(SECTION_TOKENS * share))
    return document


def _tokens(document: Document) -> int:
    return sum(weight(line) for line in render(document).splitlines())


def _section(document: Document, name: Section, chars: int, tokens: int) -> Document:
    items = list(document.of(name))
    over = _Over(items, chars - 2 * _NOTICE, tokens - 2 * _NOTICE // 4)
    if not over:
        return document
    if name == "errors":
        for n in range(len(items) - 1):
            if over:
                over.put(n, item(_short(items[n])))
    gone = 0
    at = 1 if name in _FIRST_STAYS else 0
    while over and len(items) > at:
        over.take(at)
        gone += 1
    return document.with_items(name, items, document.left.get(name, 0) + gone)


def _short(text: str) -> str:
    return text if len(text) <= SHORT else beginning(text, SHORT - 1).rstrip() + "…"


class _Over:
    """True while the items, each a line with its dash, are over a limit; sums are kept, not made anew."""

    def __init__(self, items: list[str], chars: int, tokens: int) -> None:
        self._items = items
        self._chars = sum(map(_chars, items)) - chars
        self._tokens = sum(map(_line_weight, items)) - tokens

    def __bool__(self) -> bool:
        return self._chars > 0 or self._tokens > 0

    def put(self, at: int, text: str) -> None:
        """Another text in that place."""
        self._chars += _chars(text) - _chars(self._items[at])
        self._tokens += _line_weight(text) - _line_weight(self._items[at])
        self._items[at] = text

    def take(self, at: int) -> None:
        """The item in that place goes."""
        gone = self._items.pop(at)
        self._chars -= _chars(gone)
        self._tokens -= _line_weight(gone)


def _chars(text: str) -> int:
    return len(text) + 3


def _line_weight(text: str) -> int:
    return weight(text) + 1


def cut_to(document: Document, budget: int, count: Count) -> str:
    """The document as markdown of at most `budget` tokens, as `count` counts them: all of it, or what is needed most to
    go on. Title and current state come first, then one item of each section at a time, the newest first, so that no
    section crowds out another. Each section says how many are left out. Empty where not even a title fits.
    """
    whole = render(document)
    if count(whole) <= budget:
        return whole
    kept = _kept(document, budget, count)
    shown = _only(document, kept)
    while kept and count(shown) > budget:  # what stands together may count otherwise than apart
        kept = kept[:-1]
        shown = _only(document, kept)
    return shown if count(shown) <= budget else ""


def _kept(document: Document, budget: int, count: Count) -> list[tuple[Section, int]]:
    """The items that fit, those that matter most first, with what their headings and counts cost."""
    notice = count(left_out(88_888)) + 1
    left = budget - count(render(replace(document, items={}, left={}))) - 1
    known = set[Section]()
    kept: list[tuple[Section, int]] = []
    for name, n in _by_worth(document):
        cost = count(f"- {document.of(name)[n]}\n") + 1
        if name not in known:
            cost += count(f"\n## {HEADINGS[name]}\n") + 1 + notice
        if cost <= left:
            left -= cost
            known.add(name)
            kept.append((name, n))
    return kept


def _by_worth(document: Document) -> Iterator[tuple[Section, int]]:
    """Every item, by section and place: those of the current state, then one of each other section at a time."""
    yield from (("state", n) for n in range(len(document.of("state"))))
    orders = {name: list(_order(document, name)) for name in _WORTH if name != "state"}
    for turn in range(max(map(len, orders.values()), default=0)):
        yield from ((name, order[turn]) for name, order in orders.items() if turn < len(order))


def _order(document: Document, name: Section) -> Iterable[int]:
    """The places of a section's items, the newest first; what the session began with before all others."""
    places = range(len(document.of(name)))
    first = places[: 1 if name in _FIRST_STAYS else 0]
    return (*first, *reversed(places[len(first) :]))


def _only(document: Document, kept: Iterable[tuple[Section, int]]) -> str:
    chosen: dict[Section, list[int]] = {}
    for name, n in kept:
        chosen.setdefault(name, []).append(n)
    shown = replace(document, items={}, left={})
    for name, places in chosen.items():
        items = document.of(name)
        left = document.left.get(name, 0) + len(items) - len(places)
        shown = shown.with_items(name, [items[n] for n in sorted(places)], left)
    return render(shown)
