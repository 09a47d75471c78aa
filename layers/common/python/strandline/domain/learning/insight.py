"""What a language model is shown of a run, and what it says of it: the values on both sides of the `Analyst` port."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict

from strandline.domain.extraction import Usage
from strandline.domain.injection import injected
from strandline.domain.learning.steps import steps_of
from strandline.domain.learning.task import Task
from strandline.domain.learning.verdict import Verdict, witnesses
from strandline.domain.one_line import cut, one_line

MAX_CHARS = 24_000
"""Of what was said and done in a run: its beginning and its end."""

TURN_CHARS = 1_500
RESULT_CHARS = 600
"""Of one tool's result, where a run is to be judged: its beginning and its end."""

POINTS = 8
POINT_CHARS = 300


@dataclass(frozen=True)
class Attempt:
    """One run of a stored case: what it asks and wants, how it came out and why, what was said and done (a line each),
    what is known of such tasks so far, and what `others` say that ask the same, by path. One that nobody has judged
    is `to_judge`."""

    asks: str
    wanted: str
    verdict: str
    remarks: tuple[str, ...]
    told: tuple[str, ...]
    known: str = ""
    others: Mapping[str, str] = field(default_factory=dict)
    to_judge: bool = False


class Insight(BaseModel):
    """How to go about such a task, what to mind, and which of the others this takes the place of, by which model, at
    what cost; of a run that it was to judge also how that came out."""

    model_config = ConfigDict(frozen=True)

    model: str
    approach: tuple[str, ...] = ()
    reflect: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    verdict: Verdict | None = None
    usage: Usage | None = None


def told(task: Task) -> tuple[str, ...]:
    """What was said and done in a run, in order; of a long one the beginning and the end. Of a run that nobody has
    judged also what tools answered."""
    rows = [row for _, row in sorted(_rows(task), key=lambda each: each[0])]
    half = MAX_CHARS // 2
    first = list(_fitting(rows, half))
    last = list(_fitting(reversed(rows[len(first) :]), half))[::-1]
    left = len(rows) - len(first) - len(last)
    return (*first, *([f"({left} more)"] if left else []), *last)


def _rows(task: Task) -> Iterator[tuple[int, str]]:
    for message in task.messages:
        if message["role"] in ("user", "assistant"):
            text = one_line(_spoken(message), TURN_CHARS)
            if text:
                yield message["seq"], f"{message['role']}: {text}"
    for step in steps_of(task.messages):
        yield step.first, f"call: {step}"
    if task.evaluation is None:
        tools = (each for each in witnesses(task) if each.who == "tool" and each.text.strip())
        yield from ((each.seq, f"result: {_ends(each.text)}") for each in tools)


def _ends(text: str) -> str:
    """A text, or its beginning and its end, on one line."""
    line, half = one_line(text, len(text) + 1), RESULT_CHARS // 2
    return line if len(line) <= RESULT_CHARS else f"{line[:half]} … {line[-half:]}"


def _spoken(message: Mapping[str, Any]) -> str:
    if "content" in message:
        return str(message["content"])
    return "\n".join(part["text"] for part in message["parts"] if part["type"] == "text")


def _fitting(rows: Iterable[str], room: int) -> Iterator[str]:
    for row in rows:
        room -= len(row)
        if room < 0:
            return
        yield row


def points(given: Iterable[object]) -> tuple[str, ...]:
    """At most eight points, each on one line; none that is worded to take a model over."""
    lines = (cut(one_line(str(point)).lstrip("-*# "), POINT_CHARS) for point in given)
    return tuple(dict.fromkeys(line for line in lines if line and not injected(line)))[:POINTS]
