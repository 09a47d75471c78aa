"""What is searched for, and what is found."""

from typing import Any, Required, TypedDict


class FindOptions(TypedDict, total=False):
    """What narrows a search. `context_type` "message" searches raw messages, `read_content` puts whole memories beside
    their lines; an option of None is left out."""

    target_uri: str | list[str] | None
    limit: int | None
    score_threshold: float | None
    filter: dict[str, Any] | None
    since: str | None
    until: str | None
    session_id: str | None
    context_type: str | None
    as_of: str | None
    read_content: bool | None
    explain: bool | None


class Hit(TypedDict, total=False):
    """A found memory (`sources`, `category`; `content` where asked for) or message (`session_id`, `seq`, `role`,
    `peer_id`)."""

    uri: Required[str]
    context_type: Required[str]
    score: Required[float]
    abstract: Required[str]
    category: str
    content: str
    sources: list[dict[str, Any]]
    session_id: str
    message_id: str
    seq: int
    role: str
    peer_id: str | None
    created_at: str


class Found(TypedDict):
    memories: list[Hit]
    resources: list[Any]
    skills: list[Any]
    total: int
