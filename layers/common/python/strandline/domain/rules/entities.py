"""Finds the named people, animals, places, organisations and works of a conversation."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from strandline.domain.rules.patterns import any_of
from strandline.domain.rules.words import FUNCTION, INTERJECTION, POLITE

_CATEGORIES = {
    "people": """
        friend friends buddy wife husband partner girlfriend boyfriend fiance fiancee son daughter kid mom mum
        mother dad father brother sister cousin uncle aunt aunty niece nephew grandma grandpa grandmother
        grandfather boss colleague coworker teacher coach mentor neighbor neighbour roommate doctor therapist
        manager professor classmate teammate author singer actor actress director artist
        """,
    "pets": "dog puppy pup cat kitty kitten turtle tortoise hamster horse bird parrot rabbit bunny fish pet snake",
    "places": """
        city town village country island beach park lake mountain river state museum restaurant cafe bar shop
        store studio gym hotel trail street
        """,
    "organisations": """
        company startup school university college team club band charity shelter agency organization
        organisation church
        """,
    "works": "book novel movie film series show song album game podcast poem play trilogy magazine",
    "projects": "project repo repository app website service product library program channel",
}
_BY_KIND = {kind: category for category, listed in _CATEGORIES.items() for kind in listed.split()}
_KIND = rf"(?P<kind>(?i:{any_of(' '.join(_BY_KIND))}))"
_NAME = r"(?P<name>[A-Z][\w’&-]{1,30}(?::[A-Z]\w{1,20})?(?: (?:of the |of |the )?[A-Z][\w’&-]{1,30}){0,3})"
_CALLED = r"(?: (?:is |was |are )?(?:named|called)| ['’]s name is|,| is|)"
_INTRODUCED = (
    re.compile(rf"\b{_KIND}{_CALLED} [\"“'‘]?{_NAME}"),
    re.compile(rf"\b{_NAME}(?:,| is| was|['’]s) (?:my|our|an?|the|his|her) (?:\w+ ){{0,2}}{_KIND}\b"),
)
_AFTER_COMMA = frozenset(("people", "pets"))
"""Kinds that a name may follow behind a comma: `my dog, Max`; `the shelter, Cindy` is not the shelter's name."""
_NOT_NAMES = frozenset(
    """
    i'm i've i'll i'd it's that's there's here's he's she's they're we're let's what's however besides meanwhile
    therefore monday tuesday wednesday thursday friday saturday sunday january february march april may june july
    august september october november december christmas thanksgiving easter halloween lgbtq ai tv diy usa english
    """.split()
)
_HEAD = re.compile(r"[A-Za-z][\w’&:-]*")
_HEAD_WORDS = 3
"""A sentence is about an entity that is named among its first words."""


@dataclass(frozen=True)
class Entity:
    category: str
    name: str


def entities(sentences: Iterable[str], without: Collection[str]) -> dict[str, Entity]:
    """The entities introduced by what they are (`my dog Max`, `Max is my dog`), by name; none of `without`.

    The first word of a longer name stands for it too, unless it is a name itself.
    """
    found: dict[str, Entity] = {}
    for sentence in sentences:
        for entity in _introduced(sentence, without):
            found.setdefault(entity.name, entity)
    short = {name.partition(" ")[0]: entity for name, entity in found.items()}
    return {name: entity for name, entity in short.items() if not _is_common(name.casefold())} | found


def _introduced(sentence: str, without: Collection[str]) -> Iterable[Entity]:
    for pattern in _INTRODUCED:
        for match in pattern.finditer(sentence):
            name = match["name"].removesuffix("’s")
            category = _BY_KIND[match["kind"].casefold()]
            comma = sentence[match.end("kind") : match.start("name")].startswith(",")
            if _is_name(name, without) and (category in _AFTER_COMMA or not comma):
                yield Entity(category, name)


def _is_name(name: str, without: Collection[str]) -> bool:
    first, _, rest = name.casefold().partition(" ")
    if _is_common(first) and not (first == "the" and rest):
        return False
    return first not in without and name.casefold() not in without


def _is_common(word: str) -> bool:
    """Whether a word is no name although it is written with a capital, as at the head of a sentence."""
    return (
        word in _NOT_NAMES
        or word in FUNCTION
        or word in POLITE
        or word in INTERJECTION
        or word.endswith("ly")
    )


def entity_in(sentence: str, known: Mapping[str, Entity]) -> Entity | None:
    """The entity a sentence is about: one it introduces, or names among its first words."""
    for entity in _introduced(sentence, ()):
        if entity.name in known:
            return known[entity.name]
    return next((known[w] for w in _HEAD.findall(sentence)[:_HEAD_WORDS] if w in known), None)
