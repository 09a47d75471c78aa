"""The tasks in a conversation, and how each was judged.

Both stand in the metadata of messages, where only whoever writes the session can put them; nothing that is said in a
message can claim to be a task or a judgement.

    metadata.case        where a task begins: {name?, task_signature?, input?, rubric?}
    metadata.evaluation  how it was judged: {passed?, score?, outcome?, feedback?, criteria?}
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from strandline.domain.injection import INSTRUCTION, injected
from strandline.domain.names import slug
from strandline.domain.one_line import cut, one_line

Outcome = Literal["success", "failure", "partial", "unfinished", "unknown"]
Message = Mapping[str, Any]

INPUT_CHARS = 500
NAME_CHARS = 60
MAX_TASKS = 20
"""Tasks taken from one archive."""

M = TypeVar("M", bound=BaseModel)


def _several(given: Any) -> Any:
    """One text stands for a list of one."""
    return [given] if isinstance(given, str) else given


class _Said(BaseModel):
    """What a client says in metadata. Many languages write what is absent as null."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _without_null(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return {name: value for name, value in given.items() if value is not None}


class Criterion(_Said):
    """One thing that a good answer has, and, in an evaluation, whether it had it."""

    name: str = Field(default="", max_length=500)
    description: str = Field(default="", max_length=2_000)
    required: bool = True
    passed: bool | None = None
    feedback: str = Field(default="", max_length=2_000)

    @property
    def said(self) -> str:
        return ": ".join(filter(None, (self.name, self.description)))

    @property
    def remark(self) -> str:
        """What a judgement says of it, once: that it was missed, and the feedback."""
        about = (self.name or self.description) if self.feedback else self.said
        told = ": ".join(filter(None, (about, self.feedback)))
        return f"not met: {told}" if self.passed is False and told else told if self.feedback else ""


class Given(_Said):
    """`metadata.case`."""

    name: str = Field(default="", max_length=200)
    task_signature: str = Field(default="", max_length=INPUT_CHARS)
    input: str = Field(default="", max_length=100_000)
    rubric: Annotated[tuple[str | Criterion, ...], BeforeValidator(_several)] = ()

    @property
    def wanted(self) -> str:
        """The rubric in one text."""
        return "; ".join(each if isinstance(each, str) else each.said for each in self.rubric)


class Evaluation(_Said):
    """`metadata.evaluation`. A score is between 0 and 1."""

    passed: bool | None = None
    score: float | None = Field(default=None, ge=0, le=1)
    outcome: Outcome | None = None
    feedback: Annotated[tuple[str, ...], BeforeValidator(_several)] = ()
    criteria: tuple[Criterion, ...] = ()

    @property
    def verdict(self) -> Outcome:
        """What it says of the run as one word."""
        if self.outcome is not None:
            return self.outcome
        score = 0.0 if self.score is None else self.score
        if self.passed or (self.passed is None and score >= 1):
            return "success"
        if self.passed is None and self.score is None:
            return "unknown"
        return "partial" if 0 < score < 1 else "failure"

    @property
    def has_passed(self) -> bool:
        return self.verdict == "success" if self.passed is None else self.passed

    @property
    def remarks(self) -> list[str]:
        """What it says went wrong or well, a remark a line."""
        of_each = sorted(self.criteria, key=lambda each: each.passed is not False)
        told = (*self.feedback, *(each.remark for each in of_each))
        return list(filter(None, (one_line(text, 200) for text in told)))


@dataclass(frozen=True)
class Request:
    """The message that asks: its seq and what it says."""

    seq: int
    text: str


@dataclass(frozen=True)
class Task:
    """One task: the messages that belong to it, its request, and how it was judged, if it was."""

    given: Given
    request: Request
    messages: Sequence[Message]
    evaluation: Evaluation | None
    judged_at: int | None = None

    @property
    def name(self) -> str:
        """What its case is called: as it was named, or by its request."""
        return one_line(self.given.name, 200) or _named_by(self.asked)

    @property
    def signature(self) -> str:
        return one_line(self.given.task_signature, INPUT_CHARS) or self.name

    @property
    def asked(self) -> str:
        """What it asks, in one short line: by this it is found."""
        return one_line(self.given.input or self.request.text, INPUT_CHARS)

    @property
    def first(self) -> int:
        return int(self.messages[0]["seq"])

    @property
    def last(self) -> int:
        return int(self.messages[-1]["seq"])


@dataclass(frozen=True)
class Unusable:
    """Something that was to be a task or a judgement and is none."""

    seq: int
    reason: str


def tasks_of(messages: Sequence[Message]) -> tuple[list[Task], list[Unusable]]:
    """The tasks of an archive (stored messages in seq order; before them those of a task that began earlier, `begun`),
    and what could not be used. A conversation without either key has none; one that was judged and names no task is
    about its first request."""
    wrong: list[Unusable] = []
    tasks: dict[str, Task] = {}
    for part in _parts(messages, wrong):
        task = _task(part, wrong)
        if task is None:
            continue
        if injected(
            f"{task.name}\n{task.signature}\n{task.asked}"
        ):  # an agent is shown these as what applies
            wrong.append(Unusable(task.request.seq, INSTRUCTION))
            continue
        if slug(task.name) in tasks or len(tasks) >= MAX_TASKS:
            wrong.append(Unusable(task.first, "this archive has a run of that case already, or too many"))
        tasks.setdefault(slug(task.name), task)  # names of one file are one case
    return list(tasks.values())[:MAX_TASKS], wrong


def _parts(messages: Sequence[Message], wrong: list[Unusable]) -> Iterator[tuple[Given, Sequence[Message]]]:
    """What belongs to each task: from where it begins to where the next does. What comes before the first is its."""
    begins = [
        (n, given) for n, message in enumerate(messages) if (given := _read(message, "case", Given, wrong))
    ]
    if not begins:
        begins = [(0, Given())]
    ends = [n for n, _ in begins[1:]] + [len(messages)]
    for position, ((start, given), end) in enumerate(zip(begins, ends, strict=True)):
        yield given, messages[start if position else 0 : end]


def _task(part: tuple[Given, Sequence[Message]], wrong: list[Unusable]) -> Task | None:
    given, messages = part
    judged = [(m["seq"], found) for m in messages if (found := _read(m, "evaluation", Evaluation, wrong))]
    if not judged and given == Given():
        return None
    asked = next((m for m in messages if m["role"] == "user" and _text(m).strip()), None)
    if asked is None:
        wrong.append(Unusable(int(messages[0]["seq"]), "nobody asks for anything in it"))
        return None
    seq, evaluation = judged[-1] if judged else (None, None)
    return Task(given, Request(int(asked["seq"]), _text(asked)), messages, evaluation, seq)


def _read(message: Message, key: str, kind: type[M], wrong: list[Unusable]) -> M | None:
    found = _metadata(message).get(key)
    if found is None:
        return None
    try:
        return kind.model_validate(found)
    except ValidationError as error:
        told = ((e["loc"], e["msg"].removesuffix(f" or instance of {kind.__name__}")) for e in error.errors())
        problems = "; ".join(f"{'.'.join(map(str, where)) or key}: {what}" for where, what in told)
        wrong.append(Unusable(int(message["seq"]), f"its metadata.{key} is not valid: {problems[:300]}"))
        return None


def names(message: Message) -> bool:
    """Whether a task begins with it."""
    return _read(message, "case", Given, []) is not None


def judges(message: Message) -> bool:
    """Whether it says how a task came out."""
    return _read(message, "evaluation", Evaluation, []) is not None


def _metadata(message: Message) -> Mapping[str, Any]:
    found = message.get("metadata")
    return found if isinstance(found, dict) else {}


def _text(message: Message) -> str:
    if "content" in message:
        return str(message["content"])
    return "\n".join(part["text"] for part in message["parts"] if part["type"] == "text")


def _named_by(request: str) -> str:
    digest = hashlib.sha256(request.casefold().encode()).hexdigest()[:6]
    return f"{cut(request, NAME_CHARS).rstrip('…').strip()} {digest}"
