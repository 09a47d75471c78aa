"""The queue messages, versioned. Those between stages carry references, never content: what they name is read from the
store. Only AppendRequested, which comes from outside, brings messages."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from strandline.domain.message import MAX_BATCH, Identifier, MessageIn

NAME_CHARS = 64  # of a task or a lease


class SessionRef(BaseModel):
    """Whose session, and which life of it: an incarnation never comes twice, so nothing meant for a deleted session
    can reach its successor."""

    model_config = ConfigDict(frozen=True)

    account_id: str
    user_id: str
    session_id: str
    incarnation: str = ""

    @property
    def owner(self) -> str:
        """The FIFO group of a user's merges."""
        return f"{self.account_id}/{self.user_id}"


class AppendRequested(BaseModel):
    """Append messages to a session; what an event-driven producer puts into the ingest queue. Sent again with the same
    `idempotency_key` (without one: delivered again), messages that have no id of their own are recognised."""

    # built at its first use: the function that reads it answers HTTP too
    model_config = ConfigDict(frozen=True, defer_build=True, hide_input_in_errors=True)

    type: Literal["AppendRequested"]
    version: Literal[1]
    account_id: Identifier
    user_id: Identifier
    session_id: Identifier
    messages: list[MessageIn] = Field(min_length=1, max_length=MAX_BATCH)
    idempotency_key: str | None = Field(default=None, min_length=1, max_length=255)


class SessionRequest(BaseModel):
    """What every message between stages says: which it is, and about which session."""

    model_config = ConfigDict(frozen=True)

    type: str
    version: Literal[1] = 1
    session: SessionRef


class ArchiveRequest(SessionRequest):
    """A message about one archive of the session."""

    archive: int = Field(ge=1)
    first: int = Field(ge=1, description="seq of the archive's first message")
    last: int = Field(ge=1, description="seq of its last message")
    task_id: str


class CommitRequested(SessionRequest):
    """Archive the live messages of a session. With a `task_id` the session's own policy asks for it: whether to commit,
    and which messages stay live, is decided again when this is handled, and `lease` is released then. With `through`
    its context asks for it: what is live up to that seq is archived, whatever the policy says."""

    type: Literal["CommitRequested"] = "CommitRequested"
    keep_recent_count: int = Field(default=0, ge=0, le=10_000)
    task_id: str | None = Field(default=None, max_length=NAME_CHARS)
    lease: str | None = Field(default=None, max_length=NAME_CHARS)
    through: int | None = Field(default=None, ge=1)


class ExtractRequested(ArchiveRequest):
    """Extract memories from one archive. For a `rebuild`, named by its id, they are stored for that rebuild only, and
    the messages may still be live."""

    type: Literal["ExtractRequested"] = "ExtractRequested"
    rebuild: str = ""


class SummariseRequested(SessionRequest):
    """Bring a session's working memory up to date with its live messages up to `through`; `lease` is released then."""

    type: Literal["SummariseRequested"] = "SummariseRequested"
    through: int = Field(ge=1, description="seq of the last message")
    lease: str | None = Field(default=None, max_length=NAME_CHARS)


class MergeRequested(ArchiveRequest):
    """Merge the stored candidates of one archive into the user's memories."""

    type: Literal["MergeRequested"] = "MergeRequested"


class LearnRequested(ArchiveRequest):
    """Learn from the cases of one archive whose memories are merged. `task_id` is the lesson's own task."""

    type: Literal["LearnRequested"] = "LearnRequested"


class EraseRequested(SessionRequest):
    """Go on with what is being erased: what is left of a deleted session, a user (no `session_id`), or an account (no
    `user_id` either); or with the scrub of that id, which takes the secrets out of what is stored of a user and erases
    the versions that held them."""

    type: Literal["EraseRequested"] = "EraseRequested"
    scope: Literal["session", "user", "account", "scrub"]
    scrub: str = Field(default="", max_length=NAME_CHARS)


Message = (
    EraseRequested | CommitRequested | ExtractRequested | SummariseRequested | MergeRequested | LearnRequested
)
