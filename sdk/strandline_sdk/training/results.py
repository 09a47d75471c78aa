"""A run on disk.

    <root>/<dataset>/latest                      the name of the newest run
    <root>/<dataset>/cache/baseline/<key>.json   evaluations of a baseline, for the next run with the same options
    <root>/<dataset>/run_<domain>_<time>/
        report.json            what the run came to: the same for two runs with the same seed
        rollouts_index.json    every rollout with its place
        events.jsonl           what happened when, a line each; what is said there has been done
        policies/<id>.json     every snapshot, whole
        rollouts/<group>/<rollout>/{memory_context.md, messages.json, tool_calls.json, evaluation.json,
                                    commit_result.json, memory_diff.json}, or error.json

A rollout is finished when `events.jsonl` says so: its files were written before. All of it goes through the scrubber.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, cast

from strandline_sdk.rollouts.clock import Clock, SystemClock, stamp
from strandline_sdk.rollouts.model import PolicySetDocument, Rollout
from strandline_sdk.rollouts.policies import PolicySet
from strandline_sdk.rollouts.scrub import Scrubber
from strandline_sdk.rollouts.spool import write_json, write_text
from strandline_sdk.training.analysis import tool_calls
from strandline_sdk.training.values import Finished, Planned, RolloutFailed, RolloutLate, slug


@dataclass
class RunDirectory:
    """The files of one run; may be written by several threads."""

    path: Path
    scrubber: Scrubber = field(default_factory=Scrubber)
    clock: Clock = field(default_factory=SystemClock)

    def __post_init__(self) -> None:
        self._lock = Lock()
        self._events = list(self._read_events())

    @property
    def name(self) -> str:
        return self.path.name

    # ---- events ------------------------------------------------------------------------------------------

    def event(self, kind: str, **told: Any) -> None:
        """Says that something has been done."""
        line = {"event": kind, "at": stamp(self.clock.now()), **self.scrubber.document(told)}
        with self._lock, (self.path / "events.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")  # ASCII: no text can end a line, or be none
            self._events.append(line)

    def events(self, kind: str, **like: Any) -> list[dict[str, Any]]:
        """What was said of this kind, oldest first, by this process or by one that was killed."""
        said = self.scrubber.document(like)  # as it was written: the name of a case may look like a key
        with self._lock:
            return [e for e in self._events if e["event"] == kind and said.items() <= e.items()]

    def _read_events(self) -> Iterator[dict[str, Any]]:
        """The lines that are whole; what a kill has cut off is cut off here too."""
        file = self.path / "events.jsonl"
        if not file.exists():
            return
        text = file.read_text("utf-8")
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            write_text(file, whole)
        yield from map(json.loads, whole_lines(whole))

    # ---- rollouts ----------------------------------------------------------------------------------------

    def finished(self, planned: Planned) -> Rollout | None:
        """The rollout, if it was finished before."""
        if not self.events("rollout_finished", group=planned.group, rollout=planned.name):
            return None
        place = self.path / planned.place
        try:
            told = json.loads((place / "evaluation.json").read_text("utf-8"))
            messages = json.loads((place / "messages.json").read_text("utf-8"))
        except (
            OSError,
            ValueError,
        ):  # the machine has failed, not the process: files are not synced one by one
            return None
        return cast(Rollout, {**told, "case": planned.case, "messages": messages})

    def given_up(self, planned: Planned) -> str | None:
        """Why the rollout failed, if its stage is over: what was decided then stays decided."""
        failed = self.events("rollout_failed", group=planned.group, rollout=planned.name)
        if not failed or not self.events("stage_ended", group=planned.group):
            return None
        return None if self.finished(planned) else str(failed[-1]["error"])

    def fail(self, planned: Planned, error: RolloutFailed) -> str:
        """Says that a rollout has failed, beside others and in its own directory; why, without secrets."""
        told = {"how": error.how, "error": self.scrubber.text(str(error))}
        self.note(planned, "error.json", {"case_name": planned.case["name"], **told})
        self.event("rollout_failed", group=planned.group, rollout=planned.name, **told)
        return told["error"]

    def attempts(self, planned: Planned) -> int:
        """How often the rollout has failed; one that was late is the same still."""
        failed = self.events("rollout_failed", group=planned.group, rollout=planned.name)
        return sum(event.get("how") != RolloutLate.how for event in failed)

    def keep(self, planned: Planned, rollout: Rollout) -> Rollout:
        """Stores a rollout, and says so. Answers what was stored: the same without secrets."""
        found = cast(Rollout, self.scrubber.document(rollout))
        place = self.path / planned.place
        place.mkdir(parents=True, exist_ok=True)
        memory = found.get("metadata", {}).get("memory", {})
        write_text(place / "memory_context.md", memory.get("context", ""), sync=False)
        write_json(place / "messages.json", found["messages"], sync=False)
        write_json(place / "tool_calls.json", list(tool_calls(found["messages"])), sync=False)
        rest = {name: value for name, value in found.items() if name not in ("messages", "case")}
        write_json(place / "evaluation.json", {"case_name": planned.case["name"], **rest}, sync=False)
        (place / "error.json").unlink(missing_ok=True)
        passed = found["evaluation"]["passed"]
        self.event("rollout_finished", group=planned.group, rollout=planned.name, passed=passed)
        return found

    def note(self, planned: Planned, file: str, document: object) -> None:
        """Writes one of a rollout's other files."""
        place = self.path / planned.place
        place.mkdir(parents=True, exist_ok=True)
        write_json(place / file, self.scrubber.document(document), sync=False)

    def noted(self, planned: Planned, file: str) -> dict[str, Any] | None:
        """One of a rollout's other files, if it is there."""
        with suppress(FileNotFoundError):
            text = (self.path / planned.place / file).read_text("utf-8")
            return cast(dict[str, Any], json.loads(text))
        return None

    # ---- the run -----------------------------------------------------------------------------------------

    def keep_policies(self, policies: PolicySet) -> str:
        """Stores a snapshot; its id."""
        place = self.path / "policies"
        place.mkdir(exist_ok=True)
        write_json(place / f"{policies.snapshot_id}.json", policies.document(content=True))
        return policies.snapshot_id

    def policies(self, snapshot_id: str) -> PolicySet:
        """A snapshot that was stored."""
        text = (self.path / "policies" / f"{snapshot_id}.json").read_text("utf-8")
        return PolicySet.read(cast(PolicySetDocument, json.loads(text)))

    def report(self, document: Mapping[str, Any]) -> None:
        """Writes `report.json`."""
        write_json(self.path / "report.json", self.scrubber.document(document))

    def index(self, finished: list[Finished]) -> None:
        """Writes `rollouts_index.json`."""
        write_json(self.path / "rollouts_index.json", self.scrubber.document(list(map(_row, finished))))


def whole_lines(text: str) -> list[str]:
    """The lines of `events.jsonl`, without one that is still being written, or was cut off."""
    return text.split("\n")[:-1]


def _row(one: Finished) -> dict[str, Any]:
    planned = one.planned
    named = {"group": planned.group, "rollout": planned.name, "case": planned.case["name"]}
    row = {
        **named,
        "trial": planned.trial,
        "path": planned.place,
        "session_id": one.committed.get("session_id"),
    }
    if one.evaluation is None:
        return {**row, "status": "failed", "error": one.error}
    return {**row, "status": "completed", **{k: one.evaluation[k] for k in ("passed", "score")}}


def _made(path: Path) -> bool:
    try:
        path.mkdir(parents=True)
    except FileExistsError:
        return False
    return True


@dataclass(frozen=True)
class Results:
    """All runs of a data set below `root`."""

    root: Path
    dataset: str

    @property
    def path(self) -> Path:
        return self.root / slug(self.dataset)

    def new(self, domain: str, clock: Clock) -> Path:
        """A directory for a new run, of its own also when another begins in the same second."""
        time = clock.now().strftime("%Y%m%dT%H%M%SZ")
        names = (f"run_{slug(domain)}_{time}{f'-{n}' if n > 1 else ''}" for n in range(1, 1000))
        return next(self.path / name for name in names if _made(self.path / name))

    def point_at(self, run: Path) -> None:
        """This run is the latest from now on."""
        write_text(self.path / "latest", run.name + "\n")

    def latest(self) -> Path | None:
        """The newest run."""
        with suppress(FileNotFoundError):
            return self.path / (self.path / "latest").read_text("utf-8").strip()
        return None

    def cache(self, key: str) -> Path:
        """Where a baseline of this key is kept."""
        place = self.path / "cache" / "baseline"
        place.mkdir(parents=True, exist_ok=True)
        return place / f"{key}.json"
