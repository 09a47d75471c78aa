"""The memory tool: the six commands that models know, over the user's memories."""

from typing import Any, Literal, Self

from pydantic import BaseModel, Field, model_validator

from strandline.domain.errors import Aborted, Conflict
from strandline.domain.scalars import Whole
from strandline.entry.answers import answers
from strandline.entry.http import ok
from strandline.entry.results.memory_tool import ToolOutput
from strandline.entry.routes.asking import acting_peer, new_router, owner
from strandline.entry.wiring import library
from strandline.pipeline.memory_tool import MemoryTool, answer

router = new_router()

NEEDS = {
    "view": ("path",),
    "create": ("path", "file_text"),
    "str_replace": ("path", "old_str"),
    "insert": ("path", "insert_line", "insert_text"),
    "delete": ("path",),
    "rename": ("old_path", "new_path"),
}
TAKES = {**NEEDS, "view": ("path", "view_range"), "str_replace": ("path", "old_str", "new_str")}


class ToolCall(BaseModel):
    """A call of the memory tool as a model makes it: `view` takes path and view_range, `create` path and file_text,
    `str_replace` path, old_str and new_str (nothing: deletes), `insert` path, insert_line (0: at the top) and
    insert_text, `delete` path, `rename` old_path and new_path. Paths begin with /memories."""

    command: Literal["view", "create", "str_replace", "insert", "delete", "rename"]
    path: str | None = None
    view_range: tuple[Whole, Whole] | None = Field(
        default=None, description="first and last line; -1: to the end"
    )
    file_text: str | None = None
    old_str: str | None = None
    new_str: str | None = None
    insert_line: Whole | None = None
    insert_text: str | None = None
    old_path: str | None = None
    new_path: str | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        missing = [name for name in NEEDS[self.command] if getattr(self, name) is None]
        if missing:
            raise ValueError(f"{self.command} needs {', '.join(missing)}")
        return self

    @property
    def arguments(self) -> dict[str, Any]:
        """What the command takes, of what was sent."""
        sent = {name: getattr(self, name) for name in TAKES[self.command]}
        return {name: value for name, value in sent.items() if value is not None}


@router.post("/api/v1/memory-tool")
@answers(ToolOutput, Aborted, Conflict, headers=("ActorPeer",))
def run_memory_tool(body: ToolCall) -> dict[str, Any]:
    """One command of the memory tool. A command that cannot be carried out is answered with `is_error` and the
    reason, for the model to act on."""
    known = library()
    tool = MemoryTool(known, owner(router), acting_peer(router))
    output, is_error = answer(lambda: getattr(tool, body.command)(**body.arguments))
    return ok({"output": output, "is_error": is_error}, known.clock)
