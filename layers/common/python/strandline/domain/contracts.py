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


class CommitRequested(BaseModel):
    """Archive what is live in a session. With a `task_id` the session's own policy asks for it: whether, and what stays
    live, is decided again when it is done; `lease` is let go of then. With `through` its context asks for it: what is
    live up to that seq is archived whatever the policy."""

    model_config = ConfigDict(frozen=True)

    type: Literal["CommitRequested"] = "CommitRequested"
    version: Literal[1] = 1
    session: SessionRef
    keep_recent_count: int = Field(default=0, ge=0, le=10_000)
    task_id: str | None = Field(default=None, max_length=NAME_CHARS)
    lease: str | None = Field(default=None, max_length=NAME_CHARS)
    through: int | None = Field(default=None, ge=1)


class ExtractRequested(BaseModel):
    """Extract memories from one archive. For a `rebuild`, named by its id, they are only noted, and its messages may be
    live yet."""

    model_config = ConfigDict(frozen=True)

    type: Literal["ExtractRequested"] = "ExtractRequested"
    version: Literal[1] = 1
    session: SessionRef
    archive: int = Field(ge=1)
    first: int = Field(ge=1, description="seq of the archive's first message")
    last: int = Field(ge=1, description="seq of its last message")
    task_id: str
    rebuild: str = ""


class SummariseRequested(BaseModel):
    """Bring a session's working memory up to date with its live messages up to `through`; `lease` is let go of then."""

    model_config = ConfigDict(frozen=True)

    type: Literal["SummariseRequested"] = "SummariseRequested"
    version: Literal[1] = 1
    session: SessionRef
    through: int = Field(ge=1, description="seq of the last message")
    lease: str | None = Field(default=None, max_length=NAME_CHARS)


class MergeRequested(BaseModel):
    """Merge the stored candidates of one archive into the user's memories."""

    model_config = ConfigDict(frozen=True)

    type: Literal["MergeRequested"] = "MergeRequested"
    version: Literal[1] = 1
    session: SessionRef
    archive: int = Field(ge=1)
    first: int = Field(ge=1)
    last: int = Field(ge=1)
    task_id: str


class LearnRequested(BaseModel):
    """Learn from the cases of one archive, which are merged. `task_id` is the lesson's own task."""

    model_config = ConfigDict(frozen=True)

    type: Literal["LearnRequested"] = "LearnRequested"
    version: Literal[1] = 1
    session: SessionRef
    archive: int = Field(ge=1)
    first: int = Field(ge=1)
    last: int = Field(ge=1)
    task_id: str


class EraseRequested(BaseModel):
    """Erase what is left of a deleted session's life; or go on with the erasure of a user (no `session_id`) or of an
    account (no `user_id` either) that is under way; or with the scrub of that id: what is stored of a user loses its
    secrets, and the versions that held them are erased."""

    model_config = ConfigDict(frozen=True)

    type: Literal["EraseRequested"] = "EraseRequested"
    version: Literal[1] = 1
    scope: Literal["session", "user", "account", "scrub"]
    session: SessionRef
    scrub: str = Field(default="", max_length=NAME_CHARS)


Message = (
    EraseRequested | CommitRequested | ExtractRequested | SummariseRequested | MergeRequested | LearnRequested
)
