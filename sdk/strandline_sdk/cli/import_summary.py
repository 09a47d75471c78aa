"""What became of an import."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from strandline_sdk.cli.output import count
from strandline_sdk.cli.waiting import Outcome
from strandline_sdk.upload import Uploaded

UNFINISHED = "unfinished"


@dataclass(frozen=True)
class Summary:
    """The document that `--json` prints. `skipped` names what could not be imported."""

    sessions: int
    messages_stored: int
    duplicates: int
    tasks: Mapping[str, int]
    seconds: float
    messages_per_second: float
    failures: Sequence[Mapping[str, str]]
    archives: Mapping[str, int]
    skipped: Sequence[str]

    def __str__(self) -> str:
        return "; ".join(filter(None, self._parts()))

    def _parts(self) -> Iterator[str]:
        stored = f"{count(self.messages_stored, 'message')} stored, {count(self.duplicates, 'duplicate')}"
        yield f"{count(self.sessions, 'session')}, {stored}"
        yield f"tasks: {_counts(self.tasks)}"
        yield f"archives: {_counts(self.archives)}" if any(self.archives.values()) else ""
        yield f"{len(self.skipped)} skipped" if self.skipped else ""
        yield f"{self.seconds} s, {self.messages_per_second} messages/s"
        yield count(len(self.failures), "failure") if self.failures else ""


def _counts(by_status: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {status}" for status, number in by_status.items())


def summary(
    uploaded: Sequence[Uploaded], outcomes: Mapping[str, Outcome], skipped: Sequence[str], seconds: float
) -> Summary:
    """The summary of an import that took so many seconds."""
    stored = sum(session.stored for session in uploaded)
    return Summary(
        sessions=sum(session.error is None for session in uploaded),
        messages_stored=stored,
        duplicates=sum(session.duplicates for session in uploaded),
        tasks=_tasks(uploaded, outcomes.values()),
        seconds=round(seconds, 2),
        messages_per_second=round(stored / seconds, 1),
        failures=[*_refused(uploaded), *_failed(outcomes)],
        archives=_archives(outcomes.values()),
        skipped=skipped,
    )


def _tasks(uploaded: Sequence[Uploaded], outcomes: Iterable[Outcome]) -> dict[str, int]:
    """This run's tasks by status."""
    ended = Counter(o.task["status"] if o.task else UNFINISHED for o in outcomes if o.task_id)
    started = sum(session.task_id is not None for session in uploaded)
    return {"started": started, "completed": 0, "failed": 0, **ended}


def _archives(outcomes: Collection[Outcome]) -> dict[str, int]:
    """The archives of the sessions, of this run or of earlier ones, that are not well; empty without waiting."""
    statuses = {UNFINISHED: "pending", "failed": "failed"} if outcomes else {}
    return {shown: sum(o.archives.get(status, 0) for o in outcomes) for shown, status in statuses.items()}


def _refused(uploaded: Sequence[Uploaded]) -> Iterator[dict[str, str]]:
    for session in uploaded:
        if session.error:
            yield {"session_id": session.session_id, "error": session.error}


def _failed(outcomes: Mapping[str, Outcome]) -> Iterator[dict[str, str]]:
    for session_id, found in outcomes.items():
        if problem := found.problem():
            yield {"session_id": session_id, "error": problem}
