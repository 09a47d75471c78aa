"""The one spelling of a time: RFC 3339, UTC, milliseconds, `Z`. It sorts as text."""

from datetime import UTC, datetime


def stamp(at: datetime) -> str:
    """`2026-11-29T21:46:24.123Z`; a time without an offset is taken as UTC.

    Raises OverflowError outside the years 1 to 9999.
    """
    utc = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return utc.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse(text: str) -> datetime:
    """The time that `stamp` wrote. Raises ValueError on anything that is no time."""
    return datetime.fromisoformat(text)


def day(at: datetime) -> str:
    """`8 May 2023`."""
    return f"{at.day} {at:%B %Y}"
