"""What the memory tool answers."""

from typing_extensions import TypedDict


class ToolOutput(TypedDict):
    """The text to give back to the model; `is_error` when the command could not be carried out, for the reason in
    the text."""

    output: str
    is_error: bool
