"""Finds the named people, animals, places, organisations and works of a conversation."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

_CATEGORIES = {
    "people": """
        friend friends buddy wife husband partner girlfriend boyfriend fiance fiancee son daughter kid mom
        mum mother dad father brother sister cousin uncle aunt aunty niece nephew grandma grandpa
        grandmother grandfather boss colleague coworker teacher coach mentor neighbor neighbour roommate
        doctor therapist manager professor classmate teammate author singer actor director artist
        """,
    "pets": "dog puppy pup cat kitty kitten turtle tortoise hamster horse bird parrot rabbit bunny fish pet snake",
    "places": """
        city town village country island beach park lake mountain river state museum restaurant cafe bar
        shop store studio gym hotel trail street
        """,
    "organisations": """
        company startup school university college team club band charity shelter agency organization organisation church
        """,
    "works": "book novel movie film series show song album game podcast poem play trilogy magazine",
    "projects": "project repo repository app website service product library program channel",
}
_BY_KIND = {kind: category for category, listed in _CATEGORIES.items() for kind in listed.split()}
_KIND = "|".join(sorted(_BY_KIND, key=len, reverse=True))
_NAME = r"(?P<name>[A-Z][\w'’&-]{1,30}(?: (?:of |the |and )?[A-Z][\w'’&-]{1,30}){0,3})"
_INTRODUCED = (
    re.compile(
        rf"\b(?P<kind>(?i:{_KIND})),? (?:is |was )?(?:named |called |is called |is named "
        rf"|'s name is )?,?[\"“]?{_NAME}"
    ),
    re.compile(rf"\b{_NAME},? (?:is|was|'s|,) (?:my|our|an?|the|his|her) (?:\w+ ){{0,2}}(?P<kind>{_KIND})\b"),
)
_NOT_NAMES = frozenset(
    """
    i i'm i've i'll i'd the a an my our we it he she they this that there and but so when if in on at to
    for with monday tuesday wednesday thursday friday saturday sunday january february march april may
    june july august september october november december christmas thanksgiving easter halloween lgbtq ai
    tv diy usa ok english wow yeah thanks
    """.split()
)


@dataclass(frozen=True)
class Entity:
    category: str
    name: str


def entities(sentences: Iterable[str], without: Collection[str]) -> dict[str, Entity]:
    """The entities that are introduced by what they are (`my dog Max`, `Max is my dog`),
    by name; none of `without`."""
    found: dict[str, Entity] = {}
    for sentence in sentences:
        for pattern in _INTRODUCED:
            for match in pattern.finditer(sentence):
                name = match["name"].removesuffix("'s").removesuffix("’s")
                if _is_name(name, without):
                    found.setdefault(name, Entity(_BY_KIND[match["kind"].casefold()], name))
    return found


def _is_name(name: str, without: Collection[str]) -> bool:
    first = name.split(maxsplit=1)[0].casefold()
    return first not in _NOT_NAMES and first not in without and name.casefold() not in without


def entity_in(sentence: str, known: dict[str, Entity]) -> Entity | None:
    """The entity a sentence is about: the first known name that occurs in it; of two at one place the longer."""
    found = [
        (m.start(), -len(name), e)
        for name, e in known.items()
        if (m := re.search(rf"\b{re.escape(name)}\b", sentence))
    ]
    return min(found, key=lambda f: f[:2])[2] if found else None
