"""Extractors whose answer a test knows beforehand."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from strandline.domain.errors import AnswerCut, ExtractionFailed
from strandline.domain.extraction import Claim, Extraction, Patch, Proposal, Setting, Transcript, Turn, Usage
from strandline.domain.working_memory.update import Summary, Update


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


class Notes:
    """A summariser whose documents have a fact `seq: text` for each message. Remembers which ranges it was asked about;
    refuses as often as `failing` says, and says its answer was cut where it is shown more than `most` messages."""

    def __init__(self, failing: int = 0, most: int = 1_000, usage: Usage | None = None) -> None:
        self.asked: list[tuple[int, int, int]] = []
        self.failing = failing
        self.most = most
        self.usage = usage

    def summarise(self, update: Update) -> Summary:
        """`asked` has (what the document took in before, first seq, last seq)."""
        self.asked.append((update.before.through, update.messages[0]["seq"], update.through))
        if self.failing:
            self.failing -= 1
            raise ExtractionFailed("the answer is prose")
        if len(update.messages) > self.most:
            raise AnswerCut("the answer does not fit", usage=self.usage)
        notes = [f"{message['seq']}: {message.get('content', '')}" for message in update.messages]
        document = update.before.with_items("facts", [*update.before.of("facts"), *notes])
        return Summary(replace(document, through=update.through), self.usage)


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


class Scripted:
    """A message is the operation it spells: `add|<topic>|<line>|`, `home||<where>|`, `patch|<topic>|<line>|<new line>`,
    `drop|<topic>|<line>|`, `call|<tool>|<times>|`."""

    def extract(self, transcript: Transcript) -> Extraction:
        proposals = tuple(_scripted(turn, *turn.text.split("|")) for turn in transcript.turns)
        return Extraction(extractor="scripted/1", abstract="", proposals=proposals)


def _scripted(turn: Turn, kind: str, where: str, what: str, new: str) -> Proposal:
    at = {"seq_from": turn.seq, "seq_to": turn.seq}
    if kind == "call":
        count = Setting(field="calls", value=int(what), **at)
        return Proposal(memory_type="tools", fields={"tool_name": where}, settings=(count,))
    if kind == "home":
        lives = Claim(text=what, quote=what, attribute="home", value=what, **at)
        return Proposal(memory_type="profile", claims=(lives,))
    fields = {"topic": where}
    if kind == "add":
        said = Claim(text=what, quote=what, **at)
        return Proposal(memory_type="preferences", fields=fields, claims=(said,))
    claims = (Claim(text=new, quote=new, **at),) if new else ()
    return Proposal(
        memory_type="preferences", fields=fields, patches=(Patch(search=(what,), claims=claims, **at),)
    )
