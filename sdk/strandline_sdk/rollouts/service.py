"""What a rollout service does, whatever carries its answers: cases by page, rollouts by threads, executions on disk.

Whoever has cases and an agent writes `cases` and `attempt`; `server` puts this on a port.
"""

import hashlib
import json
import logging
import queue
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from strandline_sdk.model import Message
from strandline_sdk.rollouts.clock import Clock, SystemClock, stamp
from strandline_sdk.rollouts.model import (
    Case,
    CasePage,
    CasesQuery,
    Evaluation,
    ExecuteRequest,
    Execution,
    Health,
    Rollout,
    Usage,
)
from strandline_sdk.rollouts.policies import Experiences, PolicySet
from strandline_sdk.rollouts.reader import PolicyReader
from strandline_sdk.rollouts.scrub import Scrubber
from strandline_sdk.rollouts.spool import Spool

_log = logging.getLogger(__name__)
LONGEST_QUEUE = 1_000
KEPT_SECONDS = 7 * 86_400
_ERROR_CHARS = 500


@dataclass(frozen=True)
class Attempt:
    """A case to be tried, with the experiences to try it by; `options` as the trainer gave them, with a `seed`."""

    case: Case
    experiences: Experiences
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What came of an attempt."""

    messages: Sequence[Message]
    evaluation: Evaluation
    usage: Usage = field(default_factory=Usage)


class Busy(Exception):
    """So many executions wait that no more are taken."""


class BadCursor(ValueError):
    """A cursor that this service did not give."""


Cases = Callable[[CasesQuery], Sequence[Case]]
"""All cases of a split, always in the same order. Raises LookupError for a data set that is not there."""
Try = Callable[[Attempt], Outcome]
"""Tries a case, once. Whatever it raises fails the execution, with what it says as the error."""


class RolloutService:
    """`cases` and `attempt`, with `concurrency` rollouts at a time and the directory `spool` to remember them in."""

    def __init__(
        self, name: str, cases: Cases, attempt: Try, spool: Path, *, concurrency: int = 4, **beside: Any
    ) -> None:
        """`beside`: `clock`, `reader`, for tests."""
        self.name = name
        self._cases = cases
        self._attempt = attempt
        self._spool = Spool(spool)
        self._concurrency = concurrency
        self._clock: Clock = beside.get("clock") or SystemClock()
        self._reader: PolicyReader = beside.get("reader") or PolicyReader(self._spool)
        self._waiting: queue.Queue[str | None] = queue.Queue()
        self._scrubber = Scrubber()

    def start(self) -> None:
        """Begins to work: first on what a former process has left. What ended a week ago is forgotten."""
        self._spool.forget(self._clock.now().timestamp() - KEPT_SECONDS)
        for identity, _ in self._spool.unfinished():
            self._waiting.put(identity)
        for n in range(self._concurrency):
            threading.Thread(target=self._work, name=f"rollout-{n}", daemon=True).start()

    def stop(self) -> None:
        """Takes no more from the queue; what runs or waits is run again after the next start."""
        while not self._waiting.empty():
            self._waiting.get_nowait()
        for _ in range(self._concurrency):
            self._waiting.put(None)

    # ---- what is asked -----------------------------------------------------------------------------------

    def health(self) -> Health:
        """How it is; what waits counts as running."""
        return {
            "status": "ok",
            "service": self.name,
            "max_rollout_concurrency": self._concurrency,
            "rollout_executions": self._spool.counts(),
        }

    def query(self, wanted: CasesQuery) -> CasePage:
        """A page of cases. Raises BadCursor, and LookupError from `cases`."""
        cursor = wanted["cursor"] or "0"
        if not cursor.isdecimal():
            raise BadCursor("cursor: not one of this service's")
        found = self._cases(wanted)
        first, last = int(cursor), int(cursor) + wanted["limit"]
        rest = str(last) if last < len(found) else None
        return {"cases": list(found[first:last]), "next_cursor": rest}

    def execute(self, request: ExecuteRequest, key: str | None, policy_token: str | None) -> Execution:
        """Takes a rollout on, or finds the one that was taken on by this key. The token is used here, once, to read the
        snapshot, and kept nowhere. Raises Busy, and ValueError or OSError when the policies cannot be read."""
        identity = f"rollout_exec_{_digest(key) if key else secrets.token_hex(16)}"
        if (known := self.execution(identity)) is not None:
            return known
        if self._waiting.qsize() >= LONGEST_QUEUE:
            raise Busy("too many executions wait")
        self._reader.fetch(request, policy_token)
        now = stamp(self._clock.now())
        times = {"created_at": now, "updated_at": now}
        record = {"case_name": request["case"]["name"], **times, "error": None, "request": request}
        if self._spool.accept(identity, self._scrubber.document(record)):
            self._waiting.put(identity)
        return cast(Execution, self.execution(identity))

    def execution(self, identity: str) -> Execution | None:
        """How far an execution is; None for an unknown one."""
        found = self._spool.find(identity)
        if found is None:
            return None
        state, record = found
        shown = {name: value for name, value in record.items() if name != "request"}
        return cast(Execution, {"execution_id": identity, "status": state, "duration_ms": None, **shown})

    # ---- the work ----------------------------------------------------------------------------------------

    def _work(self) -> None:
        while (identity := self._waiting.get()) is not None:
            try:
                found = self._spool.find(identity)
                if found and found[0] == "running":
                    self._run(identity, found[1])
            except Exception:  # noqa: BLE001 - its end cannot be stored: it is run again after the next start
                _log.exception("%s could not be ended", identity)

    def _run(self, identity: str, record: dict[str, Any]) -> None:
        began = self._clock.monotonic()
        ended: dict[str, Any]
        try:
            ended = {"rollout": self._scrubber.document(self._try(record["request"]))}
            json.dumps(ended)  # an agent may answer what is no JSON
        except (Exception, SystemExit) as error:  # noqa: BLE001 - or raise anything: it is this execution's end alone
            ended = {"error": f"{type(error).__name__}: {error}"[:_ERROR_CHARS]}
        kept = {name: value for name, value in record.items() if name != "request"}
        spent = round(1000 * (self._clock.monotonic() - began))
        times = {"updated_at": stamp(self._clock.now()), "duration_ms": spent}
        whole = self._scrubber.document({**kept, **times, **ended})
        self._spool.end(identity, "completed" if "rollout" in ended else "failed", whole)

    def _try(self, request: ExecuteRequest) -> Rollout:
        policies: PolicySet = self._reader.read(request)
        experiences = Experiences(policies)
        outcome = self._attempt(Attempt(request["case"], experiences, request["options"]))
        return {
            "case": request["case"],
            "messages": list(outcome.messages),
            "policy_snapshot_id": request["execution_context"]["policy_snapshot_id"],
            "evaluation": outcome.evaluation,
            "metadata": {"usage": outcome.usage, "memory": experiences.use()},
        }


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:32]
