"""How a run came out as a language model judges it, where nobody else has.

It is believed by what others than the agent say behind the request: words of the user's, or of a tool's result, that
stand there as they are quoted. What was found to speak to models bears out nothing. That a run is unfinished, or that
nothing shows how it came out, claims nothing and needs no words.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import BaseModel, ConfigDict

from strandline.domain.injection import injected
from strandline.domain.language_model.quotes import in_whole_words, is_telling, said
from strandline.domain.learning.task import Outcome, Task
from strandline.domain.screening import INJECTION
from strandline.domain.tool_calls import tool_parts
from strandline.domain.transcribing import text_of

CLAIMS = ("success", "failure", "partial")
"""Outcomes that must be borne out."""


class Verdict(BaseModel):
    """What a model says: the outcome, and the words that show it."""

    model_config = ConfigDict(frozen=True)

    outcome: Outcome
    quote: str = ""


@dataclass(frozen=True)
class Witness:
    """What the user, or a tool, said in a message."""

    seq: int
    who: Literal["user", "tool"]
    text: str


@dataclass(frozen=True)
class Judgement:
    """An outcome, by which model, and what bears it out, where it claims something."""

    outcome: Outcome
    by: str
    witness: Witness | None = None


def believed(task: Task, verdict: Verdict | None, by: str) -> Judgement | None:
    """The judgement that a verdict is; None where its words are nowhere to be found, and where a client has judged."""
    if verdict is None or task.evaluation is not None:
        return None
    if verdict.outcome not in CLAIMS:
        return Judgement(verdict.outcome, by)
    for witness in witnesses(task):
        quote = said(verdict.quote, witness.text)
        if quote is not None and _bears_out(quote, witness.text):
            return Judgement(verdict.outcome, by, replace(witness, text=quote))
    return None


def _bears_out(quote: str, text: str) -> bool:
    return is_telling(quote, text) and in_whole_words(quote, text) and not injected(quote)


def witnesses(task: Task) -> Iterator[Witness]:
    """What the user and the tools said behind the request, in order."""
    for message in task.messages:
        seq = int(message["seq"])
        if seq <= task.request.seq or INJECTION in message.get("flags", ()):
            continue
        if message["role"] == "user":
            yield Witness(seq, "user", text_of(message))
        elif message["role"] == "tool":
            yield Witness(seq, "tool", text_of(message))
        for part in tool_parts(message):
            yield Witness(seq, "tool", part.get("tool_output") or "")
