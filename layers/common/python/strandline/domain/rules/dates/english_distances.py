"""English words for a distance from the day of speaking: three days ago, in two weeks, for ten years."""

import re

from strandline.domain.rules.dates.calendar_words import (
    day_text,
    month_text,
    plus_days,
    plus_months,
)
from strandline.domain.rules.dates.rule import Context, Found, rule
from strandline.domain.rules.patterns import any_of

_MONTHS_A_YEAR = 12
_NUMBERS = {
    word: n
    for n, word in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), 1)
} | {"a": 1, "an": 1, "fifteen": 15, "twenty": 20, "thirty": 30}
_SOME = any_of("a_couple a_couple_of couple couple_of a_few few several")
_COUNT = rf"(?P<n>\d{{1,3}}|{any_of(' '.join(_NUMBERS))}|{_SOME})"
_UNIT = r"(?P<unit>day|week|weekend|month|year)(?P<plural>s?)"
_ABOUT = any_of("about around over almost nearly just_over just_under")
_PERFECT = re.compile(r"\b(?:have|has|been|had)\b|['’](?:ve|s)\b", re.IGNORECASE)
_LOOK_BACK = 60


def _number(match: re.Match[str]) -> int | None:
    said = match["n"].lower()
    return int(said) if said.isdigit() else _NUMBERS.get(said)


def _ago(match: re.Match[str], context: Context) -> Found | None:
    return _away(match, context, -1)


def _from_now(match: re.Match[str], context: Context) -> Found | None:
    return _away(match, context, 1)


def _soon(match: re.Match[str], context: Context) -> Found | None:
    """`in two weeks` may also say how long something took: only where the sentence looks ahead."""
    return _away(match, context, 1) if context.direction > 0 else None


def _away(match: re.Match[str], context: Context, side: int) -> Found | None:
    n, unit = _number(match), match["unit"].lower()
    if n is not None and unit == "day":
        day = plus_days(context.at, side * n)
        return context.on(match, day_text(day)) if day else None
    if n is not None and unit in ("month", "year"):
        there = _months_away(context, side * n, unit)
        return Found(*match.span(), there) if there else None
    return _vaguely_away(match, context, side)


def _vaguely_away(match: re.Match[str], context: Context, side: int) -> Found:
    """Weeks, weekends and uncertain numbers keep their words: `a few days before 8 May 2023`."""
    count = f"{match['n']} {match['unit']}{match['plural']}".lower()
    means = f"{count} {'after' if side > 0 else 'before'} {day_text(context.at)}"
    return Found(*match.span(), means, means)


def _months_away(context: Context, n: int, unit: str) -> str | None:
    """The year, or the month and year, so many units away; the wording around it stays."""
    there = plus_months(context.at, n * (_MONTHS_A_YEAR if unit == "year" else 1))
    if there is None:
        return None
    return str(there[0]) if unit == "year" else month_text(*there)


def _half_a_year_ago(match: re.Match[str], context: Context) -> Found | None:
    there = _months_away(context, -6, "month")
    return Found(*match.span(), there) if there else None


def _lasting(match: re.Match[str], context: Context) -> Found | None:
    """`have had them for ten years`: since when."""
    n = _number(match)
    before = context.text[max(0, match.start() - _LOOK_BACK) : match.start()]
    if n is None or not _PERFECT.search(before):
        return None
    since = _months_away(context, -n, match["unit"].lower())
    return Found(*match.span(), f"since about {since}") if since else None


def _before_last(match: re.Match[str], context: Context) -> Found | None:
    return Found(*match.span(), f"two {match['unit'].lower()}s before {day_text(context.at)}")


DISTANCES = (
    rule(rf"\b{_COUNT} {_UNIT} (?:ago|back)\b", _ago),
    rule(r"\bhalf a year ago\b", _half_a_year_ago),
    rule(rf"\b(?:in )?{_COUNT} {_UNIT} from now\b", _from_now),
    rule(rf"\b{_COUNT} {_UNIT} later\b", _soon),
    rule(rf"\bin {_COUNT} {_UNIT}(?:['’] time)?\b", _soon),
    rule(
        rf"\bfor (?:the (?:last|past) )?(?:{_ABOUT} )?{_COUNT} (?P<unit>month|year)s?(?: now)?\b",
        _lasting,
    ),
    rule(r"\bthe (?P<unit>week|weekend|month) before last\b", _before_last),
)
