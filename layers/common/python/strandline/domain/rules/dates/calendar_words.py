"""Calendar arithmetic and how dates are worded: `7 May 2023`, `June 2023`, `the week before 9 June 2023`."""

from datetime import date, timedelta

MONTHS = "January February March April May June July August September October November December".split()
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTH_NUMBER = {key.casefold(): i for i, m in enumerate(MONTHS, 1) for key in (m, m[:3])} | {"sept": 9}
WEEKDAY_NUMBER = {key.casefold(): i for i, w in enumerate(WEEKDAYS) for key in (w, w[:3])} | {
    "tues": 1,
    "weds": 2,
    "thur": 3,
    "thurs": 3,
}
_DAYS_A_WEEK = 7
_MONTHS_A_YEAR = 12


def day_text(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def month_text(year: int, month: int) -> str:
    return f"{MONTHS[month - 1]} {year}"


def plus_days(day: date, days: int) -> date | None:
    """The day so many days later (or earlier, when negative); None when no calendar has it."""
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return None


def plus_months(day: date, months: int) -> tuple[int, int] | None:
    """(year, month) so many months later; None outside the years 1 to 9999."""
    year, month = divmod(day.year * _MONTHS_A_YEAR + day.month - 1 + months, _MONTHS_A_YEAR)
    return (year, month + 1) if date.min.year <= year <= date.max.year else None


def next_weekday(day: date, weekday: int) -> date | None:
    """The first such weekday after `day`."""
    return plus_days(day, (weekday - day.weekday() - 1) % _DAYS_A_WEEK + 1)


def last_weekday(day: date, weekday: int) -> date | None:
    """The last such weekday before `day`."""
    return plus_days(day, -((day.weekday() - weekday - 1) % _DAYS_A_WEEK + 1))


def valid(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def nearest_year(at: date, month: int, direction: int) -> int:
    """The year of a month named without one: before `at` (direction -1), after it (1), or nearest to it (0).

    The month of `at` itself is this year's, whatever the direction.
    """
    ahead = (month - at.month) % _MONTHS_A_YEAR
    if ahead == 0:
        return at.year
    coming = at.year + (month < at.month)
    if direction:
        return coming if direction > 0 else coming - 1
    return coming if ahead <= _MONTHS_A_YEAR // 2 else coming - 1
