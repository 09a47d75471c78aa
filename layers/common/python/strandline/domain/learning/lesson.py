"""What one conversation adds: its case is counted, its trajectory written, its experience learns of the run.

Each is an addition like those of an extraction, kept once per archive; links stand on both sides:

    experience ──derived from──▶ trajectory ──belongs to──▶ case ◀──belongs to── experience
    trajectory ──used──▶ experience that it had read
    experience ──related to, supersedes──▶ experience (`standing`)
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import reduce
from typing import Any

from strandline.domain.candidates import CandidateFile, CandidateLine, CandidateLink, CandidateValue
from strandline.domain.extraction import Usage
from strandline.domain.learning.case import Case
from strandline.domain.learning.evidence import evidence
from strandline.domain.learning.insight import Attempt, Insight, told
from strandline.domain.learning.judging import as_judged, run_of
from strandline.domain.learning.run import FIELD, Run
from strandline.domain.learning.standing import (
    ALIKE,
    BELONGS,
    EVERY,
    RELATED,
    SUPERSEDES,
    TAKEN,
    TAKES,
    left_by,
)
from strandline.domain.learning.steps import steps_of
from strandline.domain.learning.task import Task
from strandline.domain.learning.verdict import Judgement, believed
from strandline.domain.line import quote_hash
from strandline.domain.memory_types.cases import CASES
from strandline.domain.memory_types.experiences import EXPERIENCES
from strandline.domain.memory_types.outcomes import OUTCOMES
from strandline.domain.memory_types.trajectories import TRAJECTORIES
from strandline.domain.message import said_at
from strandline.domain.one_line import one_line
from strandline.domain.times import stamp

MAX_STEPS = 60
MAX_USED = 20  # what a run names comes before what it was given
DERIVED_FROM, USED = "derived_from", "used"
Titles = Mapping[str, str]
"""Experiences: the title of each by its path."""


def lesson_id(incarnation: str, archive: int) -> str:
    """The id of what an archive teaches: the same for every attempt, and not that of its extraction."""
    return hashlib.sha256(f"{incarnation}/{archive}/learn".encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Place:
    """Which archive teaches: its session, its number, the id of its lesson, and the seq of its first message."""

    session_id: str
    archive: int
    lesson: str
    first: int = 1


@dataclass(frozen=True)
class Lesson:
    """One run of a stored case, and, by path, the experiences it had read, those that ask the same (`related`),
    those that its case has `left` for another kind, and those that a model says are `outdated` by it."""

    place: Place
    task: Task
    case: Case
    run: Run
    used: Titles = field(default_factory=dict)
    related: Titles = field(default_factory=dict)
    left: Titles = field(default_factory=dict)
    outdated: Titles = field(default_factory=dict)
    usage: Usage | None = None
    judged: Judgement | None = None

    def seen_by(self, insight: Insight, shown: Titles) -> "Lesson":
        """The lesson with what a model says of the run; how it came out only where nobody else has judged it. It may
        say of an experience it was shown that this takes its place, if the run was judged a success by others."""
        run = replace(self.run, by=insight.model, approach=insight.approach, reflect=insight.reflect)
        held = insight.supersedes if self.run.succeeded else ()
        outdated = {path: title for path, title in shown.items() if path in held}
        judged = believed(self.task, insight.verdict, insight.model)
        run = as_judged(run, judged)
        return replace(self, run=run, usage=insight.usage, judged=judged, outdated=outdated)

    def attempt(self, known: str, others: Mapping[str, str]) -> Attempt:
        """What a model is shown of the run; `known` is what its experience says so far, `others` what related ones say,
        by path."""
        return Attempt(
            asks=f"{self.case.signature}: {self.case.input}",
            wanted=self.case.rubric,
            verdict=self.run.outcome,
            remarks=self.run.remarks,
            told=told(self.task),
            known=known,
            others=dict(others),
            to_judge=self.task.evaluation is None,
        )

    @property
    def trajectory(self) -> str:
        fields = {"name": self.case.name, "session": self.place.session_id}
        return TRAJECTORIES.path(fields, at=self.said_at, extraction=self.place.lesson)

    @property
    def experience(self) -> str:
        return self.case.experience

    @property
    def said_at(self) -> datetime:
        return said_at(self.task.messages[-1])

    def files(self) -> Iterator[CandidateFile]:
        """What it adds to each file, one or more a path."""
        yield self._trajectory()
        yield self._experience()
        yield self._case()
        yield from map(self._reader, self.used)
        for path in self.related:
            yield self._beside(path, _link(RELATED, self.experience, back=True), ALIKE, self.experience)
        for path, case in self._superseded():
            marked = left_by(self.experience, case)
            yield self._beside(path, _link(SUPERSEDES, self.experience, back=True), TAKEN, marked)

    def _superseded(self) -> list[tuple[str, str]]:
        """Experiences that this one takes the place of, and for which case."""
        return [(path, self.case.path) for path in self.left] + [(path, EVERY) for path in self.outdated]

    def _standing(self) -> Iterator[tuple[CandidateLink, CandidateValue]]:
        """How its experience stands to others: a link, and which lesson says so."""
        for path in self.related:
            yield _link(RELATED, path), self._mark(ALIKE, path)
        for path, _ in self._superseded():
            yield _link(SUPERSEDES, path), self._mark(TAKES, path)

    def _mark(self, kind: str, said: str) -> CandidateValue:
        return self._value(f"{kind}{self.place.lesson}_{quote_hash(said)[:6]}", said)

    def _beside(self, path: str, link: CandidateLink, kind: str, said: str) -> CandidateFile:
        """What another experience is told of how it stands to this one."""
        return self._other(path, (self._mark(kind, said),), link)

    def _cited(self, first: int, last: int, quote: str = "") -> dict[str, Any]:
        return {
            "at": self._at(last),
            "seq_from": max(first, self.place.first),  # what is before it, another archive holds
            "seq_to": last,
            "quote": quote_hash(quote),
        }

    def _at(self, seq: int) -> str:
        return stamp(next(said_at(m) for m in self.task.messages if m["seq"] == seq))

    def _value(self, field: str, value: str | int) -> CandidateValue:
        where = self._cited(self.task.first, self.task.last)
        return CandidateValue(
            field=field, merge="sum" if isinstance(value, int) else "immutable", value=value, **where
        )

    def _counted(self, prefix: str = "") -> Iterator[CandidateValue]:
        yield from (self._value(f"{prefix}{each}", int(each == self.run.outcome)) for each in OUTCOMES)

    def _trajectory(self) -> CandidateFile:
        judged = self.task.evaluation
        values = {
            "outcome": self.run.outcome,
            "score": "" if judged is None or judged.score is None else f"{judged.score:g}",
            "confidence": f"{self.run.confidence:.2f}",
            "judged_by": self.run.judged_by,
            "task": self.task.asked,
        }
        ends = [_link(BELONGS, self.case.path), _link(DERIVED_FROM, self.experience, back=True)]
        return CandidateFile(
            path=self.trajectory,
            type=TRAJECTORIES.name,
            title=f"{self.case.name}: {self.place.session_id}",
            peer=None,
            lines=(*self._steps(), *self._evidence()),
            values=tuple(self._value(name, text) for name, text in values.items() if text),
            links=(*ends, *(_link(USED, path) for path in self.used)),
        )

    def _steps(self) -> Iterator[CandidateLine]:
        """Those that its own archive holds; a task that began in another has its first ones there."""
        own = [step for step in steps_of(self.task.messages) if step.last >= self.place.first]
        for step in own[:MAX_STEPS]:
            yield CandidateLine(
                text=str(step), field="steps", **self._cited(step.first, step.last, str(step))
            )

    def _evidence(self) -> Iterator[CandidateLine]:
        for seq, text in evidence(self.task, self.judged):
            yield CandidateLine(text=text, field="evidence", **self._cited(seq, seq, text))

    def _experience(self) -> CandidateFile:
        standing = list(self._standing())
        run = f"{FIELD}{self.place.lesson}_{self.task.first}"
        return CandidateFile(
            path=self.experience,
            type=EXPERIENCES.name,
            title=one_line(self.case.signature, 200),
            peer=None,
            values=(
                self._value("situation", self.case.input),
                self._value(run, self.run.encoded()),
                *self._counted(),
                *(mark for _, mark in standing),
            ),
            links=(
                self._linked(DERIVED_FROM),
                _link(BELONGS, self.case.path),
                *(link for link, _ in standing),
            ),
        )

    def _case(self) -> CandidateFile:
        return CandidateFile(
            path=self.case.path,
            type=CASES.name,
            title=self.case.name,
            peer=None,
            values=tuple(self._counted()),
            links=(
                self._linked(BELONGS, back=True),
                _link(BELONGS, self.experience, back=True),
            ),
        )

    def _reader(self, path: str) -> CandidateFile:
        """What its having been read adds to an experience."""
        return self._other(path, self._counted("used_"), self._linked(USED, back=True))

    def _other(self, path: str, values: Iterable[CandidateValue], link: CandidateLink) -> CandidateFile:
        titles = {**self.used, **self.related, **self.left, **self.outdated}
        return CandidateFile(
            path=path,
            type=EXPERIENCES.name,
            title=titles[path],
            peer=None,
            values=tuple(values),
            links=(link,),
        )

    def _linked(self, kind: str, *, back: bool = False) -> CandidateLink:
        """A link to the trajectory, one of many."""
        return CandidateLink(back=back, type=kind, path=self.trajectory, at=stamp(self.said_at))


def _link(kind: str, path: str, *, back: bool = False) -> CandidateLink:
    return CandidateLink(back=back, type=kind, path=path)


def lesson(place: Place, task: Task, case: Case, used: Titles) -> Lesson:
    """What a run of a stored case teaches, by the rules."""
    run = run_of(task, steps_of(task.messages))
    read = dict(sorted(list(used.items())[:MAX_USED]))
    return Lesson(place, task, case, run, read)


def spent(lessons: Iterable[Lesson]) -> Usage | None:
    """What all lessons have cost; None where no model was asked."""
    costs = [each.usage for each in lessons if each.usage]
    return reduce(Usage.plus, costs) if costs else None


def gathered(lessons: Iterable[Lesson]) -> tuple[CandidateFile, ...]:
    """What all lessons of an archive add, one addition a file: an archive may teach one experience several things."""
    files: dict[str, CandidateFile] = {}
    for file in (file for each in lessons for file in each.files()):
        known = files.get(file.path)
        files[file.path] = file if known is None else _both(known, file)
    return tuple(files[path] for path in sorted(files))


def _both(known: CandidateFile, more: CandidateFile) -> CandidateFile:
    values: dict[str, CandidateValue] = {value.field: value for value in known.values}
    for value in more.values:
        values[value.field] = _sum(values.get(value.field), value)
    return known.model_copy(
        update={
            "lines": tuple(dict.fromkeys((*known.lines, *more.lines))),
            "values": tuple(values.values()),
            "links": tuple(dict.fromkeys((*known.links, *more.links))),
        }
    )


def _sum(known: CandidateValue | None, more: CandidateValue) -> CandidateValue:
    if known is None or more.merge != "sum":
        return known or more
    return known.model_copy(update={"value": int(known.value) + int(more.value)})
