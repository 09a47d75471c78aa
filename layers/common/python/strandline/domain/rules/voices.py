"""Who speaks in a turn: the name a line uses, and whose memory it goes to."""

from collections.abc import Iterable
from dataclasses import dataclass

from strandline.domain.extraction import Turn
from strandline.domain.text import one_line

_MAX_NAME = 80
_LEADING_MARKUP = "#*->+_~`| "


@dataclass(frozen=True)
class Voice:
    """A speaker. `peer` is whose memory the lines go to (None: the user); `name` stands in sentences."""

    peer: str | None
    name: str
    is_assistant: bool = False

    @property
    def at_start(self) -> str:
        """The name as a sentence begins with it."""
        return self.name[0].upper() + self.name[1:] if self.name.startswith("the ") else self.name


USER = Voice(None, "the user")
ASSISTANT = Voice(None, "the assistant", is_assistant=True)


def voice_of(turn: Turn) -> Voice | None:
    """The speaker of a turn; None for tools, the system and unknown roles, whose text is never a claim."""
    if turn.role not in ("user", "assistant"):
        return None
    assistant = turn.role == "assistant"
    if turn.speaker is None:
        return ASSISTANT if assistant else USER
    name = one_line(turn.speaker, _MAX_NAME).lstrip(_LEADING_MARKUP)
    return Voice(turn.speaker, name or "somebody", assistant)


def name_words(speakers: Iterable[Voice]) -> frozenset[str]:
    """The words of the speakers' names, and their beginnings, as people shorten them: melanie, melan, mel."""
    found = {word for v in speakers if v.peer for word in v.name.casefold().split()}
    return frozenset(word[:n] for word in found for n in range(min(3, len(word)), len(word) + 1))
