"""Finds the named people, animals, places, organisations and works of a conversation."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from strandline.domain.rules.entity_kinds import ANIMATE, CATEGORY, KINDS, is_common
from strandline.domain.rules.patterns import any_of
from strandline.domain.rules.words import FUNCTION, POLITE

_KIND = rf"(?P<kind>(?i:{any_of(' '.join(CATEGORY))}))"
_BEING = rf"(?P<kind>(?i:{any_of(' '.join(KINDS[c] for c in sorted(ANIMATE)))}))"
_ONE = r"[A-Z](?:['’][A-Z])?[\w&-]{1,30}"
_NAME = rf"(?P<name>{_ONE}(?::[A-Z]\w{{1,20}})?(?: (?:of the |of |the )?{_ONE}){{0,3}})"
_MORE = rf"(?P<more>(?:(?:, and |, | and | & ){_ONE}(?=[\s,.!;]|\Z)){{0,4}})"
_OPEN = r"[\"“'‘]?"
_CALLED = r"(?:['’]s name(?:['’]s| is)| (?:is |was |are |which is )?(?:named|called|titled)|,| is|)"
_THEIR = r"(?:[Hh]is|[Hh]er|[Ii]ts|[Tt]heir|[Ww]hose)"
_THEM = r"(?:him|her|it|them)"
_NAMED = (
    re.compile(rf"\b{_KIND}{_CALLED} {_OPEN}{_NAME}{_MORE}"),
    re.compile(
        rf"\b{_NAME}(?:,| is| was|['’]s) (?:(?:definitely|still|also|just|really) )?"
        rf"(?:my|our|an?|the|his|her) (?:[\w-]+ ){{0,4}}?{_KIND}\b"
    ),
    re.compile(rf"\b{_NAME},? (?:my|our) (?:\w+ )?{_BEING}\b"),
    re.compile(
        rf"\b{_BEING}\b[^.!?]{{0,80}}?[.!?]?[^.!?]{{0,60}}?\b{_THEIR} names? (?:is|are) {_NAME}{_MORE}"
    ),
    re.compile(rf"\b{_BEING}\b[^.!?]{{0,80}}?[.!?]?[^.!?]{{0,60}}?\b{_THEIR} name[’']s {_NAME}"),
    re.compile(
        rf"\b{_BEING}\b[^.!?]{{0,80}}?[.!?]?[^.!?]{{0,60}}?\b(?:named|call|name|naming) {_THEM} {_NAME}"
    ),
)
"""Ways to say what the bearer of a name is."""

_SAYS_A_NAME = re.compile(rf"\b(?:{_THEIR} names?(?:[’']s| is| are)|(?:named|call) {_THEM}) {_NAME}{_MORE}")
_BEING_WORD = re.compile(rf"\b{_BEING}\b")
_LATER = 5
"""Sentences within which a name may follow the word that says whose it is."""

_TITLE = re.compile(r"(?<![\w’'])[\"“'‘](?P<name>[A-Z0-9](?:[^\"“”‘'’\n]|['’](?=\w)){1,60})[\"”'’](?!\w)")
_TOLD_OF = re.compile(
    r"\b"
    + any_of(
        """
        read reading reread rereading book books novel series story movie movies film films watch watched watching saw
        seen show song songs album game games play played playing piece poem author script podcast by finished called
        """
    )
    + r"\b",
    re.IGNORECASE,
)
_MAX_TITLE_WORDS = 8
_SMALL_WORD = re.compile(r"(?<![\w’'-])[a-z][\w’-]*")
_NAME_WORD = re.compile(_ONE)
_POSSESSIVE = re.compile(r"['’]s\b")
_SMALL = frozenset("a an the and or of in on to for with from by at is".split())
_HOUSE = rf"(?i:{any_of(KINDS['organisations'] + ' museum restaurant cafe café bar pub')})"
_HOUSE_IN = re.compile(
    rf"\b(?i:the|my|our) (?P<house>(?:[a-z]+ ){{0,2}}?(?P<kind>{_HOUSE}) in {_ONE}(?: {_ONE}){{0,2}})"
)
_MENTIONED = (
    (
        "places",
        re.compile(
            rf"\b(?:live|lives|lived|living|moved?|moving|born|grew up|trip|travell?ed|flew|flight|been|went|back|"
            rf"visit|visiting|visited)(?: (?:in|to|near|from))? {_NAME}"
        ),
    ),
    ("organisations", re.compile(rf"\b(?:work|works|worked|working|job|intern|employed) (?:at|for) {_NAME}")),
    ("works", re.compile(rf"\b{_NAME} (?:books?|movies?|films?|series|trilogy|universe)\b")),
    (
        "works",
        re.compile(
            r"\b(?:read|reading|watched|watching|playing|played|play) (?P<name>(?:[A-Z]{3,5}\b|"
            rf"{_ONE}(?: (?:of the |of |the )?{_ONE}){{1,3}}))"
        ),
    ),
)
"""Ways to mention a name that leave no doubt what its bearer is, without saying it."""

_ASKED_OF = re.compile(rf"\b(?:your|his|her|their|the|that|this) (?:\w+ )?{_BEING}\b")
_ANSWERED = re.compile(
    rf"\A(?:(?:This|That|It|He|She|Her name|His name)(?: is|['’]s) )?{_NAME}{_MORE}(?:['’]s)?(?= |[.!,]|\Z)"
)
_LEAD_WORDS = any_of(
    "and but so also even now well then this that the my our his her dear little old sweet poor both"
)
_LEAD = rf"(?:(?i:{_LEAD_WORDS}),? )*"
_WORDS = r"(?P<words>[A-Z0-9][\w’:&-]*(?:['’]s)?(?: (?:of |the |of the )?[A-Z][\w’&-]*){0,4})"
_SUBJECT = re.compile(rf"\A{_LEAD}(?:{_KIND},? )?{_OPEN}{_WORDS}")
_IT = any_of("this that it here one name he she")
_HANDLE = any_of(
    "named call called meet met love adore adopted miss take took bring brought walk groom have picture pic photo"
)
_POINTED_AT = re.compile(
    rf"\b(?:(?i:{_IT})(?:(?: one| here)?(?:['’]s| is| was)|,)|(?i:{_HANDLE})(?: {_THEM}| of)?(?: our| my)?) "
    rf"{_OPEN}{_WORDS}"
)


@dataclass(frozen=True)
class Entity:
    category: str
    name: str


@dataclass(frozen=True)
class Known:
    """The entities of a conversation by their names, and by the first names of people and animals."""

    by_name: Mapping[str, Entity]

    def about(self, sentence: str, whole: str = "") -> Entity | None:
        """The entity a statement is about: one it introduces, or its subject. `whole` are all its sentences."""
        introduced = (self.by_name.get(e.name) for e in _introduced(whole or sentence))
        return next(filter(None, chain(introduced, self._subjects(sentence))), None)

    def _subjects(self, sentence: str) -> Iterator[Entity | None]:
        house = _HOUSE_IN.match(sentence)
        if house is not None:
            yield self.by_name.get(house["house"])
        subject = _SUBJECT.match(sentence)
        if subject is not None:
            yield self._longest(subject["words"])
        for match in _POINTED_AT.finditer(sentence):
            yield self._longest(match["words"])

    def _longest(self, words: str) -> Entity | None:
        """The entity that the first of some words name."""
        parts = _POSSESSIVE.sub("", words).split()
        names = (" ".join(parts[:n]) for n in range(len(parts), 0, -1))
        return next((self.by_name[name] for name in names if name in self.by_name), None)


def entities(sentences: Iterable[str], without: Collection[str]) -> Known:
    """The entities that are introduced by what they are (`my dog Max`, `Max is my dog`); none of `without`.

    A word that the conversation also writes in small letters is no name.
    """
    said = list(sentences)
    small = frozenset(chain.from_iterable(_SMALL_WORD.findall(sentence) for sentence in said))
    found: dict[str, Entity] = {}
    for entity in chain(
        _in_all(_introduced, said), _named_later(said), _answered(said), _in_all(_mentioned, said)
    ):
        if _is_name(entity.name, without, small):
            found.setdefault(entity.name, entity)
    for entity in _in_all(_titles, said):
        if entity.name.casefold() not in without:
            found.setdefault(entity.name, entity)
    short = {e.name.partition(" ")[0]: e for e in found.values() if e.category in ANIMATE}
    return Known(short | found)


def _in_all(find: Callable[[str], Iterable[Entity]], said: Sequence[str]) -> Iterator[Entity]:
    return chain.from_iterable(find(sentence) for sentence in said)


def _introduced(text: str) -> Iterator[Entity]:
    """Entities that a text says both the name and the kind of."""
    for pattern in _NAMED:
        for match in pattern.finditer(text):
            category = _category(match["kind"])
            if not _is_aside(text, match, category):
                yield from _listed(category, match)
    yield from _titles(text)


def _is_aside(text: str, match: re.Match[str], category: str) -> bool:
    """Whether a comma only sets somebody else off: `the shelter, Cindy`, or `my wife, Max and I`."""
    comma = text[match.end("kind") : match.start("name")].startswith(",")
    return comma and (category not in ANIMATE or text.startswith((" and I", ", and I"), match.end()))


def _titles(text: str) -> Iterator[Entity]:
    """The works whose titles a text quotes and that it tells of, or begins with."""
    told = _TOLD_OF.search(text) is not None
    for match in _TITLE.finditer(text):
        if _is_title(match["name"]) and (told or (match.start() == 0 and " " in match["name"])):
            yield Entity("works", match["name"].rstrip(".,!"))


def _category(kind: str) -> str:
    return CATEGORY[kind.casefold().replace(" ", "_")]


def _listed(category: str, match: re.Match[str]) -> Iterator[Entity]:
    """The name of a match, and those that are listed behind it: `my dogs Max and Mia`."""
    more = match.groupdict().get("more") or ""
    for name in (match["name"], *_NAME_WORD.findall(more)):
        yield Entity(category, _POSSESSIVE.sub("", name))


def _is_title(words: str) -> bool:
    """Whether all words that matter are written with capitals."""
    found = words.split()
    if len(found) == 1 and words.casefold().strip(".,!") in FUNCTION | POLITE:
        return False
    return len(found) <= _MAX_TITLE_WORDS and all(w in _SMALL or not w[0].islower() for w in found)


def _named_later(said: Sequence[str]) -> Iterator[Entity]:
    """Names told of somebody whose kind was said before: `I have a new dog. … His name is Max.`"""
    kind, at = "", -_LATER
    for n, sentence in enumerate(said):
        kinds = _BEING_WORD.findall(sentence)
        if kinds:
            kind, at = kinds[-1], n
        told = _SAYS_A_NAME.search(sentence)
        if told is not None and n - at < _LATER:
            yield from _listed(_category(kind), told)


def _answered(said: Sequence[str]) -> Iterator[Entity]:
    """Names that an answer begins with when somebody's kind was asked for: `How is your dog? – Max is fine.`"""
    for question, answer in pairwise(said):
        asked = _ASKED_OF.search(question) if question.endswith("?") else None
        named = _ANSWERED.match(answer)
        if asked is not None and named is not None:
            yield from _listed(_category(asked["kind"]), named)


def _mentioned(text: str) -> Iterator[Entity]:
    for category, pattern in _MENTIONED:
        for match in pattern.finditer(text):
            yield Entity(category, _POSSESSIVE.sub("", match["name"]))
    for match in _HOUSE_IN.finditer(text):
        yield Entity(_category(match["kind"]), match["house"])


def _is_name(name: str, without: Collection[str], small: Collection[str]) -> bool:
    if name[0].islower():
        _, _, place = name.rpartition(" in ")
        return not is_common(place.partition(" ")[0].casefold())
    first, _, rest = name.casefold().partition(" ")
    if first in without or name.casefold() in without:
        return False
    if first in ("the", "a"):
        return bool(rest)
    return not is_common(first) and (bool(rest) or first not in small)
