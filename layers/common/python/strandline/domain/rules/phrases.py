"""Noun phrases of English sentences, by the words around them: `marine biologist`, `LGBTQ support group`."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from strandline.domain.rules.verbs import ADVERB, BASE, BASE_WITH_S, MODALS, is_past
from strandline.domain.rules.words import FUNCTION, INTERJECTION, POLITE

MAX_WORDS = 3
"""Words of a phrase; of a longer run of words the last ones are taken, which say what it is."""

_GENERIC = frozenset(
    """
    time times people person thing things way lot year years month months week weeks day days today yesterday
    tomorrow moment moments life world part kind sort bit one two three four five six first second last next
    place photo image pic picture pics using able important special different big small little old hard easy
    many much enough almost every since around together experience experiences journey idea ideas start check
    share sharing real hope means pretty happen remember reminder plans plan step steps chance name names http
    https www com everyone someone something anything nothing everything blast fun end side point reason thanks
    amount couple rest feeling feelings stuff minute hour hours yeah guys gonna wanna gotta kinda awesome
    amazing latest recent whole lately forward truly tough rough wild crazy tons loads full true huge total
    major favorite favourite own similar certain others ton key difference past unknown emotions without near
    non-stop behind beside along across inside outside afterwards soon ago happiness joy love support both sense
    process progress goal goals dream dreams heart mind opportunity opportunities making improving getting
    giving taking having seeing bringing spreading trying keeping building finding becoming coming continue hang
    word words ways instead afterward anymore beauty quite seem top
    """.split()
)
_VAGUE = frozenset("group table collection bond mix point team side class list".split())
"""Words that say something only with another before them: `support group`."""

_VERB_OR_NOUN = frozenset(
    """
    support work dance walk show play run ride swim hike talk design care travel visit camp bike race study practice
    test search stay dress drink book film cook garden
    """.split()
)
"""Verbs that are nouns behind a noun: `LGBTQ support group`."""

_ADJECTIVES = frozenset(
    """
    positive simple furry intense strong tough quiet calm busy fresh free nearby online public main natural fun common
    personal perfect scary younger older amazing inner deep high low full
    """.split()
)
_ADJECTIVE_ENDS = ("ful", "ous", "less", "ish", "able", "ible")

_CALENDAR = frozenset(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december
    """.split()
)
_OPENERS = frozenset(
    """
    a an the my our his her their its this that these those some any of for in on at with from to about into as by
    is are was were and or no new more another than like through between over near via under without
    """.split()
)
"""Words behind which a noun phrase begins."""

_ATTRIBUTES = frozenset(
    """
    new good great nice little big old young small beautiful own favorite favourite local huge amazing awesome
    super cool cute lovely happy sweet special real other few many much more most next last first whole recent
    best better
    """.split()
)
_PLACE_PARTS = frozenset("New San Los Las Great Little Big Old North South East West".split())
"""Words that begin names of places, and are empty when written small."""

_POSTURES = frozenset(
    "sitting standing posing holding wearing looking walking hanging laying lying smiling".split()
)
_TOKEN = re.compile(r"[^\W_]+(?:[’'-][^\W_]+)*|[^\w\s]")
_POSSESSIVE = re.compile(r"[’']s\Z")


@dataclass(frozen=True)
class Phrase:
    """The words of a phrase as they were written; `named` when it is a proper name."""

    words: tuple[str, ...]
    named: bool

    @property
    def key(self) -> tuple[str, ...]:
        return tuple(singular(w.casefold()) for w in self.words)


def singular(word: str) -> str:
    """A word without the -s of the plural, roughly: it only serves to compare words."""
    return (
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
    )


def noun_phrases(sentence: str, without: Collection[str]) -> Iterator[Phrase]:
    """The noun phrases and proper names of a sentence in order, none with a word of `without`."""
    run: list[str] = []
    before = ""
    for token in [*_TOKEN.findall(sentence), "."]:
        if _goes_on(token, run, without):
            run.append(token)
            continue
        yield from _phrases(run, before)
        run, before = [], token.casefold()


def _goes_on(token: str, run: list[str], without: Collection[str]) -> bool:
    if run and _POSSESSIVE.search(run[-1]):
        return False
    if token in _PLACE_PARTS and not run:
        return True
    word = _POSSESSIVE.sub("", token.replace("’", "'").casefold())
    if not word[:1].isalpha() or len(word) < 2 or word in without:
        return False
    return not is_empty(word) or _is_noun_here(word, run)


def _is_noun_here(word: str, run: list[str]) -> bool:
    """Whether a word that may be a verb is none: `support group` behind `LGBTQ`; `kids love` is another matter."""
    return bool(run) and (word in _VAGUE or word in _VERB_OR_NOUN) and singular(run[-1]) == run[-1]


def is_empty(word: str) -> bool:
    """Whether a lower-cased word is no noun, or one that says nothing."""
    stem = word.split("'", maxsplit=1)[0]
    if any(word in listed for listed in (_CALENDAR, _GENERIC, _VAGUE, _ATTRIBUTES)) or "'" in word:
        return True
    if stem in FUNCTION or word in POLITE or word in INTERJECTION or word in ADVERB or word in MODALS:
        return True
    return word in BASE or word in BASE_WITH_S or is_past(word) or word.endswith("ly")


def _phrases(run: list[str], before: str) -> Iterator[Phrase]:
    """What a run of words gives: its names, and all of it where a word before it announces a noun."""
    words = _without_verbs([_POSSESSIVE.sub("", w) for w in run])
    if words and _is_named(words, before):
        yield Phrase(tuple(words[:MAX_WORDS]), named=True)
    elif words and _announces(before, words):
        yield Phrase(tuple(words[-MAX_WORDS:]), named=False)


def _announces(before: str, words: list[str]) -> bool:
    """Whether a noun stands behind this word: an article, a preposition, or a verb with a plural as its object."""
    if before in _OPENERS or before in _ATTRIBUTES or _POSSESSIVE.search(before):
        return True
    return (before in BASE or before in BASE_WITH_S or is_past(before)) and singular(words[-1]) != words[-1]


def _is_named(words: list[str], before: str) -> bool:
    """Whether all words have capitals, and not only because they begin the sentence."""
    return all(w[0].isupper() for w in words) and (
        before != "" or (len(words) > 1 and not is_empty(words[0].casefold()))
    )


def _is_adjective(word: str) -> bool:
    return word in _ADJECTIVES or (word.islower() and word.endswith(_ADJECTIVE_ENDS))


def _without_verbs(words: list[str]) -> list[str]:
    """Without an adjective at the end, and without a verb in -ing (`helping kids`, `a dog sitting`)."""
    while words and (words[-1] in _POSTURES or _is_adjective(words[-1])):
        words = words[:-1]
    if len(words) > 1 and words[0].endswith("ing") and singular(words[-1]) != words[-1]:
        words = words[1:]
    return [] if len(words) == 1 and words[0] in _PLACE_PARTS else words
