"""Decides which memory file a line goes to."""

from collections.abc import Mapping
from dataclasses import dataclass

from strandline.domain.rules.entities import Entity, entity_in
from strandline.domain.rules.lead import without_lead
from strandline.domain.rules.statements import is_instruction, is_preference, is_profile
from strandline.domain.rules.topics import topic_of


@dataclass(frozen=True)
class Route:
    """The memory file a line goes to: a memory type and its identity fields."""

    memory_type: str
    fields: tuple[tuple[str, str], ...] = ()


EVENTS = Route("events")
PROFILE = Route("profile")


def route(sentence: str, *, dated: bool, to_assistant: bool, known: Mapping[str, Entity]) -> Route:
    """Where a sentence of a speaker belongs, as it was said.

    What has a date happened once and is an event. `known` are the entities of the conversation by name.
    """
    sentence = without_lead(sentence, ())
    if to_assistant and is_instruction(sentence):
        return _preference(topic_of(sentence, default="instructions"))
    if dated:
        return EVENTS
    if is_preference(sentence):
        return _preference(topic_of(sentence))
    entity = entity_in(sentence, known)
    if entity is not None:
        return Route("entities", (("category", entity.category), ("name", entity.name)))
    return PROFILE if is_profile(sentence) else EVENTS


def _preference(topic: str) -> Route:
    return Route("preferences", (("topic", topic),))
