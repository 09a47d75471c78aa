"""The shapes that travel: plain dicts, typed. Fields may be added by a newer service; unknown ones are kept."""

from typing import Any, Literal, NotRequired, Required, TypedDict

Role = Literal["user", "assistant", "system", "tool"]
ToolStatus = Literal["pending", "running", "completed", "error"]
TaskStatus = Literal["pending", "running", "completed", "failed", "cancelled"]


class TextPart(TypedDict):
    type: Literal["text"]
    text: str


class ContextPart(TypedDict):
    type: Literal["context"]
    uri: str
    context_type: NotRequired[str]
    abstract: NotRequired[str]


class ImageUrl(TypedDict):
    url: str
    detail: NotRequired[str]


class ImagePart(TypedDict):
    type: Literal["image_url"]
    image_url: ImageUrl


class ToolPart(TypedDict):
    type: Literal["tool"]
    tool_id: str
    tool_name: NotRequired[str]
    tool_input: NotRequired[Any]
    tool_output: NotRequired[str]
    tool_status: NotRequired[ToolStatus]


Part = TextPart | ContextPart | ImagePart | ToolPart


class Message(TypedDict, total=False):
    """A message to append: `content` or `parts`, not both. `created_at` is RFC 3339."""

    role: Required[Role]
    content: str
    parts: list[Part]
    id: str
    peer_id: str
    created_at: str
    turn_id: str
    message_kind: str
    metadata: dict[str, Any]


class StoredMessage(Message, total=False):
    """A message as it is stored: with its place in the session."""

    seq: Required[int]


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
    """The task of a commit that a write has set going."""

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


class MemoryDiff(TypedDict, total=False):
    """What an archive, or what was learnt of it, changed in the memories: `operations` by `adds`, `updates` and
    `deletes`, each with its `uri`, `memory_type`, and the text `before` and `after`; what was rejected or skipped, and
    why; counts in `summary`."""

    archive_uri: Required[str]
    extraction: Required[str]
    operations: Required[dict[str, list[dict[str, Any]]]]
    summary: Required[dict[str, Any]]
    extractor: str
    types: dict[str, str]
    rejected: list[dict[str, Any]]
    skipped: list[dict[str, Any]]
    settled: list[dict[str, Any]]
    rolled_back_at: str


class Context(TypedDict, total=False):
    """What fits the budget of a session: the newest overview, and the messages that it does not cover."""

    latest_archive_overview: Required[str]
    pre_archive_abstracts: list[Any]
    messages: Required[list[StoredMessage]]
    estimatedTokens: Required[int]
    stats: dict[str, int]


class ToolResult(TypedDict, total=False):
    """A tool output that is stored beside its message; `id` reads it."""

    id: Required[str]
    tool_id: str
    tool_name: str
    message_id: str
    total_chars: Required[int]
    sha256: str


class ToolResultText(TypedDict):
    id: str
    content: str
    offset: int
    limit: int
    total_chars: int


class ToolResultHit(TypedDict):
    offset: int
    text: str


class Task(TypedDict, total=False):
    task_id: Required[str]
    task_type: Required[str]
    status: Required[TaskStatus]
    stage: str | None
    resource_id: str
    created_at: str
    updated_at: str
    attempts: int
    result: dict[str, Any] | None
    error: str | None


class Memory(TypedDict, total=False):
    path: Required[str]
    uri: Required[str]
    type: str
    content: str
    sha256: str
    version: int
    created_at: str
    updated_at: str
    sources: list[dict[str, Any]]


class Lifetime(TypedDict, total=False):
    """A memory expires `ttl_seconds` after each write, or at `expires_at`; None takes an expiry away. With neither it
    keeps the one it has."""

    ttl_seconds: int | None
    expires_at: str | None


class TopicFields(TypedDict, total=False):
    """What a topic says besides its text. `memory_type` is user, feedback, project or reference; it expires
    `ttl_seconds` after each write, or at `expires_at`."""

    name: str
    description: str
    memory_type: str
    summary: str
    ttl_seconds: int | None
    expires_at: str | None


class Topic(TypedDict, total=False):
    filename: Required[str]
    path: Required[str]
    uri: Required[str]
    name: Required[str]
    description: str
    type: str
    summary: str
    updated_at: str
    expires_at: str | None
    freshness: str
    flags: list[str]


class MemoryBlock(TypedDict):
    """Memories for a prompt: `text` has `tokens`; `memories` are those in it, `left_out` how many lines and topics had
    no room."""

    text: str
    tokens: int
    memories: list[dict[str, Any]]
    left_out: int


class ShownIndex(TypedDict, total=False):
    index: Required[str]
    total: int
    shown: int
    truncated: bool
    topics: list[Topic]
    block: MemoryBlock


class ToolOutput(TypedDict):
    output: str
    is_error: bool


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


class JournalEntry(TypedDict, total=False):
    """What happened to the user's sessions and memories; the memories that changed stand there by their URIs."""

    id: Required[str]
    type: Required[str]
    version: int
    at: str
    session_id: str
    archive: int
    first_seq: int
    last_seq: int
    task_id: str
    stage: str
    added: list[str]
    updated: list[str]
    deleted: list[str]
    reason: str


class Revision(TypedDict, total=False):
    """A version of a memory: when it was written, by whom, and from which messages came what it brought."""

    version: Required[int | None]
    at: Required[str]
    change: Required[str]
    by: str | None
    why: str | None
    current: bool
    title: str | None
    sha256: str | None
    lines: dict[str, Any] | None
    sources: list[dict[str, Any]] | None


class BlamedLine(TypedDict, total=False):
    """A line of a memory with where it comes from; without a source it is somebody's own."""

    line: Required[int]
    text: Required[str]
    source: dict[str, Any] | None
    quote: dict[str, Any] | None
    valid_until: str | None
    superseded_by: str | None


class ChangedMemory(TypedDict, total=False):
    """A memory that a rollback or rebuild has changed, or would change."""

    path: Required[str]
    change: Required[str | None]
    uri: str
    version: int | None
    sha256: str | None
    diff: str | None


class RolledBack(TypedDict):
    """What was changed, and what was left as it is, with the reason."""

    changed: list[ChangedMemory]
    conflicts: list[dict[str, Any]]


class Scrub(TypedDict):
    """A scrub, `running`, `waiting` to go over it all again, or `completed`; counts by area and by kind of secret."""

    scrub_id: str
    status: str
    stage: str
    session_id: str | None
    dry_run: bool
    begun_at: str
    ended_at: str | None
    error: str | None
    objects: dict[str, int]
    items: dict[str, int]
    changed: dict[str, int]
    versions: dict[str, int]
    findings: dict[str, int]
    names: dict[str, int]
    unreadable: dict[str, int]


class Rebuild(TypedDict, total=False):
    """How far a rebuild is: `finding`, `extracting`, `merging`, `ready` or `promoted`."""

    rebuild_id: Required[str]
    status: Required[str]
    again: bool
    session_id: str | None
    sessions: dict[str, int]
    archives: dict[str, int]
