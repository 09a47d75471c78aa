"""Keeps a rollout as a session of its own: appended, committed, once, however often it is repeated.

What learning needs of it travels as metadata, which no text of a message can forge: `case` on the message where the
task begins, `evaluation` on a last one of its own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, cast

from strandline_sdk.client import Client
from strandline_sdk.errors import ApiError
from strandline_sdk.importers.session_ids import accepted
from strandline_sdk.model import Message, Task
from strandline_sdk.rollouts.clock import Clock, SystemClock, stamp
from strandline_sdk.rollouts.model import Evaluation, Rollout
from strandline_sdk.training.values import Planned
from strandline_sdk.upload import batches

LEARNING = ("experiences",)


@dataclass(frozen=True)
class SessionRecorder:
    """Sessions `train-<run>-…` of the client's user, with messages as said from `began` on. `types`: what is remembered
    of them; nothing, unless the service is to learn from them by itself. `timeout`: seconds for all that follows a
    commit."""

    client: Client
    run: str
    types: tuple[str, ...] = ()
    began: datetime | None = None
    timeout: float = 600.0
    clock: Clock = field(default_factory=SystemClock, repr=False)

    def record(self, planned: Planned, rollout: Rollout) -> Mapping[str, Any]:
        """Appends and commits it, and waits for what follows. Raises ApiError, TimeoutError."""
        session = accepted(f"train-{self.run}-{planned.group}-{planned.name}")
        self._create(session)
        for batch in batches(list(messages(planned, rollout, self._time(planned)))):
            self.client.append_batch(session, batch)
        end = self.clock.monotonic() + self.timeout
        task = self._committed(session, end)
        self.client.wait_for_archives(session, timeout=self._left(end))
        archives = [archive["uri"] for archive in self.client.archives(session) if "uri" in archive]
        told = {
            "session_id": session,
            "archives": archives,
            "status": task["status"] if task else "completed",
        }
        return {**told, "error": task.get("error") if task else None, **self._learnt(task, end)}

    def _committed(self, session: str, end: float) -> Task | None:
        """The commit once it has ended: this one, or, where nothing was left to be archived, the one that a killed run
        has begun."""
        task_id = self.client.commit(session)["task_id"] or self._begun_before(session)
        return self.client.wait_for_task(task_id, timeout=self._left(end)) if task_id else None

    def _begun_before(self, session: str) -> str | None:
        tasks = self.client.tasks(task_type="session_commit", resource_id=session, page_size=1)
        return next((task["task_id"] for task in tasks), None)

    def _left(self, end: float) -> float:
        return max(0.0, end - self.clock.monotonic())

    def _time(self, planned: Planned) -> str | None:
        """Learning goes by the times of conversations: in the order of plans, not in that of ending."""
        return stamp(self.began + timedelta(milliseconds=planned.order)) if self.began else None

    def _create(self, session: str) -> None:
        policy = {"memory_types": list(self.types), "working_memory": {"enabled": False}}
        try:
            self.client.create_session(session, memory_policy=policy, auto_commit_policy=None)
        except ApiError as error:
            if error.code != "ALREADY_EXISTS":
                raise

    def _learnt(self, task: Task | None, end: float) -> dict[str, Any]:
        """What the service has learnt of it, where it does."""
        follows = (task.get("result") or {}).get("learn_task_id") if task else None
        if not follows:
            return {}
        learnt = self.client.wait_for_task(follows, timeout=self._left(end))
        told = {"status": learnt["status"], "error": learnt.get("error"), **(learnt.get("result") or {})}
        changed = told.get("learn_diff_uri")
        return {"learn": {**told, "diff": self.client.diff(changed) if changed else None}}


def messages(planned: Planned, rollout: Rollout, at: str | None = None) -> Iterator[Message]:
    """The rollout's messages with ids, the case on the first of a user, and the evaluation behind the last; said at
    that time."""
    marked = False
    said = {"created_at": at} if at else {}
    for number, message in enumerate(rollout["messages"]):
        sent = cast(Message, {**message, **said, "id": f"m{number}"})
        if not marked and message["role"] == "user":
            marked = True
            sent["metadata"] = {**message.get("metadata", {}), "case": _case(planned)}
        yield sent
    verdict = "passed" if rollout["evaluation"]["passed"] else "not passed"
    last = {
        "id": "evaluation",
        "role": "system",
        "message_kind": "evaluation",
        "content": f"Evaluation: {verdict}",
    }
    yield cast(Message, {**last, **said, "metadata": {"evaluation": _evaluation(rollout["evaluation"])}})


def _case(planned: Planned) -> dict[str, Any]:
    case = planned.case
    asked = case["input"] if isinstance(case["input"], str) else None
    told = {"name": case["name"], "task_signature": case["task_signature"], "input": asked}
    criteria = case.get("rubric", {}).get("criteria")
    known = ("name", "description", "required", "weight")
    rubric = [{k: v for k, v in one.items() if k in known} for one in criteria or ()]
    return {**{k: v for k, v in told.items() if v is not None}, **({"rubric": rubric} if rubric else {})}


def _evaluation(found: Evaluation) -> dict[str, Any]:
    told = {"passed": found["passed"], "score": found["score"], "feedback": found.get("feedback", [])}
    return {**told, "criteria": [dict(result) for result in found.get("criterion_results", ())]}
