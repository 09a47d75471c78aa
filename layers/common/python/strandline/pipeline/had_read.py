"""The experiences that a run had read when it ended: their outcome is that of the run, too.

By the session's own reports, by what its contexts and searches gave it, and by what its messages tell of.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from strandline.domain.contracts import SessionRef
from strandline.domain.errors import InvalidArgument
from strandline.domain.learning.steps import inputs_of
from strandline.domain.learning.task import Message, Task
from strandline.domain.memory import Memory
from strandline.pipeline.catalogue import read_file
from strandline.pipeline.library import Library
from strandline.storage.layout import Life, User, user_of

MAX_NAMED = 100
"""Names of experiences that are looked up of those that one run tells of."""

_EXPERIENCE = re.compile(  # bounded, or a long input without an end is read again from each of its slashes
    r"(?:memories/|[\"\s/]|^)(experiences/[^\"'\s?#\\]{1,600}\.md)"
)


def had_read(services: Library, session: SessionRef, task: Task) -> Iterator[tuple[str, str]]:
    """The experiences, and their titles, that were read before the task's last message: reported, told of, or given."""
    life, span = Life(session), range(task.first - 1, task.last)  # later ones are the next archive's
    reported, given = _reported(services, life, span), _given(services, life, span)
    owner = user_of(session)
    named = (
        path for path in (*reported, *_read_in(task.messages), *given) if path.startswith("experiences/")
    )
    for path in islice(dict.fromkeys(named), MAX_NAMED):
        there = _there(services, owner, path)
        if there is not None:
            yield path, there.title


def _reported(services: Library, life: Life, span: range) -> list[str]:
    """What the session had reported as used while its newest message was one of these."""
    found = services.session_usage.read(life.usage)
    return [path for use in (found.value.uses if found else ()) if use.seq in span for path in use.memories]


def _given(services: Library, life: Life, span: range) -> list[str]:
    """The experiences whose text it was given meanwhile (`usage.py`, `prompt.py`)."""
    found = services.contexts.read(life.context)
    given = found.value.handed_out if found else {}
    return [path for path, seqs in given.items() if any(seq in span for seq in seqs)]


def _there(services: Library, owner: User, path: str) -> Memory | None:
    """A message may name anything: what no memory can be called is none."""
    try:
        return read_file(services, owner, path)
    except InvalidArgument:
        return None


def _read_in(messages: Sequence[Message]) -> Iterator[str]:
    for _, said in inputs_of(messages):
        yield from _EXPERIENCE.findall(said)
    for message in messages:
        for part in message.get("parts", ()):
            if part["type"] == "context":
                yield from _EXPERIENCE.findall(part["uri"])
