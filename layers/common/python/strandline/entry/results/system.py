"""What the service says of itself."""

from typing import Literal

from typing_extensions import TypedDict


class Health(TypedDict):
    """The service answers."""

    status: Literal["ok"]
    version: str
