"""Decides which memory file a line goes to."""

from dataclasses import dataclass

from strandline.domain.rules.entities import Entity, Known
from strandline.domain.rules.entity_kinds import ANIMATE
from strandline.domain.rules.instructions import is_instruction
from strandline.domain.rules.lead import without_lead
from strandline.domain.rules.likings import is_goal, liking
from strandline.domain.rules.oneself import answers_who_one_is, is_profile
from strandline.domain.rules.topics import GOALS, topic_of, topic_of_liking
from strandline.domain.rules.words import content


@dataclass(frozen=True)
class Statement:
    """What a person said: the first sentence of a line, all of them, and the question it answers.

    `dated`: it names its own date.
    """

    first: str
    whole: str = ""
    asked: str = ""
    dated: bool = False


@dataclass(frozen=True)
class Route:
    """The memory file a line goes to: a memory type and its identity fields."""

    memory_type: str
    fields: tuple[tuple[str, str], ...] = ()


EVENTS = Route("events")
PROFILE = Route("profile")


def route(said: Statement, known: Known, *, to_assistant: bool) -> Route:
    """Where a statement of a speaker belongs: to who they are, to what it names, to what they like, else to events.

    What has a date is a lasting fact or about what it names, or it happened once: it is never a liking.
    """
    sentence = without_lead(said.first, ())
    if to_assistant and is_instruction(sentence):
        return _preference(topic_of(sentence, default="instructions"))
    if is_profile(sentence):
        return PROFILE
    entity = known.about(sentence, said.whole)
    is_living = entity is not None and entity.category in ANIMATE
    if not is_living and answers_who_one_is(said.asked, sentence):
        return PROFILE
    if entity is not None:
        return _entity(entity)
    return EVENTS if said.dated else _liked(sentence, said.asked)


def _entity(entity: Entity) -> Route:
    return Route("entities", (("category", entity.category), ("name", entity.name)))


def _liked(sentence: str, asked: str) -> Route:
    if is_goal(sentence):
        return _preference(GOALS)
    found = liking(sentence)
    if found is None or not content(" ".join(found)):
        return EVENTS
    return _preference(topic_of_liking(*found, default=topic_of(asked)))


def favourite_route(attribute: str) -> Route:
    """Where favourites of a kind go: `favourite colour`."""
    kind = attribute.partition(" ")[2]
    return _preference(topic_of(kind, default=kind))


def _preference(topic: str) -> Route:
    return Route("preferences", (("topic", topic),))
