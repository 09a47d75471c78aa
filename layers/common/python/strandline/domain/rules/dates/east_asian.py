"""Chinese, Japanese and Korean words for relative dates; the date follows the word in ISO 8601."""

import re
from datetime import date

from strandline.domain.rules.dates.calendar_words import plus_days, plus_months
from strandline.domain.rules.dates.rule import Context, Found, Rule

_DAYS = {
    "大前天": -3, "前天": -2, "昨天": -1, "昨晚": -1, "昨夜": -1, "今天": 0, "今早": 0, "今晚": 0,
    "今夜": 0, "明天": 1, "明早": 1,
    "明晚": 1, "后天": 2, "後天": 2, "一昨日": -2, "おととい": -2, "昨日": -1, "きのう": -1, "今日": 0,
    "今朝": 0, "明日": 1,
    "明後日": 2, "あさって": 2, "그저께": -2, "어제": -1, "오늘": 0, "내일": 1, "모레": 2,
}  # fmt: skip
_WEEKS = {
    "上上周": -2, "下下周": 2, "下下週": 2, "上上週": -2, "上周": -1, "上週": -1, "上星期": -1,
    "上个星期": -1, "上個星期": -1, "上礼拜": -1,
    "上禮拜": -1, "这周": 0, "這週": 0,
    "本周": 0, "本週": 0, "这星期": 0, "下周": 1, "下週": 1, "下星期": 1, "下个星期": 1, "下個星期": 1,
    "下礼拜": 1, "下禮拜": 1,
    "先々週": -2, "先週": -1, "今週": 0, "来週": 1, "再来週": 2, "지난주": -1, "지난 주": -1,
    "이번 주": 0, "다음 주": 1,
}  # fmt: skip
_MONTHS = {
    "上上个月": -2, "上个月": -1, "上個月": -1, "上月": -1, "这个月": 0, "這個月": 0, "本月": 0,
    "下个月": 1, "下個月": 1, "下月": 1,
    "先々月": -2, "先月": -1, "今月": 0, "来月": 1, "再来月": 2, "지난달": -1, "이번 달": 0, "다음 달": 1,
}  # fmt: skip
_YEARS = {
    "大前年": -3, "前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2, "後年": 2, "一昨年": -2,
    "昨年": -1, "来年": 1, "再来年": 2,
    "작년": -1, "올해": 0, "내년": 1,
}  # fmt: skip
_WEEKDAYS = {
    c: i for i, pair in enumerate(("一月", "二火", "三水", "四木", "五金", "六土", "日天")) for c in pair
} | {"末": 5}
_DIGITS: dict[str, int] = {c: i for i, c in enumerate("〇一二三四五六七八九十")} | {"两": 2, "兩": 2}
_COUNT = r"(?P<n>\d{1,3}|[一二三四五六七八九十两兩])"
_BEFORE, _AFTER = "前", "後后"


def _any(words: dict[str, int]) -> str:
    return "(?P<word>" + "|".join(sorted(words, key=len, reverse=True)) + ")"


def _found(match: re.Match[str], means: str | None) -> Found | None:
    return Found(*match.span(), means, east_asian=True) if means else None


def _day(match: re.Match[str], context: Context) -> Found | None:
    return _found(match, _iso(plus_days(context.at, _DAYS[match["word"]])))


def _week(match: re.Match[str], context: Context) -> Found | None:
    monday = plus_days(context.at, 7 * _WEEKS[match["word"]] - context.at.weekday())
    if monday is None:
        return None
    weekday = match["weekday"]
    if weekday is None:
        return _found(match, _interval(monday, 6))
    if weekday == "末":
        return _found(match, _interval(plus_days(monday, 5), 1))
    return _found(match, _iso(plus_days(monday, _WEEKDAYS[weekday])))


def _interval(start: date | None, days: int) -> str | None:
    end = plus_days(start, days) if start else None
    return f"{start}/{end}" if end else None


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day else None


def _month(match: re.Match[str], context: Context) -> Found | None:
    return _found(match, _iso_month(plus_months(context.at, _MONTHS[match["word"]])))


def _iso_month(year_month: tuple[int, int] | None) -> str | None:
    return f"{year_month[0]:04}-{year_month[1]:02}" if year_month else None


def _year(match: re.Match[str], context: Context) -> Found | None:
    return _found(match, str(context.at.year + _YEARS[match["word"]]))


def _away(match: re.Match[str], context: Context) -> Found | None:
    said = match["n"]
    n = int(said) if said.isdigit() else _DIGITS[said]
    n = -n if match["side"] == _BEFORE else n
    if match["unit"] in ("天", "日"):
        return _found(match, _iso(plus_days(context.at, n)))
    if match["unit"] == "年":
        year_month = plus_months(context.at, 12 * n)
        return _found(match, str(year_month[0]) if year_month else None)
    if "月" in match["unit"]:
        return _found(match, _iso_month(plus_months(context.at, n)))
    return _found(match, _iso(plus_days(context.at, 7 * n)))


_WEEKDAY = r"(?:の?(?:星期|曜日)?(?P<weekday>[一二三四五六日天末月火水木金土])(?:曜日?)?(?![月日号個个]))?"

EAST_ASIAN = (
    Rule(re.compile(_any(_DAYS)), _day),
    Rule(re.compile(_any(_WEEKS) + _WEEKDAY), _week),
    Rule(re.compile(_any(_MONTHS)), _month),
    Rule(re.compile(_any(_YEARS)), _year),
    Rule(
        re.compile(
            _COUNT
            + r"(?P<unit>天|日|个?星期|個?星期|周|週間?|个月|個月|[かヶカケ]月|年)(?:之|以)?(?P<side>[前後后])"
        ),
        _away,
    ),
)
