"""Sessions, their messages and archives as they are shown."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from strandline.domain.compaction.limits import Limits
from strandline.domain.message import ContextPart, ImagePart, TextPart, ToolPart


class Owner(TypedDict):
    """Whose a session is."""

    account_id: str
    user_id: str


class Policy(TypedDict):
    """When a session commits by itself; 0 switches a trigger off. In tokens, messages and seconds."""

    pending_token_threshold: int
    message_count_threshold: int
    idle_timeout_seconds: int
    keep_recent_count: int
    min_commit_interval_seconds: int


class Created(TypedDict):
    """A session as it was created. `auto_commit_policy` null: it never commits by itself. `compaction`: the limits
    of its context."""

    session_id: str
    uri: str
    user: Owner
    auto_commit_policy: Policy | None
    memory_policy: dict[str, Any]
    metadata: dict[str, Any]
    compaction: Limits
    created_at: str


class SessionRow(TypedDict):
    """A line of the session list, as of the session's last commit."""

    session_id: str
    uri: str
    created_at: str
    updated_at: str
    commit_count: int


class ArchiveCounts(TypedDict):
    """How many archives of a session are in each state."""

    pending: int
    completed: int
    failed: int


class Session(Created):
    """A session as of now. `message_count` and `pending_tokens` are those of its live messages, that is since the last
    commit; `memories_extracted` counts by memory type."""

    updated_at: str
    commit_count: int
    message_count: int
    total_message_count: int
    pending_tokens: int
    memories_extracted: dict[str, int]
    last_message_at: str | None
    last_commit_at: str | None
    last_auto_commit_at: str | None
    auto_commit_last_error: str | None
    auto_commit_last_error_at: str | None
    archives: ArchiveCounts


class DeletedSession(TypedDict):
    """What went with a session, counted; `complete`: nothing is left."""

    session_id: str
    erased: dict[str, int]
    complete: bool


class Asked(TypedDict):
    """The task of a commit that this write has started."""

    task_id: str


class Appended(TypedDict):
    """Where a message stands, and the session's counters. `duplicate`: it was there already."""

    session_id: str
    message_id: str
    seq: int
    duplicate: bool
    added: int
    message_count: int
    pending_tokens: int
    auto_commit: NotRequired[Asked]


class BatchRow(TypedDict):
    """Where one message of a batch stands."""

    id: str
    seq: int
    duplicate: bool


class AppendedBatch(TypedDict):
    """Where the messages of a batch stand, and the session's counters. A user message of several tool parts is
    stored as one message per tool result, each with a row of its own."""

    session_id: str
    added: int
    message_count: int
    pending_tokens: int
    messages: list[BatchRow]
    auto_commit: NotRequired[Asked]


class Whole(TypedDict):
    """Where the whole output is of which the message has a preview: `GET .../tool-results/{id}`."""

    id: str
    total_chars: int
    sha256: str


class StoredText(TextPart):
    ref: Whole | None = None


class StoredTool(ToolPart):
    ref: Whole | None = None


StoredPart = Annotated[StoredText | ContextPart | ImagePart | StoredTool, Field(discriminator="type")]


class Message(TypedDict):
    """A message as it was stored; fields that were not sent are absent. `utc_offset` is the speaker's, in minutes;
    `flags` say what was found in it: `secret:<kind>`, `injection`."""

    id: str
    seq: int
    role: Literal["user", "assistant", "system", "tool"]
    created_at: str
    content: NotRequired[str]
    parts: NotRequired[list[StoredPart]]
    peer_id: NotRequired[str]
    turn_id: NotRequired[str]
    message_kind: NotRequired[str]
    source_message_ids: NotRequired[list[str]]
    metadata: NotRequired[dict[str, Any]]
    utc_offset: NotRequired[int]
    flags: NotRequired[list[str]]
    ref: NotRequired[Whole]


class Committed(TypedDict):
    """An archive was made; the task follows it until its memories are there."""

    session_id: str
    status: Literal["accepted"]
    archived: Literal[True]
    task_id: str
    archive_uri: str
    first_seq: int
    last_seq: int


class Skipped(TypedDict):
    """There was nothing to archive."""

    session_id: str
    status: Literal["skipped"]
    archived: Literal[False]
    task_id: None
    reason: Literal["no_messages", "all_within_keep_window"]


class DryRun(TypedDict):
    """What a commit would archive now, or why nothing."""

    session_id: str
    status: Literal["dry_run"]
    archived: Literal[False]
    reason: NotRequired[Literal["no_messages", "all_within_keep_window"]]
    first_seq: NotRequired[int]
    last_seq: NotRequired[int]
    archive_id: NotRequired[str]


class ContextStats(TypedDict):
    """What the context is made of: archives and tokens."""

    totalArchives: int
    includedArchives: int
    droppedArchives: int
    failedArchives: int
    activeTokens: int
    archiveTokens: int


class Context(TypedDict):
    """The last completed archive's overview, and the messages it does not cover, oldest first."""

    latest_archive_overview: str
    pre_archive_abstracts: list[Any]
    messages: list[Message]
    estimatedTokens: int
    stats: ContextStats


ArchiveStatus = Literal["pending", "completed", "failed"]


class ArchiveRow(TypedDict):
    """An archive in the list of a session."""

    archive_id: str
    uri: str
    status: ArchiveStatus
    first_seq: int
    last_seq: int


class Archive(TypedDict):
    """An archive with its texts (empty until it is completed) and as many of its messages as one answer holds. What it
    changed in the memories is read at `memory_diff_uri`, what was learnt of it at `learn_diff_uri`: null where nothing
    was, or not yet."""

    archive_id: str
    status: ArchiveStatus
    abstract: str
    overview: str
    messages: list[Message]
    first_seq: int
    last_seq: int
    memory_diff_uri: str
    learn_diff_uri: str | None
