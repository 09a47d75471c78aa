"""What the memory tool answers."""

from typing_extensions import TypedDict


class ToolOutput(TypedDict):
    """The text to hand to the model; `is_error` when the command could not be done, as the text says."""

    output: str
    is_error: bool
