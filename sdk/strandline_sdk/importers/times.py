"""Times of exports as RFC 3339 with milliseconds, the form in which messages carry them."""

import re
from datetime import UTC, datetime

from strandline_sdk.importers.imported import InputError, Place

# An epoch above this is in milliseconds: as seconds it would be after the year 5138.
_MILLISECONDS_FROM = 100_000_000_000
_SPOKEN = re.compile(
    r"(\d{1,2}):(\d{2})\s*([ap])\.?m\.?\s+on\s+(\d{1,2})\s+([a-z]+),?\s+(\d{4})", re.IGNORECASE
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def stamp(at: datetime) -> str:
    """`2023-05-08T13:56:00.000Z`, or with its offset, since "yesterday" counts from the speaker's own day.

    A time without an offset is taken as UTC.
    """
    whole = at.replace(tzinfo=UTC) if at.tzinfo is None else at
    return whole.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def from_export(value: object, place: Place) -> str:
    """An epoch in seconds or milliseconds, as number or digits, or an ISO 8601 time. Raises InputError."""
    try:
        epoch = _epoch(value)
        at = datetime.fromisoformat(str(value)) if epoch is None else datetime.fromtimestamp(epoch, UTC)
        return stamp(at)
    except (ValueError, OverflowError, OSError) as error:
        problem = f"{value!r} is no time: give an epoch or an ISO 8601 time such as 2023-05-08T13:56:00Z"
        raise InputError(place, problem) from error


def from_spoken(text: object, place: Place) -> str:
    """A time spelled `1:56 pm on 8 May, 2023`, taken as UTC. Raises InputError."""
    match = _SPOKEN.fullmatch(text.strip()) if isinstance(text, str) else None
    try:
        if not match:
            raise ValueError
        return stamp(_spoken(match))
    except ValueError as error:
        raise InputError(place, f"{text!r} is no time: write it like '1:56 pm on 8 May, 2023'") from error


def _spoken(match: re.Match[str]) -> datetime:
    hour, minute, half, day, month, year = match.groups()
    if not 1 <= int(hour) <= 12:
        raise ValueError(hour)
    hours = int(hour) % 12 + (12 if half.lower() == "p" else 0)
    return datetime(int(year), _MONTHS.index(month[:3].lower()) + 1, int(day), hours, int(minute), tzinfo=UTC)


def _epoch(value: object) -> float | None:
    if isinstance(value, str) and re.fullmatch(r"\d{9,}(\.\d+)?", value):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value / 1000 if abs(value) >= _MILLISECONDS_FROM else value
