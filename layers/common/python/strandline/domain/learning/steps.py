"""What was done for a task: its tool calls in order, each with its result."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from strandline.domain.one_line import one_line
from strandline.domain.tool_calls import tool_parts

ERROR_CHARS = 160
SAID_CHARS = 200
_ERROR = re.compile(  # unless it is said to be none: {"error": null}, failed: 0
    r'(\W{0,3}|\{\s*")(error|exception|traceback|failed)\b(?!"?\s*:\s*(null|none|false|0|""|\[\s*\]|\{\s*\})(?!\w|\.\d))',
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Step:
    """One tool call. `arguments` are their names; `said` is the input in one short line; `error` what its result says
    when it failed; `open` while there is no result."""

    tool: str
    arguments: tuple[str, ...]
    said: str
    first: int
    last: int
    error: str | None = None
    open: bool = True

    @property
    def outcome(self) -> str:
        if self.open:
            return "no result"
        return f"failed: {self.error}" if self.error is not None else "done"

    def __str__(self) -> str:
        return f"`{self.tool}` {self.said}: {self.outcome}"


def steps_of(messages: Iterable[Mapping[str, Any]]) -> list[Step]:
    """The calls that stored messages tell of, in order of their beginning."""
    found: dict[str, Step] = {}
    closed: list[Step] = []
    for message in messages:
        for n, part in enumerate(tool_parts(message)):
            key = part.get("tool_id") or f"{message['seq']}/{n}"
            if key in found and not found[key].open:
                closed.append(found.pop(key))  # ids may be used again
            step = _answered(found.get(key) or _called(part, message["seq"]), part, message["seq"])
            if step.tool:
                found[key] = step
    return sorted((*closed, *found.values()), key=lambda step: step.first)


def inputs_of(messages: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """(tool, its input as text) of every call."""
    for message in messages:
        for part in tool_parts(message):
            if part.get("tool_input") is not None:
                yield part.get("tool_name", ""), json.dumps(part["tool_input"], ensure_ascii=False)


def _called(part: Mapping[str, Any], seq: int) -> Step:
    given = _input(part.get("tool_input"))
    names = tuple(one_line(str(name), 40) for name in given) if isinstance(given, dict) else ()
    said = "" if given in (None, "", {}) else json.dumps(given, ensure_ascii=False)
    return Step(one_line(part.get("tool_name", ""), 80), names[:12], one_line(said, SAID_CHARS), seq, seq)


def _input(given: Any) -> Any:
    try:
        return json.loads(given) if isinstance(given, str) else given
    except (ValueError, RecursionError):
        return given


def _answered(step: Step, part: Mapping[str, Any], seq: int) -> Step:
    output, status = part.get("tool_output"), part.get("tool_status")
    if output is None and status != "error":
        return step
    text = output or ""
    failed = status == "error" or _ERROR.match(text[:40]) is not None
    return replace(step, last=seq, open=False, error=one_line(text, ERROR_CHARS) if failed else None)
