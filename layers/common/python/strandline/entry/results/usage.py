"""How often memories were used, as it is shown."""

from typing_extensions import TypedDict


class Used(TypedDict):
    """How often in all sessions, and when last."""

    count: int
    last_used_at: str | None


class UsedMemory(TypedDict):
    uri: str
    used: Used


class Report(TypedDict):
    """Which of the reported contexts and skills are memories, and how often each was used in all; `unknown` ones are
    not counted. A repeated report gets the same answer."""

    session_id: str
    contexts_used: int
    skills_used: int
    memories: list[UsedMemory]
    unknown: list[str]
