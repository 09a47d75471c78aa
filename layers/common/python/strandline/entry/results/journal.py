"""Events as the journal shows them."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict


class JournalEvent(TypedDict):
    """An event, as on the bus (strandline/domain/events.py). Which of the optional fields are there goes by `type`."""

    id: str
    type: Literal["SessionCommitted", "MemoryChanged", "TaskFailed", "SessionDeleted"]
    version: int
    at: str
    account_id: str
    user_id: str
    session_id: NotRequired[str]
    archive: NotRequired[int]
    first_seq: NotRequired[int]
    last_seq: NotRequired[int]
    task_id: NotRequired[str]
    stage: NotRequired[str]
    added: NotRequired[list[str]]
    updated: NotRequired[list[str]]
    deleted: NotRequired[list[str]]
    reason: NotRequired[Literal["rollback", "rebuild", "scrub"]]
