"""A body that is understood whole, or refused."""

from pydantic import BaseModel, ConfigDict, Field

from strandline.domain.scalars import Switched


class Exact(BaseModel):
    """A request in which an unknown field is 400: were it passed over, a misspelt `dry_run` would do what it was to
    show, and a misspelt lifetime would never end."""

    model_config = ConfigDict(extra="forbid")

    telemetry: Switched = Field(default=False, description="whether the envelope tells what the answer took")
