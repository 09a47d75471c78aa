"""Runs of a task as an agent's framework commits them: a request, tool calls with results, and a judgement."""

from typing import Any

from strandline.domain.message import MessageIn
from strandline.pipeline.append import AppendRequest, run_append
from strandline.storage.layout import User
from tests.pipeline.world import ALICE, World

ASKED = "Hi, please cancel my reservation EHGLP3."
Calls = list[tuple[str, dict[str, Any], str]]
GOOD: Calls = [
    ("get_reservation", {"reservation_id": "EHGLP3"}, '{"cabin": "economy"}'),
    ("cancel_reservation", {"reservation_id": "EHGLP3"}, "cancelled"),
]
BAD: Calls = [("cancel_reservation", {"reservation_id": "EHGLP"}, "Error: reservation not found")]


def run(
    calls: Calls,
    *,
    asked: str = ASKED,
    case: dict[str, Any] | None = None,
    judged: dict[str, Any] | None = None,
    at: str = "2026-05-08T07:00:00Z",
    ids: str = "m",
) -> list[MessageIn]:
    """The messages of one run. `case` and `judged` are the metadata; None: there is none."""
    rows: list[dict[str, Any]] = [{"role": "user", "content": asked}]
    if case is not None:
        rows[0]["metadata"] = {"case": case}
    for n, (tool, given, output) in enumerate(calls):
        called = {"type": "tool", "tool_id": f"c{n}", "tool_name": tool}
        rows.append(
            {"role": "assistant", "parts": [{**called, "tool_input": given, "tool_status": "pending"}]}
        )
        rows.append({"role": "tool", "parts": [{**called, "tool_output": output}]})
    rows.append({"role": "assistant", "content": "It is done."})
    if judged is not None:
        said = {"content": "Evaluation of this run.", "message_kind": "evaluation"}
        rows.append({"role": "system", **said, "metadata": {"evaluation": judged}})
    return [
        MessageIn.model_validate({"id": f"{ids}{n}", "created_at": at, **row}) for n, row in enumerate(rows)
    ]


def learn(world: World, name: str, messages: list[MessageIn], owner: User = ALICE) -> None:
    """Appends, commits, and lets everything come to its end."""
    run_append(world.services(), AppendRequest(owner, name, messages))
    world.commit(name, owner)
    world.settle()
