"""What clients do whose agents learn: they say what a task was and how it was judged, and read what is known of it.

A case has one kind of task, whoever says it; what it asks is put in other words each time. Two cases share a kind, so
their runs meet in one experience.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from strandline.domain.errors import AlreadyExists, FailedPrecondition, NotFound, StrandlineError
from strandline.domain.learning.case import experience_path
from strandline.domain.message import MessageIn
from strandline.pipeline import session, task
from strandline.pipeline.append import AppendRequest
from strandline.pipeline.experience import read_experience
from strandline.pipeline.library import Library
from strandline.pipeline.rollback import RolledBack, rollback_session
from strandline.storage.layout import User
from tests.sim import history
from tests.sim.clients import Client, Unclear

Op = Callable[[Client], None]

KINDS = {"book": "Book a flight", "rebook": "Book a flight", "cancel": "Cancel a flight"}
ENDS: Sequence[dict[str, Any]] = (
    {"passed": True, "score": 1.0},
    {"passed": False, "score": 0.0, "feedback": "it was the wrong flight"},
    {"score": 0.5},
    {"outcome": "unfinished"},
)


def run(name: str, case: str = "book", end: int = 0, *, reads: bool = False, twin: bool = False) -> Op:
    """A run of a case: what was asked, a call, and how it was judged; in two appends when in between it `reads` what is
    known."""

    def do(c: Client) -> None:
        asked, called, judged = _said(c, case, end)
        if not reads:
            c._append(AppendRequest(c.owner, name, [asked, called, judged]), twin=twin)
            return
        c._append(AppendRequest(c.owner, name, [asked, called]), twin=False)
        _read(c, name, experience_path(KINDS[case]))
        c._append(AppendRequest(c.owner, name, [judged]), twin=twin)

    return do


def _said(c: Client, case: str, end: int) -> Sequence[MessageIn]:
    c._made += 1
    identity = f"{c.name}-{c._made}"
    asked = f"{c._canary} asks for {identity}"
    failed = "passed" not in ENDS[end]
    call = {
        "type": "tool",
        "tool_id": identity,
        "tool_name": ("look", "book")[c._made % 2],
        "tool_input": {"flight": identity},
        "tool_output": "Error: there is none" if failed else "done",
    }
    case_of = {"name": case, "task_signature": KINDS[case], "rubric": f"{identity} is done"}
    rows: Sequence[dict[str, Any]] = (
        {"role": "user", "content": asked, "metadata": {"case": case_of}},
        {"role": "assistant", "parts": [call]},
        {"role": "system", "content": "Judged.", "metadata": {"evaluation": ENDS[end]}},
    )
    return [MessageIn.model_validate({"id": f"{identity}/{n}", **row}) for n, row in enumerate(rows)]


def _read(c: Client, name: str, path: str) -> None:
    """The session's agent reads an experience, if there is one."""
    life = c.world.life(c.owner, name)
    acked = (a for a in c.world.history.of(history.Acked) if a.incarnation == life)
    seq = max((seq for each in acked for _, seq in each.receipts), default=0)
    with suppress(Unclear, StrandlineError):
        c._ask("api", lambda library: read_experience(library, c.owner, path, name))
        if life and life == c.world.life(c.owner, name):
            used = history.Used(c.owner, name, life, path, seq, c.world.scheduler.step)
            c.world.history.append(used)


def create(name: str, *types: str) -> Op:
    """A session that is to be remembered by these types of memories alone."""

    def do(c: Client) -> None:
        wanted = session.NewSession(c.owner, name, None, {"memory_types": list(types)}, {})
        with suppress(Unclear, AlreadyExists):
            c._ask("api", partial(session.create, wanted=wanted))

    return do


def switch(c: Client) -> None:
    """The deployment learns no more, or again."""
    c.world.deploy(learning=not c.world.learning)


def try_again(c: Client) -> None:
    """Every lesson of the owner's that has failed is retried."""
    for task_id in c.world.failed_lessons(c.owner):
        with suppress(Unclear, FailedPrecondition, NotFound):
            c._ask("api", partial(task.retry, owner=c.owner, task_id=task_id))


def take_back(name: str) -> Op:
    """What a session said, and taught, is taken back."""

    def do(c: Client) -> None:
        life = c.world.life(c.owner, name)
        try:
            done = c._ask("api", partial(_rolled_back, owner=c.owner, name=name))
        except NotFound:
            return
        except (Unclear, StrandlineError):
            numbers = None
        else:
            same = life and life == c.world.life(c.owner, name)
            numbers = [int(archive.rsplit("_", 1)[-1]) for archive in done.archives] if same else None
        c.world.history.append(history.RolledBack(c.owner, name, life, numbers))

    return do


def _rolled_back(library: Library, *, owner: User, name: str) -> RolledBack:
    return rollback_session(library, owner, name, after="", dry_run=False)
