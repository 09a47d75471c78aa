"""A case: what it is called, what a conversation proposes of it, and what is stored of it in the end."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from strandline.domain.extraction import Claim, Dropped, Proposal, Setting
from strandline.domain.graphemes import beginning
from strandline.domain.learning.task import INPUT_CHARS, Message, Task, tasks_of
from strandline.domain.memory import Memory
from strandline.domain.memory_types.cases import CASES
from strandline.domain.names import slug
from strandline.domain.one_line import one_line


def case_path(name: str) -> str:
    return f"cases/{slug(name)}.md"


def experience_path(signature: str) -> str:
    return f"experiences/{slug(signature)}.md"


# ---- the case, before it is merged


def case_proposals(
    messages: Sequence[Message], begun: Sequence[Message] = ()
) -> tuple[list[Proposal], list[Dropped]]:
    """The cases that an archive holds, as an extraction proposes them, and what was to be one and is none. That of a
    task that has `begun` in an earlier archive is that archive's."""
    tasks, wrong = tasks_of([*begun, *messages])
    first = messages[0]["seq"]
    dropped = [
        Dropped(reason=each.reason, memory_type="cases", seq_from=each.seq, seq_to=each.seq)
        for each in wrong
        if each.seq >= first
    ]
    return [proposed(task) for task in tasks if task.first >= first], dropped


def proposed(task: Task) -> Proposal:
    """The case of a task, as an extraction proposes it: in the words of its request."""
    seq = task.request.seq
    quote = beginning(task.request.text, INPUT_CHARS)
    fields = {
        "task_signature": one_line(task.given.task_signature, INPUT_CHARS),
        "input": task.asked,
        "rubric": one_line(task.given.wanted, 500),
    }
    said: dict[str, Any] = {"seq_from": seq, "seq_to": seq, "quote": quote}
    return Proposal(
        memory_type=CASES.name,
        fields={"name": task.name},
        claims=(Claim(text=one_line(task.request.text, INPUT_CHARS), field="evidence", **said),),
        settings=tuple(Setting(field=name, value=text, **said) for name, text in fields.items() if text),
    )


@dataclass(frozen=True)
class Case:
    """A case as it is stored: only this is trained on, whatever the conversation said of it. Its `signature` is its
    name where nobody has said of what kind it is (`is_of_a_kind`)."""

    path: str
    name: str
    signature: str
    input: str
    rubric: str = ""

    @property
    def is_of_a_kind(self) -> bool:
        return self.signature != self.name

    @property
    def experience(self) -> str:
        """The path of the experience of its kind."""
        return experience_path(self.signature)

    @staticmethod
    def stored(path: str, memory: Memory) -> "Case":
        known = {value.field: str(value.value) for value in memory.values}
        signature = known.get("task_signature", memory.title)
        return Case(path, memory.title, signature, known.get("input", signature), known.get("rubric", ""))
