"""The value of a memory's field that holds no lines, and what several of them come to."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Literal
from urllib.parse import quote

ValueMerge = Literal["replace", "sum", "immutable"]


def as_word(session_id: str) -> str:
    """A session's id as places name it: without a space or a slash."""
    return quote(session_id, safe="")


@dataclass(frozen=True)
class FieldValue:
    """A value, how it merges with others, and where it was said: the conversation's time, and session, archive and
    messages as one word. A sum was said in many places and names the newest."""

    field: str
    merge: ValueMerge
    value: str | int
    at: str
    place: str

    @property
    def is_hidden(self) -> bool:
        """Whether it is none of the memory's own, but how the others are laid out and found."""
        return self.field.startswith("_")

    @property
    def goes_back(self) -> bool:
        """Whether it is taken back with the session it was said in: a sum is many sessions', and names the newest."""
        return self.merge != "sum" and not self.is_hidden

    @property
    def session(self) -> str:
        """The session it was said in, as one word."""
        return self.place.partition("/")[0]

    def is_of(self, session_id: str) -> bool:
        """Whether it was said in that session."""
        return self.session == as_word(session_id)

    @property
    def rank(self) -> tuple[str, str, str]:
        """Older values first."""
        return self.at, self.place, str(self.value)


def joined(values: Iterable[FieldValue]) -> tuple[FieldValue, ...]:
    """One value a field, by name, whatever the order: the newest of replaced ones, the oldest of immutable ones, and
    the sum of sums, each of which must come once."""
    fields: dict[str, list[FieldValue]] = {}
    for value in values:
        fields.setdefault(value.field, []).append(value)
    return tuple(reduce(_join, sorted(fields[name], key=lambda v: v.rank)) for name in sorted(fields))


def _join(older: FieldValue, newer: FieldValue) -> FieldValue:
    if newer.merge == "sum" and isinstance(older.value, int) and isinstance(newer.value, int):
        return FieldValue(newer.field, "sum", older.value + newer.value, newer.at, newer.place)
    return older if newer.merge == "immutable" else newer


def minus(values: Iterable[FieldValue], taken: Iterable[FieldValue]) -> tuple[FieldValue, ...]:
    """The values without these: sums are taken off, a value that was said there goes."""
    gone = {value.field: value for value in taken}
    return tuple(rest for value in values if (rest := _minus(value, gone.get(value.field))) is not None)


def _minus(value: FieldValue, gone: FieldValue | None) -> FieldValue | None:
    if gone is None:
        return value
    if value.merge == "sum" and isinstance(value.value, int) and isinstance(gone.value, int):
        left = value.value - gone.value
        return FieldValue(value.field, "sum", left, value.at, value.place) if left else None
    return None if value.place == gone.place else value
