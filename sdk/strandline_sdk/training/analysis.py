"""What was done in a rollout, read from its messages by rule; no model is asked."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from strandline_sdk.model import Message
from strandline_sdk.rollouts.model import Evaluation, Rollout
from strandline_sdk.training.values import Trajectory


class RuleAnalyzer:
    """Steps are the calls of tools, in order; the outcome follows from evaluation and ending."""

    def analyse(self, rollout: str, found: Rollout) -> Trajectory:
        """The trajectory of a rollout."""
        memory = found.get("metadata", {}).get("memory", {})
        steps = tuple(str(call["tool_name"]) for call in tool_calls(found["messages"]))
        outcome = outcome_of(found["evaluation"], found["messages"])
        return Trajectory(
            rollout, found["case"], outcome, steps, found["evaluation"], tuple(memory.get("read", ()))
        )


def outcome_of(evaluation: Evaluation, messages: Sequence[Message]) -> str:
    """success, partial or failure by what was evaluated; without an answer at the end unfinished."""
    if evaluation["passed"]:
        return "success"
    if not messages or messages[-1]["role"] == "user":
        return "unfinished"
    return "partial" if 0 < evaluation["score"] < 1 else "failure"


def tool_calls(messages: Sequence[Message]) -> Iterator[Mapping[str, Any]]:
    """The tool parts of messages, in order, each with the number of its message."""
    for number, message in enumerate(messages):
        for part in message.get("parts", ()):
            if part["type"] == "tool":
                yield {"message": number, "tool_name": part.get("tool_name", "tool"), **part}
