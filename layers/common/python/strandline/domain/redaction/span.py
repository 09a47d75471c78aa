"""A stretch of text that is a secret, and a rule that finds such stretches."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

_RARE = "_/=-."


class Span(NamedTuple):
    """Where a secret stands in a text, and of which kind it is."""

    start: int
    end: int
    kind: str


class Rule(NamedTuple):
    """Looks at a text only when one of `literals` is in its folded (lower-case, same offsets) form: those are cheap to
    look for, and most texts have none. `find` is given text and folded text; it must be linear in their length."""

    literals: tuple[str, ...]
    find: Callable[[str, str], Iterable[Span]]

    def spans(self, text: str, folded: str) -> Iterable[Span]:
        return self.find(text, folded) if any(map(folded.__contains__, self.literals)) else ()


class Pattern:
    """A regular expression that is compiled when it is first needed: most functions never need most of them."""

    def __init__(self, source: str) -> None:
        self._source = source

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self._source)

    def each(self, text: str) -> Iterator[re.Match[str]]:
        return self.compiled.finditer(text)


class Literals:
    """Literals of which a text contains one, or not: most texts have none, so it is asked cheaply.

    They are grouped by a rare character that they contain (or by not being ASCII), and a group is only looked for where
    that character is.
    """

    def __init__(self, literals: Iterable[str]) -> None:
        groups: dict[str, list[str]] = {}
        for literal in _shortest(literals):
            gate = next((c for c in _RARE if c in literal), "")
            groups.setdefault(gate if literal.isascii() else "other", []).append(literal)
        self._foreign = tuple(groups.pop("other", ()))
        self._groups = tuple((gate, tuple(group)) for gate, group in groups.items())

    def any_in(self, folded: str) -> bool:
        for gate, group in self._groups:
            if gate in folded and any(map(folded.__contains__, group)):
                return True
        return not folded.isascii() and any(map(folded.__contains__, self._foreign))


def _shortest(literals: Iterable[str]) -> list[str]:
    """The literals without those that contain another one: where they are, that one is."""
    kept: list[str] = []
    for literal in sorted(set(literals), key=lambda literal: (len(literal), literal)):
        if not any(short in literal for short in kept):
            kept.append(literal)
    return kept
