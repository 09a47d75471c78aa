"""What is called out to the other person and carries nothing: `Don't miss a beat!`, `Spill the beans!`."""

import re
from collections.abc import Collection

from strandline.domain.rules.lead import without_lead
from strandline.domain.rules.patterns import any_of, compiled, words_of
from strandline.domain.rules.verbs import BASE
from strandline.domain.rules.words import words

_MAX_CHEER_WORDS = 6
_OF_ONESELF = frozenset(
    """
    love like hate miss need want enjoy feel hope mean appreciate cook fish bike camp host code dance lack wish
    """.split()
)
"""Verbs that head a sentence without its subject at least as often as a command: `Love hiking!`"""
_COMMANDS = BASE - _OF_ONESELF
_MINE = compiled(words_of("I I'm I've me my mine we our ours us let's"))
_NUMBER_OR_CAPITAL = re.compile(r"\d|(?<=[\w,;] )[A-Z][\w'’]+")
_POINTING = compiled(
    r"(?:and |but |so )?(?:it|that|this|these|those|they)(?:['’]s|['’]re| is| was| are| were) (?!not\b)"
    r"(?:\w+ly |so |such )?"
    + any_of("one_of the_best the_worst a_must the_coolest the_greatest perfect amazing awesome")
    + r"\b(?: [\w'’]+){0,2}\W*\Z",
)


def names_something(sentence: str, names: Collection[str]) -> bool:
    """Whether a number stands in it, or within it a word in capitals that is none of `names`."""
    found = (m.group().replace("’", "'").casefold() for m in _NUMBER_OR_CAPITAL.finditer(sentence))
    return any(w.removesuffix("'s") not in names for w in found)


def is_cheer(sentence: str, names: Collection[str]) -> bool:
    """Whether it is a short call to do something, of nothing that is the speaker's or has a name."""
    said = without_lead(sentence, names)
    found = [w for w in words(said) if w not in names]
    command = found[:1] == ["don't"] or bool(_COMMANDS.intersection(found[:1]))
    is_short = command and sentence.rstrip().endswith("!") and len(found) <= _MAX_CHEER_WORDS
    return is_short and not _is_of_substance(said, names)


def only_points(sentence: str, names: Collection[str]) -> bool:
    """Whether it only ranks what was named before: `It's one of Joanna's favorites!`"""
    said = without_lead(sentence, names)
    return _POINTING.match(said) is not None and not _is_of_substance(said, names)


def _is_of_substance(sentence: str, names: Collection[str]) -> bool:
    return _MINE.search(sentence) is not None or names_something(sentence, names)
