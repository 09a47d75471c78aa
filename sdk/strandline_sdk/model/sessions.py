"""Sessions: their settings, what a write to one answers, its archives and its context."""

from typing import Any, Literal, NotRequired, Required, TypedDict

from strandline_sdk.model.messages import StoredMessage


class SessionSettings(TypedDict, total=False):
    """What is fixed when a session is created. An `auto_commit_policy` of None turns automatic commits off."""

    auto_commit_policy: dict[str, Any] | None
    memory_policy: dict[str, Any] | None
    metadata: dict[str, Any]
    compaction: dict[str, dict[str, Any]] | None


class Session(TypedDict, total=False):
    session_id: Required[str]
    uri: Required[str]
    created_at: str
    updated_at: str
    message_count: int
    total_message_count: int
    commit_count: int
    pending_tokens: int
    last_message_at: str | None
    last_commit_at: str | None
    auto_commit_policy: dict[str, Any] | None
    last_auto_commit_at: str | None
    auto_commit_last_error: str | None
    auto_commit_last_error_at: str | None
    memory_policy: dict[str, Any] | None
    metadata: dict[str, Any]
    archives: dict[str, int]


class Erased(TypedDict, total=False):
    """What was removed, per store; where it is not `complete`, the rest is erased shortly."""

    session_id: Required[str]
    erased: Required[dict[str, int]]
    complete: bool


class MessageReceipt(TypedDict):
    id: str
    seq: int
    duplicate: bool


class Asked(TypedDict):
    """The task of a commit that a write has started."""

    task_id: str


class Appended(TypedDict):
    session_id: str
    message_id: str
    seq: int
    duplicate: bool
    message_count: int
    pending_tokens: int
    auto_commit: NotRequired[Asked]


class BatchAppended(TypedDict):
    session_id: str
    added: int
    message_count: int
    pending_tokens: int
    messages: list[MessageReceipt]
    auto_commit: NotRequired[Asked]


class Committed(TypedDict):
    """`status` is "accepted" with a task and an archive, or "skipped" with a reason."""

    session_id: str
    status: Literal["accepted", "skipped"]
    archived: bool
    task_id: str | None
    archive_uri: NotRequired[str]
    reason: NotRequired[str]


class Archive(TypedDict, total=False):
    """A committed run of messages; `abstract`, `overview` and `messages` where one archive is asked for."""

    archive_id: Required[str]
    status: Required[Literal["pending", "completed", "failed"]]
    first_seq: Required[int]
    last_seq: Required[int]
    uri: str
    abstract: str | None
    overview: str | None
    messages: list[StoredMessage]
    memory_diff_uri: str | None
    learn_diff_uri: str | None


class Context(TypedDict, total=False):
    """What fits the budget of a session: the newest overview, and the messages that it does not cover."""

    latest_archive_overview: Required[str]
    pre_archive_abstracts: list[Any]
    messages: Required[list[StoredMessage]]
    estimatedTokens: Required[int]
    stats: dict[str, int]
