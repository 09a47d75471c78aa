"""Decides which memory file a line goes to."""

import re
from dataclasses import dataclass

from strandline.domain.rules.entities import Entity, entity_in
from strandline.domain.rules.topics import topic_of

_ADVERBS = (
    r"(?:really |also |just |always |still |absolutely |definitely |totally |particularly "
    r"|especially |usually )*"
)
_PREFERENCE = re.compile(
    rf"\bI {_ADVERBS}(?:do )?(?:love|like|enjoy|prefer|hate|dislike|adore|detest|avoid"
    rf"|crave)\b(?! (?:that|this|it|how you)\b[.!]*\Z)"
    rf"|\bI {_ADVERBS}(?:don['’]t|do not|can['’]t|cannot|never) {_ADVERBS}(?:like|enjoy|stand|want"
    rf"|care for|eat|drink|use)\b"
    r"|\bI(?:['’]d| would)(?: much)? (?:rather|prefer)\b|\bI rather\b|\bI only (?:eat|drink|use|wear)\b"
    r"|\bmy (?:\w+ ){0,2}fav(?:ou?rites?)?\b|\b(?:fan of|not a fan|passionate about|obsessed with"
    r"|into it|go-to)\b"
    r"|\bI(?:['’]m| am) (?:really |so |very |also )?(?:into|fond of|drawn to|crazy about)\b"
    r"|我(?:很|非常|也|更|最|不|都|真的|特别)*(?:喜欢|喜歡|讨厌|討厭|偏好|偏爱|爱|愛)|(?:が"
    r"|は)?(?:大好き|好き|嫌い|苦手)(?:です|だ|な)?|좋아(?:해|하)|싫어(?:해|하)",
    re.IGNORECASE,
)
_DIRECTIVE = re.compile(
    r"(?:please )?(?:always|never|from now on|don['’]t (?:use|add|write|call|send|ever)|do not"
    r"|in (?:the )?future,)\b|请(?:总是|始终|不要|别|用)",
    re.IGNORECASE,
)
_KIN = (
    r"(?:wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|sons?|daughters?|kids?|children|mom"
    r"|mum|mother|dad|father|parents"
    r"|brothers?|sisters?|siblings?|grandma|grandpa|grandmother|grandfather|twins|family)"
)
_PROFILE = re.compile(
    rf"\bmy name is\b|\bcall me [A-Z]|\bI(?:['’]m| am)(?: \w+)? (?:from|allergic|married|single"
    rf"|divorced|engaged|pregnant|retired|vegan"
    rf"|vegetarian|gay|lesbian|trans\w*|bisexual|\d{{1,3}}\b)"
    rf"|\bI(?:['’]m| am) (?:currently |also |now )?(?:an?|the) (?!bit\b|lot\b|little\b|big fan"
    rf"|huge fan|fan\b|total fan)"
    rf"|\bI {_ADVERBS}(?:live|work (?:as|at|for|in)|study|grew up|was born|was raised|majored"
    rf"|graduated|speak|identify as|own)\b"
    rf"|\bI(?:['’]ve| have)(?: got)? (?:an?|one|two|three|four|five|\d+) (?:\w+ )?(?:{_KIN}|dogs?"
    rf"|cats?|pets?|jobs?|degrees?)\b"
    rf"|\bmy (?:\w+ )?(?:{_KIN}|job|boss|birthday|degree|major|home ?town|home country|house"
    rf"|apartment|company|salary|age)(?:['’]s| is| are| was| works?| has| lives?)\b"
    r"|我(?:是|叫|住在?|来自|來自|今年|有[一两二三四五六七八九十]?(?:个|個|只|隻))|我的(?:名字|工作"
    r"|职业|妻子|丈夫|儿子|女儿|妈妈|爸爸|父母|家)"
    r"|私(?:は|の).{1,20}(?:です|ています|住んで|働いて)|저는 .{1,20}(?:입니다|이에요|예요|살)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Route:
    """The memory file a line goes to: a memory type and its identity fields."""

    memory_type: str
    fields: tuple[tuple[str, str], ...] = ()


EVENTS = Route("events")
PROFILE = Route("profile")


def route(sentence: str, *, dated: bool, to_assistant: bool, known: dict[str, Entity]) -> Route:
    """Where a sentence of a speaker belongs, as it was said.

    What has a date happened once and is an event. `known` are the entities of the conversation by name.
    """
    if to_assistant and _DIRECTIVE.match(sentence):
        return Route("preferences", (("topic", topic_of(sentence, default="instructions")),))
    if dated:
        return EVENTS
    if _PREFERENCE.search(sentence):
        return Route("preferences", (("topic", topic_of(sentence)),))
    entity = entity_in(sentence, known)
    if entity is not None:
        return Route("entities", (("category", entity.category), ("name", entity.name)))
    return PROFILE if _PROFILE.search(sentence) else EVENTS
