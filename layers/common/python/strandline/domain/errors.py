"""Errors by what the caller should do about them.

StrandlineError
├── InvalidArgument, InvalidUri   change the request            400
├── Unauthenticated               send a valid key              401
├── PermissionDenied              use another key               403
├── NotFound                      it is not there, or not yours 404
├── AlreadyExists                 look at what is there first   409
├── Conflict                      wait for what is going on     409
├── Aborted                       repeat the request as it is   409, retryable: nothing was written
├── IdempotencyMismatch           give each request its own key 409
├── ContextBlocked                wait, or mend what fails      409, retryable: the context cannot be made smaller
├── FailedPrecondition            read again, then decide       412
├── PayloadTooLarge               send less                     413
├── ResourceExhausted             wait, then repeat             429, retryable: nothing was done
├── Corrupt                       look into the bucket          500
├── Unimplemented                 do without it                 501
└── Unavailable                   repeat later                  503, retryable: perhaps done; repeating is safe
"""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

if TYPE_CHECKING:
    from strandline.domain.extraction import Usage


class StrandlineError(Exception):
    """Base of every error a caller may see. `details` is shown to the caller: never put a secret or content in it."""

    code: ClassVar[str] = "INTERNAL"
    status: ClassVar[int] = 500
    retryable: ClassVar[bool] = False
    retry_after: int = 1
    """Seconds that a caller of something retryable should wait."""

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details: Mapping[str, Any] = details

    def in_seconds(self, wait: float) -> Self:
        """The same error, to be repeated after that many seconds (whole ones, at least one)."""
        self.retry_after = max(1, math.ceil(wait))
        return self


class Corrupt(StrandlineError):
    """What is stored is missing, or this version cannot read it."""


class InvalidArgument(StrandlineError):
    code, status = "INVALID_ARGUMENT", 400


class InvalidUri(StrandlineError):
    code, status = "INVALID_URI", 400


class Unauthenticated(StrandlineError):
    code, status = "UNAUTHENTICATED", 401


class PermissionDenied(StrandlineError):
    code, status = "PERMISSION_DENIED", 403


class NotFound(StrandlineError):
    code, status = "NOT_FOUND", 404


class AlreadyExists(StrandlineError):
    code, status = "ALREADY_EXISTS", 409


class Conflict(StrandlineError):
    code, status = "CONFLICT", 409


class Aborted(StrandlineError):
    code, status, retryable = "ABORTED", 409, True


class ContextBlocked(StrandlineError):
    code, status, retryable = "CONTEXT_BLOCKED", 409, True


class FailedPrecondition(StrandlineError):
    code, status = "FAILED_PRECONDITION", 412


class IdempotencyMismatch(StrandlineError):
    code, status = "IDEMPOTENCY_MISMATCH", 409


class PayloadTooLarge(StrandlineError):
    code, status = "PAYLOAD_TOO_LARGE", 413


class Unimplemented(StrandlineError):
    code, status = "UNIMPLEMENTED", 501


class ResourceExhausted(StrandlineError):
    code, status, retryable = "RESOURCE_EXHAUSTED", 429, True


class Unavailable(StrandlineError):
    code, status, retryable = "UNAVAILABLE", 503, True


class ExtractionFailed(Exception):
    """No valid extraction of an archive; the text says why. `final` when another attempt cannot help.

    `usage` is what a language model has cost all the same.
    """

    def __init__(self, reason: str, *, final: bool = False, usage: "Usage | None" = None) -> None:
        super().__init__(reason)
        self.final = final
        self.usage = usage


class AnswerCut(ExtractionFailed):
    """A language model's answer did not fit into its output limit: ask about less at once."""
