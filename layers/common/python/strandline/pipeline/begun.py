"""Where a task began that an archive judges and does not name: the archives before it are looked through for that.

Only an archive that judges a task before it names one asks, so no other pays for it. What is found follows from the
session's archives, which never change, so extract and learn find the same however often they ask.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from strandline.domain.contracts import ArchiveRequest
from strandline.domain.learning.begun import begun_in, judges_before_it_names
from strandline.domain.learning.task import Message
from strandline.domain.message import read_line
from strandline.domain.session import Head
from strandline.pipeline.services import Services
from strandline.storage.answered import answered

LOOKED_BACK = 20
"""Archives that are looked through, back from the one that judges."""


@dataclass(frozen=True)
class Begun:
    """The archive that names the task, and what was said of it there and in the archives since; number 0: none does."""

    archive: int = 0
    messages: Sequence[Message] = ()


def begun(services: Services, head: Head, request: ArchiveRequest, messages: Sequence[Message]) -> Begun:
    """Of the task that the archive of `messages` judges first. Raises Unavailable."""
    if request.archive == 1 or not judges_before_it_names(messages):
        return Begun()
    since: list[Message] = []
    for number, first, last in _before(services, head, request.archive):
        with answered():
            # one whose object somebody has removed tells nothing, and hides nothing of those before it
            lines = services.log.archived(request.session, number, first, last) or ()
        held = [read_line(line) for line in lines]
        there = begun_in(held)
        if there is not None:
            return Begun(number, (*there, *since)) if there else Begun()
        since[:0] = held
    return Begun()


def _before(services: Services, head: Head, number: int) -> list[tuple[int, int, int]]:
    """The archives before that one, the newest first."""
    rows = services.log.archives(head, max(1, number - LOOKED_BACK))
    return [row for row in rows if row[0] < number][::-1]
