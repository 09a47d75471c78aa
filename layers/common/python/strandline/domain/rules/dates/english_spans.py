"""English words for longer or vaguer times: last week, next month, two weeks ago, this summer,
for ten years."""

import re

from strandline.domain.rules.dates.calendar_words import (
    MONTH_NUMBER,
    MONTHS,
    day_text,
    month_text,
    nearest_year,
    plus_days,
    plus_months,
)
from strandline.domain.rules.dates.rule import Context, Found, rule

_NUMBERS = {
    word: i
    for i, word in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), 1)
} | {"a": 1, "an": 1, "fifteen": 15, "twenty": 20, "thirty": 30}
_EXACT = r"\d{1,3}|" + "|".join(sorted(_NUMBERS, key=len, reverse=True))
_COUNT = rf"(?P<n>{_EXACT}|(?:a )?couple(?: of)?|(?:a )?few|several)"
_SIDE = {"last": -1, "past": -1, "previous": -1, "this": 0, "next": 1, "coming": 1}
_WHICH = r"(?P<which>last|this past|this coming|this|next)"
_MONTH = "|".join(MONTHS)
_SEASON_ENDS = {"spring": 5, "summer": 8, "fall": 11, "autumn": 11, "winter": 2}
_HOLIDAYS = {
    "christmas": 12, "thanksgiving": 11, "halloween": 10, "easter": 4, "new year's eve": 12, "valentine's day": 2,
}  # fmt: skip
_PERFECT = re.compile(r"\b(?:have|has|been|had)\b|['’](?:ve|s)\b", re.IGNORECASE)
_WEEK_WORDS = {-1: "before", 0: "of", 1: "after"}


def _side(match: re.Match[str]) -> int:
    return _SIDE[match["which"].lower().split()[-1]]


def _week(match: re.Match[str], context: Context) -> Found | None:
    said = f"the {match['unit'].lower()} {_WEEK_WORDS[_side(match)]} {day_text(context.at)}"
    before = context.text[: match.start()][-8:].lower()
    if before.endswith(("earlier ", "later ")):
        return Found(*match.span(), said, f"in {said}")
    return context.named(match, said)


def _month(match: re.Match[str], context: Context) -> Found | None:
    year_month = plus_months(context.at, _side(match))
    return _in(match, context, month_text(*year_month)) if year_month else None


def _year(match: re.Match[str], context: Context) -> Found | None:
    return _in(match, context, str(context.at.year + _side(match)))


def _in(match: re.Match[str], context: Context, means: str) -> Found:
    start, end = match.span()
    bare = context.governed(start) or context.is_subject(end) or context.is_possessive(end)
    return Found(start, end, means, means if bare else f"in {means}")


def _season(match: re.Match[str], context: Context) -> Found | None:
    season, side, at = match["season"].lower(), _side(match), context.at
    year = at.year + max(side, 0)
    if side < 0 and at.month <= _SEASON_ENDS[season]:
        year -= 1
    if season == "winter":
        return Found(*match.span(), f"winter, said on {day_text(at)}")
    return _in(match, context, f"the {season} of {year}")


def _named_month(match: re.Match[str], context: Context) -> Found | None:
    """`last June`, `this June`, `next June`."""
    month = MONTH_NUMBER[match["month"].lower()]
    side, at = _side(match), context.at
    year = at.year if side == 0 else nearest_year(at, month, side)
    year += side if side and month == at.month else 0
    return _in(match, context, month_text(year, month))


def _month_without_year(match: re.Match[str], context: Context) -> Found | None:
    month = MONTH_NUMBER[match["month"].lower()]
    means = month_text(nearest_year(context.at, month, context.direction), month)
    return Found(match.start("month"), match.end("month"), means, means)


def _holiday(match: re.Match[str], context: Context) -> Found | None:
    holiday, side, at = (
        match["holiday"].lower().replace("’", "'"),
        _side(match),
        context.at,
    )
    month = _HOLIDAYS[holiday]
    year = at.year if side == 0 else nearest_year(at, month, side)
    return Found(*match.span(), f"{match['holiday']} {year}", f"{match['holiday']} {year}")


def _number(match: re.Match[str]) -> int | None:
    said = match["n"].lower()
    return int(said) if said.isdigit() else _NUMBERS.get(said)


def _ago(match: re.Match[str], context: Context) -> Found | None:
    return _away(match, context, -1)


def _from_now(match: re.Match[str], context: Context) -> Found | None:
    return _away(match, context, 1)


def _soon(match: re.Match[str], context: Context) -> Found | None:
    return _away(match, context, 1) if context.direction > 0 else None


def _away(match: re.Match[str], context: Context, side: int) -> Found | None:
    n, unit = _number(match), match["unit"].lower()
    if n is not None and unit == "day":
        day = plus_days(context.at, side * n)
        return context.on(match, day_text(day)) if day else None
    if n is not None and unit in ("month", "year"):
        return _months_away(match, context, side * n * (12 if unit == "year" else 1))
    return _vaguely_away(match, context, side)


def _months_away(match: re.Match[str], context: Context, months: int) -> Found | None:
    year_month = plus_months(context.at, months)
    if year_month is None:
        return None
    by_year = match["unit"].lower() == "year"
    return Found(*match.span(), str(year_month[0]) if by_year else month_text(*year_month))


def _vaguely_away(match: re.Match[str], context: Context, side: int) -> Found:
    count = f"{match['n']} {match['unit']}{match['plural']}".lower()
    means = f"{count} {'after' if side > 0 else 'before'} {day_text(context.at)}"
    return Found(*match.span(), means, means)


def _lasting(match: re.Match[str], context: Context) -> Found | None:
    """`have had them for ten years`: since when."""
    n = _number(match)
    before = context.text[: match.start()][-60:]
    if n is None or not _PERFECT.search(before):
        return None
    year_month = plus_months(context.at, -n * (12 if match["unit"].lower() == "year" else 1))
    if year_month is None:
        return None
    since = str(year_month[0]) if match["unit"].lower() == "year" else month_text(*year_month)
    return Found(*match.span(), f"since about {since}")


SPANS = (
    rule(rf"\b(?<!\bthe ){_WHICH} (?P<unit>week(?:end)?)\b", _week),
    rule(rf"\b(?<!\bthe ){_WHICH} month\b", _month),
    rule(rf"\b(?<!\bthe ){_WHICH} year\b", _year),
    rule(rf"\b{_WHICH} (?P<season>spring|summer|fall|autumn|winter)\b", _season),
    rule(rf"\b(?:in )?{_WHICH} (?P<month>{_MONTH})\b(?! \d)", _named_month),
    rule(
        rf"\b(?:in|since|until|till|by|during|early|late|mid|of|last"
        rf"|for)[ -](?P<month>{_MONTH})\b(?!,? \d)(?! \d{{4}})",
        _month_without_year,
    ),
    rule(
        rf"\b{_WHICH} (?P<holiday>christmas|thanksgiving|halloween|easter|new year['’]s eve"
        rf"|valentine['’]s day)\b",
        _holiday,
    ),
    rule(
        rf"\b{_COUNT} (?P<unit>day|week|weekend|month|year)(?P<plural>s?) (?:ago|back)\b",
        _ago,
    ),
    rule(
        rf"\b(?:in )?{_COUNT} (?P<unit>day|week|month|year)(?P<plural>s?) from now\b",
        _from_now,
    ),
    rule(
        rf"\b{_COUNT} (?P<unit>day|week|weekend|month|year)(?P<plural>s?) later\b",
        _soon,
    ),
    rule(
        rf"\bin {_COUNT} (?P<unit>day|week|month|year)(?P<plural>s?)(?:['’] time)?\b",
        _soon,
    ),
    rule(
        rf"\bfor (?:the (?:last|past) )?(?:about |around |over |almost "
        rf"|nearly )?{_COUNT} (?P<unit>month|year)s?(?: now)?\b",
        _lasting,
    ),
)
