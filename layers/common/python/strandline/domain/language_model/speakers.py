"""Who speaks in a transcript, under labels that a prompt can use and an answer must."""

from collections.abc import Iterator
from dataclasses import dataclass

from strandline.domain.extraction import Transcript, Turn

UNCLEAR = "unclear"
"""What an answer says where it cannot tell who spoke."""

_SPEAK = ("user", "assistant")


@dataclass(frozen=True)
class Speaker:
    """`label` is unique in the transcript whatever the names are; `peer` is whose memory it is (None: the user)."""

    label: str
    peer: str | None
    role: str

    @property
    def name(self) -> str:
        return self.peer if self.peer is not None else f"the {self.role}"


def spoken(transcript: Transcript) -> Iterator[Turn]:
    """The turns in which a person or an assistant said something; tools and the system do not speak."""
    return (turn for turn in transcript.turns if turn.role in _SPEAK and turn.text.strip())


def speakers(transcript: Transcript) -> dict[tuple[str | None, str], Speaker]:
    """Everybody who speaks, by peer and role, in order of first appearance."""
    found = dict.fromkeys((turn.speaker, turn.role) for turn in spoken(transcript))
    return {key: Speaker(f"S{n}", *key) for n, key in enumerate(found, start=1)}
