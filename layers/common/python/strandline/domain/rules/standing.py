"""Recognises statements of which only the newest holds: where one lives and works, what one is, a favourite.

Only what is certain: a sentence that says this and nothing else, in plain words. A line of which a part is outdated is
not outdated.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from strandline.domain.rules.oneself import ADVERBS
from strandline.domain.rules.patterns import any_of, compiled

_NAME = r"(?-i:[A-Z][\w'’-]*)(?: (?:(?:the|de|la|of|do|da) )?(?-i:[A-Z][\w'’-]*)){0,3}"
_MONTH = any_of(
    """
    January February March April May June July August September October November December
    spring summer autumn fall winter
    """
)
_PASSING = any_of("part parts thing things one ones memory memories moment time bit scene way day days")
_WHEN = (
    rf"(?: (?:now|recently|yesterday|today|again|these days|at the moment|(?:last|this) (?:week|month|year|{_MONTH})"
    rf"|in (?:{_MONTH}(?: \d{{4}})?|\d{{4}})|(?:a|two|three|\d+) (?:days?|weeks?|months?|years?) ago))?"
)
_AS = r"(?:an? )?(?P<value>[\w-]+(?: [\w-]+){0,3}?)"
_END = rf"{_WHEN}(?: now)?[.!]*\Z"
_BEGIN = r"\A(?:and |so |well, |oh, |by the way, )?"
_I_AM = rf"I(?:['’]m| am) {ADVERBS}(?:now |finally |officially )?"
_I_DID = rf"I(?:['’]ve| have)? {ADVERBS}(?:just |finally |recently )?"
_NOTHING = "none"
FAVOURITE = "favourite"


@dataclass(frozen=True)
class Standing:
    """What a statement says holds: `home` is `Oslo`."""

    attribute: str
    value: str


def _each(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(map(compiled, patterns))


_HOME = _each(
    rf"{_BEGIN}I {ADVERBS}(?:now |currently )?live in (?P<value>{_NAME})(?:, {_NAME})?{_END}",
    rf"{_BEGIN}{_I_AM}(?:living|based) in (?P<value>{_NAME})(?:, {_NAME})?{_END}",
    rf"{_BEGIN}{_I_DID}(?:moved|relocated) (?:back )?to (?P<value>{_NAME})(?:, {_NAME})?{_END}",
)
_EMPLOYER = _each(
    rf"{_BEGIN}I {ADVERBS}(?:now |currently )?work (?:at|for) (?P<value>{_NAME}){_END}",
    rf"{_BEGIN}{_I_AM}working (?:at|for) (?P<value>{_NAME}){_END}",
    rf"{_BEGIN}{_I_DID}started (?:working|a new job|my new job) (?:at|for|with) (?P<value>{_NAME}){_END}",
    rf"{_BEGIN}{_I_DID}(?:got|found|landed) a (?:new )?job (?:at|with) (?P<value>{_NAME}){_END}",
)
_NO_EMPLOYER = _each(
    rf"{_BEGIN}{_I_DID}(?:quit|left|lost) my job(?: at {_NAME})?{_END}",
    rf"{_BEGIN}{_I_AM}(?:unemployed|retired|between jobs){_END}",
    rf"{_BEGIN}{_I_DID}retired{_END}",
)
_OCCUPATION = _each(
    rf"{_BEGIN}I {ADVERBS}(?:now |currently )?work as {_AS}{_END}",
    rf"{_BEGIN}{_I_AM}working as {_AS}{_END}",
    rf"{_BEGIN}{_I_DID}started (?:working|a new job|my new job) as {_AS}{_END}",
)
_RELATIONSHIP = _each(
    rf"{_BEGIN}{_I_AM}(?P<value>single|engaged|married|divorced|widowed){_END}",
    rf"{_BEGIN}(?:I|we) (?:just |finally |recently )?got (?P<value>engaged|married|divorced){_END}",
)
_DIET = _each(rf"{_BEGIN}{_I_AM}(?:an? )?(?P<value>vegan|vegetarian|pescatarian){_END}")
_FAVOURITE = _each(
    rf"{_BEGIN}my (?:new |current |all-time )?fav(?:ou?rite)? (?P<of>(?!{_PASSING}\b)[a-z]+(?: [a-z]+)?) "
    r"(?:is|are)(?: now)? (?P<value>[\w'’&-]+(?: [\w'’&-]+){0,4}?)(?: now)?[.!]*\Z"
)
_KINDS = {
    "home": _HOME,
    "employer": _EMPLOYER,
    "occupation": _OCCUPATION,
    "relationship": _RELATIONSHIP,
    "diet": _DIET,
}


def standing(sentence: str) -> Standing | None:
    """What a sentence says holds of its speaker from now on; None where it says something else, or more."""
    for attribute, patterns in _KINDS.items():
        match = _match(patterns, sentence)
        if match:
            return Standing(attribute, match["value"])
    if _match(_NO_EMPLOYER, sentence):
        return Standing("employer", _NOTHING)
    favourite = _match(_FAVOURITE, sentence)
    return Standing(f"{FAVOURITE} {favourite['of'].lower()}", favourite["value"]) if favourite else None


def _match(patterns: Iterable[re.Pattern[str]], sentence: str) -> re.Match[str] | None:
    return next((match for pattern in patterns if (match := pattern.match(sentence))), None)
