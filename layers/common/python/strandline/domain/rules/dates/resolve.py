"""Finds the relative dates of a sentence and puts the dates they mean in their place, or beside them."""

import re
from dataclasses import dataclass
from datetime import date

from strandline.domain.rules.dates.east_asian import EAST_ASIAN
from strandline.domain.rules.dates.english_days import DAYS
from strandline.domain.rules.dates.english_distances import DISTANCES
from strandline.domain.rules.dates.english_spans import SPANS
from strandline.domain.rules.dates.rule import Context, Found
from strandline.domain.rules.patterns import any_of, compiled, words_of

_RULES = (*DAYS, *SPANS, *DISTANCES)
_WORTH_A_LOOK = compiled(
    words_of("last this next ago back later from_now on_the in for half_a_year"),
    any_of("yesterday today tomorrow tonight morning afternoon evening night day"),
    rf"\b{any_of('jan feb mar apr may jun jul aug sep oct nov dec mon tue wed thu fri sat sun')}",
)
"""A cheap first look: most sentences name no date."""
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ABSOLUTE = re.compile(r"(?<!\d)(?:1[89]|20)\d{2}(?!\d)")


@dataclass(frozen=True)
class Dated:
    """A sentence after resolution; `dated` when it names a day, month or year that is understood by itself."""

    text: str
    dated: bool


def resolve(text: str, at: date) -> Dated:
    """`text` with each relative date replaced by the date it means when said on `at`.

    Where a replacement would not be grammatical, or the wording says more than the date, the words stay and the
    date follows in parentheses: `ten years ago (2013)`.
    """
    return _rewrite(text, at, quoting=False)


def gloss(text: str, at: date) -> Dated:
    """`text` as it was said, with the date of each relative one behind it in square brackets, for quoting."""
    return _rewrite(text, at, quoting=True)


def _rewrite(text: str, at: date, *, quoting: bool) -> Dated:
    parts: list[str] = []
    end = 0
    for found in _all(text, at):
        parts += [text[end : found.start], _wording(text, found, quoting=quoting)]
        end = found.end
    return Dated("".join([*parts, text[end:]]), bool(parts) or _ABSOLUTE.search(text) is not None)


def _wording(text: str, found: Found, *, quoting: bool) -> str:
    said = text[found.start : found.end]
    if found.east_asian:
        return f"{said}（{found.means}）"
    if quoting:
        return f"{said} [{found.means}]"
    if found.instead is None:
        return f"{said} ({found.means})"
    return (
        found.instead[0].upper() + found.instead[1:]
        if said[0].isupper() and found.start == 0
        else found.instead
    )


def _all(text: str, at: date) -> list[Found]:
    """What the rules find, from left to right without overlaps; of two at one place the longer."""
    found: list[Found] = []
    if _WORTH_A_LOOK.search(text):
        found += [f for rule in _RULES for f in rule.find(Context(text, at))]
    if _UNSPACED.search(text):
        found += [f for rule in EAST_ASIAN for f in rule.find(Context(text, at))]
    return _without_overlaps(sorted(found, key=lambda f: (f.start, -f.end)))


def _without_overlaps(found: list[Found]) -> list[Found]:
    kept: list[Found] = []
    for f in found:
        if not kept or f.start >= kept[-1].end:
            kept.append(f)
    return kept
