"""What stands around every result, and what comes instead of one."""

from typing import Any, Literal

from typing_extensions import TypedDict


class Failure(TypedDict):
    """What went wrong. `code` says what to do about it, `details` names fields and values; `retryable`: the same
    request may succeed a moment later, and repeating it is safe."""

    code: str
    message: str
    details: dict[str, Any]
    retryable: bool
    request_id: str


class Error(TypedDict):
    """The envelope of a refusal."""

    status: Literal["error"]
    error: Failure
