"""Extractors whose answer a test knows beforehand."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from strandline.domain.errors import ExtractionFailed
from strandline.domain.extraction import Claim, Extraction, Proposal, Transcript, Turn


class Echo:
    """A message `topic: text` becomes the line `text` of `preferences/<topic>.md`; any other becomes nothing.

    A peer's message goes into the peer's tree. Counts how often it was asked.
    """

    def __init__(self) -> None:
        self.asked = 0

    def extract(self, transcript: Transcript) -> Extraction:
        self.asked += 1
        return Extraction(
            extractor="echo/1",
            abstract=f"{len(transcript.turns)} messages",
            overview=f"# Overview of archive {transcript.archive}\n",
            proposals=tuple(_proposals(transcript)),
        )


def _proposals(transcript: Transcript) -> Iterator[Proposal]:
    for turn in transcript.turns:
        topic, colon, text = turn.text.partition(": ")
        if colon:
            yield _proposal(turn, topic, text)


def _proposal(turn: Turn, topic: str, text: str) -> Proposal:
    claim = Claim(text=text, seq_from=turn.seq, seq_to=turn.seq, quote=text)
    return Proposal(memory_type="preferences", peer=turn.speaker, fields={"topic": topic}, claims=(claim,))


@dataclass
class Refusing:
    """Answers prose for the first `times` attempts, afterwards like Echo."""

    times: int
    final: bool = False
    reason: str = "the answer is prose: 'Sure, I can help with that'"
    echo: Echo = field(default_factory=Echo)
    refused: int = 0

    def extract(self, transcript: Transcript) -> Extraction:
        if self.refused < self.times:
            self.refused += 1
            raise ExtractionFailed(self.reason, final=self.final)
        return self.echo.extract(transcript)
