"""What a date rule is: a pattern, and the function that says what a match means on a given day."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from strandline.domain.rules.dates.tense import direction
from strandline.domain.rules.patterns import any_of

_PREPOSITION = re.compile(
    r"\b"
    + any_of(
        """
        on in since until till by from for of to than before after at during around about through throughout
        between and or like the early late mid all every most each
        """
    )
    + r"[ -]$",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"\s+" + any_of("is was has had will would were marks marked turned went looks seems felt feels") + r"\b",
    re.IGNORECASE,
)
_DETERMINER = re.compile(r"\b(?:all|the|every|each|most) $", re.IGNORECASE)
_YEARLY = re.compile(
    r"\b(?:birthdays?|anniversary|(?:every|each) \w+|always|usually|annual)\b",
    re.IGNORECASE,
)
_POSSESSIVE = re.compile(r"['’]s\b")


@dataclass(frozen=True)
class Found:
    """A relative date in a text: where it stands, what it means, and the words that may stand there instead."""

    start: int
    end: int
    means: str
    instead: str | None = None
    east_asian: bool = False


@dataclass
class Context:
    """The sentence a rule looks at and the day it was said."""

    text: str
    at: date

    @cached_property
    def direction(self) -> int:
        """-1 where the sentence tells of the past, 1 of the future, 0 where it does not say."""
        return direction(self.text)

    def governed(self, start: int) -> bool:
        """Whether a preposition stands before this place."""
        return _PREPOSITION.search(self.text[max(0, start - 12) : start]) is not None

    def is_subject(self, end: int) -> bool:
        """Whether a verb follows this place, so that what ends here is its subject."""
        return _SUBJECT.match(self.text, end) is not None

    @cached_property
    def is_yearly(self) -> bool:
        """Whether it tells of what comes every year, so that a day or month in it has no year."""
        return _YEARLY.search(self.text) is not None

    def is_noun(self, start: int, end: int) -> bool:
        """Whether what stands there is governed by a preposition, is a subject or a possessor: no adverb."""
        return self.governed(start) or self.is_subject(end) or self.is_possessive(end)

    def is_possessive(self, end: int) -> bool:
        return _POSSESSIVE.match(self.text, end) is not None

    def on(self, match: re.Match[str], means: str, preposition: str = "on ") -> Found:
        """A point in time that takes a preposition where it is an adverb, and none where it is not."""
        start, end = match.span()
        if self.is_possessive(end):
            return Found(start, end + 2, means)
        if self.is_subject(end):
            return Found(start, end, means)
        return Found(start, end, means, means if self.governed(start) else preposition + means)

    def named(self, match: re.Match[str], means: str) -> Found:
        """A stretch of time whose words serve as noun and as adverb: `the week before 9 June 2023`."""
        start, end = match.span()
        if self.is_possessive(end):
            return Found(start, end + 2, means)
        return Found(
            start,
            end,
            means,
            None if _DETERMINER.search(self.text[max(0, start - 6) : start]) else means,
        )


Meaning = Callable[[re.Match[str], Context], Found | None]


@dataclass(frozen=True)
class Rule:
    """A pattern of linear time and what its matches mean."""

    pattern: re.Pattern[str]
    meaning: Meaning

    def find(self, context: Context) -> Iterator[Found]:
        for match in self.pattern.finditer(context.text):
            found = self.meaning(match, context)
            if found is not None:
                yield found


def rule(pattern: str, meaning: Meaning) -> Rule:
    return Rule(re.compile(pattern, re.IGNORECASE), meaning)
