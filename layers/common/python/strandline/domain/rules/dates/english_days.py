"""English words for single days: yesterday, last Friday, on the 18th, May 18, three days ago."""

import re
from dataclasses import replace
from datetime import date

from strandline.domain.rules.dates.calendar_words import (
    MONTH_NUMBER,
    MONTHS,
    WEEKDAY_NUMBER,
    WEEKDAYS,
    day_text,
    last_weekday,
    nearest_year,
    next_weekday,
    plus_days,
    plus_months,
    valid,
)
from strandline.domain.rules.dates.rule import Context, Found, rule
from strandline.domain.rules.patterns import any_of

_PART = r"(?: (?P<part>morning|afternoon|evening|night))?"
_WEEKDAY = rf"(?P<weekday>{any_of(' '.join(WEEKDAYS))})"
_SHORT = any_of(" ".join(w for w in WEEKDAY_NUMBER if not w.endswith("day")))
_WHICH = rf"(?P<which>{any_of('last this_past this_coming this_upcoming this next')})"
_ANY_WEEKDAY = rf"(?P<weekday>{any_of(' '.join(WEEKDAYS))}|{_SHORT}\b\.?)"
_DAY = r"(?P<n>[1-9]|[12]\d|3[01])"
_MONTH = any_of(" ".join([*MONTHS, "Jan Feb Mar Apr Jun Jul Aug Sept Sep Oct Nov Dec"]))
_BY = re.compile(r"\b(?:by|until|till) \Z", re.IGNORECASE)
_NOT_LIKE = r"(?<!like )(?<!like just )(?<!like it was )"
_NAMED_MONTH = re.compile(r"\b(last|next) month\b", re.IGNORECASE)
_ENDS_IN_WEEKDAY = re.compile(rf"{any_of(' '.join(WEEKDAYS))},? \Z", re.IGNORECASE)
_NO_DAY_FOLLOWS = rf"(?!,? (?:the )?(?:\d|{_MONTH}\b))"
_NO_NOUN_FOLLOWS = r"(?=\s*(?:[.,!?;)]|\Z|\b(?:and|to|at|for|with|in|i|we|so|but|after|before)\b))"
_DAYS_FROM_NOW = {"yesterday": -1, "today": 0, "tomorrow": 1}
_NOT_A_DATE = r"(?!\w|\s*[,’']?\s*\d{4}|[:/]\d|\s?(?:am|pm|%|km|st|nd|rd|th)\b)"


def _with_part(match: re.Match[str], context: Context, day: date | None, weekday: str = "") -> Found | None:
    if day is None:
        return None
    part = match.groupdict().get("part")
    found = context.on(match, day_text(day), f"on the {part.lower()} of " if part else "on ")
    return (
        replace(found, instead=found.instead.replace(found.means, weekday + found.means))
        if found.instead
        else found
    )


def _near(match: re.Match[str], context: Context) -> Found | None:
    return _with_part(match, context, plus_days(context.at, _DAYS_FROM_NOW[match["day"].lower()]))


def _two_away(match: re.Match[str], context: Context) -> Found | None:
    return _with_part(match, context, plus_days(context.at, -2 if "before" in match[0].lower() else 2))


def _this_part(match: re.Match[str], context: Context) -> Found | None:
    part = match["of"] or match["of_last"] or "evening"
    day = plus_days(context.at, -1 if match[0].lower().startswith("last") else 0)
    return context.on(match, day_text(day), f"on the {part.lower()} of ") if day else None


def _weekday(match: re.Match[str], context: Context) -> Found | None:
    which = match["which"].lower().split()[-1]
    direction = {
        "last": -1,
        "past": -1,
        "next": 1,
        "this": 1,
        "coming": 1,
        "upcoming": 1,
    }.get(which, context.direction)
    if which == "this" and context.direction < 0:
        direction = -1
    return _on_weekday(match, context, direction)


def _bare_weekday(match: re.Match[str], context: Context) -> Found | None:
    """What is needed by a day is needed by the next one."""
    ahead = _BY.search(context.text[: match.start()][-8:])
    return _on_weekday(match, context, 1 if ahead else context.direction)


def _on_weekday(match: re.Match[str], context: Context, direction: int) -> Found | None:
    if direction == 0:
        return None
    number = WEEKDAY_NUMBER[match["weekday"].lower().rstrip(".")]
    day = next_weekday(context.at, number) if direction > 0 else last_weekday(context.at, number)
    return _with_part(match, context, day, f"{WEEKDAYS[number]} ")


def _ordinal(match: re.Match[str], context: Context) -> Found | None:
    """A day of a month that is not named: of the nearest month that has it, on the side the tense points to."""
    months = _months_in_question(context)
    days = [_in_month(context.at, n, int(match["n"])) for n in months]
    right = [d for d in days if d and (d - context.at).days * context.direction >= 0]
    day = min(right, key=lambda d: abs((d - context.at).days), default=None)
    if day is None:
        return None
    found = context.on(match, day_text(day))
    behind_weekday = _ENDS_IN_WEEKDAY.search(context.text[max(0, match.start() - 12) : match.start()])
    return replace(found, instead=found.means) if behind_weekday else found


def _months_in_question(context: Context) -> tuple[int, ...]:
    """How many months away the month of an ordinal may be."""
    named = _NAMED_MONTH.search(context.text)
    if named:
        return (1,) if named[1].lower() == "next" else (-1,)
    return {-1: (0, -1, -2), 0: (0, 1, -1), 1: (0, 1, 2)}[context.direction]


def _in_month(at: date, months: int, day: int) -> date | None:
    year_month = plus_months(at, months)
    return valid(*year_month, day) if year_month else None


def _day_of_month(match: re.Match[str], context: Context) -> Found | None:
    """A day and month without a year."""
    if context.is_yearly:
        return None
    month = MONTH_NUMBER[match["month"].lower()]
    day = valid(nearest_year(context.at, month, context.direction), month, int(match["n"]))
    if day is None:
        return None
    start, end = match.span()
    article = context.text[:start][-4:].lower() == "the "
    return Found(start - 4 if article else start, end, day_text(day), day_text(day))


DAYS = (
    rule(rf"\b(?:the )?day (?:before yesterday|after tomorrow){_PART}\b", _two_away),
    rule(rf"\b{_NOT_LIKE}(?P<day>yesterday|today|tomorrow){_PART}\b", _near),
    rule(
        r"\b(?:tonight|this (?P<of>morning|afternoon|evening)|last (?P<of_last>night|evening))\b",
        _this_part,
    ),
    rule(
        rf"\b(?:on )?{_WHICH} {_ANY_WEEKDAY}(?!\w){_PART}",
        _weekday,
    ),
    rule(
        rf"\b(?:on )?(?<!black )(?<!good ){_WEEKDAY}{_PART}\b{_NO_DAY_FOLLOWS}",
        _bare_weekday,
    ),
    rule(rf"\b(?:on )?the {_DAY}(?:st|nd|rd|th){_NO_NOUN_FOLLOWS}", _ordinal),
    rule(
        rf"\b(?P<month>{_MONTH})\b\.? (?:the )?{_DAY}(?:st|nd|rd|th)?{_NOT_A_DATE}",
        _day_of_month,
    ),
    rule(
        rf"\b{_DAY}(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTH})\b{_NOT_A_DATE}",
        _day_of_month,
    ),
)
