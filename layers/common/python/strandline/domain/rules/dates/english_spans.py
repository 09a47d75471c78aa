"""English words for spans of the calendar: last week, next month, this year, last summer, in June."""

import re

from strandline.domain.rules.dates.calendar_words import (
    MONTH_NUMBER,
    MONTHS,
    day_text,
    month_text,
    nearest_year,
    plus_months,
)
from strandline.domain.rules.dates.rule import Context, Found, rule

_SIDE = {"last": -1, "past": -1, "this": 0, "next": 1, "coming": 1}
_WHICH = r"(?P<which>last|this past|this coming|this|next)"
_NOT_THE = r"(?<!\bthe )"
_MONTH = "|".join(MONTHS)
_SEASON_ENDS = {"spring": 5, "summer": 8, "fall": 11, "autumn": 11, "winter": 2}
_HOLIDAYS = {
    "christmas": 12, "thanksgiving": 11, "halloween": 10, "easter": 4, "new year's eve": 12, "valentine's day": 2,
}  # fmt: skip
_WEEK_WORDS = {-1: "before", 0: "of", 1: "after"}
_WITHIN = ("earlier ", "later ")


def _side(match: re.Match[str]) -> int:
    return _SIDE[match["which"].lower().split()[-1]]


def _week(match: re.Match[str], context: Context) -> Found | None:
    side, (start, end) = _side(match), match.span()
    means = f"the {match['unit'].lower()} {_WEEK_WORDS[side]} {day_text(context.at)}"
    within = context.text[max(0, start - 8) : start].lower().endswith(_WITHIN)
    if within or (side == 0 and not context.is_noun(start, end)):
        return Found(
            start,
            end,
            means,
            f"{'on' if match['unit'].lower() == 'weekend' else 'in'} {means}",
        )
    return context.named(match, means)


def _month(match: re.Match[str], context: Context) -> Found | None:
    there = plus_months(context.at, _side(match))
    return _in(match, context, month_text(*there)) if there else None


def _year(match: re.Match[str], context: Context) -> Found | None:
    return _in(match, context, str(context.at.year + _side(match)))


def _in(match: re.Match[str], context: Context, means: str) -> Found:
    start, end = match.span()
    return Found(start, end, means, means if context.is_noun(start, end) else f"in {means}")


def _season(match: re.Match[str], context: Context) -> Found | None:
    """Winter lies in two years: it is not given one."""
    season, side, at = match["season"].lower(), _side(match), context.at
    if season == "winter":
        return Found(*match.span(), f"said on {day_text(at)}")
    over = at.month > _SEASON_ENDS[season]
    year = at.year + max(side, 0) - (side < 0 and not over)
    return _in(match, context, f"the {season} of {year}")


def _named_month(match: re.Match[str], context: Context) -> Found | None:
    """`last June`, `this June`, `next June`."""
    month, side, at = MONTH_NUMBER[match["month"].lower()], _side(match), context.at
    year = nearest_year(at, month, side) if side else at.year
    if month == at.month:
        year += side
    return _in(match, context, month_text(year, month))


def _month_without_year(match: re.Match[str], context: Context) -> Found | None:
    if context.is_yearly:
        return None
    month = MONTH_NUMBER[match["month"].lower()]
    means = month_text(nearest_year(context.at, month, context.direction), month)
    return Found(match.start("month"), match.end("month"), means, means)


def _holiday(match: re.Match[str], context: Context) -> Found | None:
    month, side, at = (
        _HOLIDAYS[match["holiday"].lower().replace("’", "'")],
        _side(match),
        context.at,
    )
    year = nearest_year(at, month, side) if side else at.year
    return Found(*match.span(), month_text(year, month))


SPANS = (
    rule(rf"\b{_NOT_THE}{_WHICH} (?P<unit>week(?:end)?)\b", _week),
    rule(rf"\b{_NOT_THE}{_WHICH} month\b", _month),
    rule(rf"\b{_NOT_THE}{_WHICH} year\b", _year),
    rule(rf"\b{_WHICH} (?P<season>{'|'.join(_SEASON_ENDS)})\b", _season),
    rule(rf"\b(?:in )?{_WHICH} (?P<month>{_MONTH})\b(?! \d)", _named_month),
    rule(
        rf"\b(?:in|since|until|till|by|during|early|late|mid|of|for)[ -](?P<month>{_MONTH})\b(?!,? \d)",
        _month_without_year,
    ),
    rule(
        rf"\b{_WHICH} (?P<holiday>{'|'.join(_HOLIDAYS)})\b".replace("'", "['’]"),
        _holiday,
    ),
)
