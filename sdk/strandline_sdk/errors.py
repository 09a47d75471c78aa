"""The one error of the client: what the service answered, or why it could not be asked."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False)
class ApiError(Exception):
    """A refused or failed request.

    `code` is one of the service's error codes; `retryable` says whether the same request may succeed later (the
    client has repeated it before raising). `status` is None when no answer arrived at all.
    """

    code: str
    message: str
    details: Mapping[str, Any] = field(default_factory=dict)
    retryable: bool = False
    status: int | None = None
    request_id: str | None = None
    retry_after: float | None = None

    @property
    def overtaken(self) -> bool:
        """Whether an append came behind others than it expected: it is for the caller to look again."""
        return "last_seq" in self.details

    def __str__(self) -> str:
        request = f" (request {self.request_id})" if self.request_id else ""
        return f"{self.code}: {'; '.join((self.message, *self._more()))}{request}"

    def _more(self) -> Iterator[str]:
        """The faulty fields that the message does not name."""
        for error in self.details.get("validation_errors") or ():
            field_error = f"{error.get('field')}: {error.get('message')}"
            if field_error not in self.message:
                yield field_error
