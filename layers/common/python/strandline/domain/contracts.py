"""The queue messages, versioned. They carry references, never content: what they name is read from the store."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


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


class CommitRequested(BaseModel):
    """Archive what is live in a session."""

    model_config = ConfigDict(frozen=True)

    type: Literal["CommitRequested"] = "CommitRequested"
    version: Literal[1] = 1
    session: SessionRef
    keep_recent_count: int = Field(default=0, ge=0, le=10_000)


class ExtractRequested(BaseModel):
    """Extract memories from one archive."""

    model_config = ConfigDict(frozen=True)

    type: Literal["ExtractRequested"] = "ExtractRequested"
    version: Literal[1] = 1
    session: SessionRef
    archive: int = Field(ge=1)
    first: int = Field(ge=1, description="seq of the archive's first message")
    last: int = Field(ge=1, description="seq of its last message")
    task_id: str


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


Message = CommitRequested | ExtractRequested | MergeRequested
