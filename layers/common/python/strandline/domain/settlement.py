"""Several sessions meet on one memory file: what is asked of a language model then, and what came of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from strandline.domain.extraction import Usage
from strandline.domain.line import Line

MAX_SHOWN = 200
"""Lines that a model is shown of one file: the latest of those that hold."""


class Settlement(BaseModel):
    """What came of it: the lines that no longer hold, each with the one that takes its place (as `patch.spelled` spells
    them), by which model, at what cost; or the reason why the lines were left as they are."""

    model_config = ConfigDict(frozen=True)

    model: str
    ends: tuple[tuple[str, str], ...] = ()
    usage: Usage | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Meeting:
    """A memory file that several sessions add to at once: its title, and the lines that hold, in order."""

    title: str
    lines: tuple[Line, ...]


def meeting(title: str, lines: Sequence[Line]) -> Meeting:
    """The latest of the lines that hold, as many as are shown."""
    holding = sorted(line for line in lines if line.closing is None)
    return Meeting(title, tuple(holding[-MAX_SHOWN:]))
