"""How long a memory is to live, as a request says it."""

from dataclasses import replace
from datetime import datetime

from pydantic import BaseModel, Field

from strandline.domain.errors import InvalidArgument
from strandline.domain.expiry import MAX_TTL_SECONDS
from strandline.domain.scalars import Whole
from strandline.domain.times import stamp
from strandline.storage.markdown import Edit


class Lifetime(BaseModel):
    """A memory expires `ttl_seconds` after each write, or at `expires_at`; null removes an expiry. With neither
    field the memory keeps the expiry it has."""

    ttl_seconds: Whole | None = Field(default=None, ge=1, le=MAX_TTL_SECONDS)
    expires_at: str | None = None

    def of(self, edit: Edit) -> Edit:
        """The edit with this lifetime. Raises InvalidArgument."""
        if self.model_fields_set.isdisjoint(Lifetime.model_fields):
            return edit
        if self.ttl_seconds is not None and self.expires_at is not None:
            raise InvalidArgument("expires_at: send it or ttl_seconds, not both")
        return replace(edit, sets_expiry=True, ttl_seconds=self.ttl_seconds, expires_at=self._until())

    def _until(self) -> str | None:
        if self.expires_at is None:
            return None
        try:
            return stamp(datetime.fromisoformat(self.expires_at))
        except (ValueError, OverflowError) as error:
            raise InvalidArgument("expires_at: a time such as 2026-12-31T00:00:00Z") from error
