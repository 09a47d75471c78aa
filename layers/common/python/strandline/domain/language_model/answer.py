"""A model's answer, read and checked against what was asked for.

The answer as a whole is an object of the schema or it is none: then the attempt has failed. A fact in it that cannot be
used is dropped alone, with its reason. No reason quotes the answer: it is shown to people and logged.

Whose a fact is follows from who said the quoted words. An answer that is unsure of it, or names another speaker, makes
the fact nobody's: it is not given to the user.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictInt

from strandline.domain.errors import ExtractionFailed
from strandline.domain.extraction import Claim, Dropped, Extraction, Proposal, Transcript, Turn
from strandline.domain.language_model.cases import CASES, read_cases
from strandline.domain.language_model.prompt import MAX_FACTS
from strandline.domain.language_model.quotes import is_telling, said
from strandline.domain.language_model.rows import Useless, seqs, valid
from strandline.domain.language_model.schema import ATTRIBUTES
from strandline.domain.language_model.speakers import speakers, spoken
from strandline.domain.memory_types import MemoryType
from strandline.domain.text import MAX_LINE, one_line

MAX_ABSTRACT = 600
MAX_IDENTITY = 80
MAX_CITED = 10
"""Messages one fact may cite; one that cites more says nothing of where it comes from, and cites its quote's alone."""

Answer = str | Mapping[str, Any]
_Words = Annotated[str, Field(min_length=1, max_length=MAX_LINE)]


class _Fact(BaseModel):
    model_config = ConfigDict(extra="ignore")

    text: _Words
    speaker: str
    seq_from: StrictInt = Field(ge=1)
    seq_to: StrictInt = Field(ge=1)
    quote: _Words
    attribute: str = ""
    value: str = ""


_Owned = tuple[str | None, tuple[tuple[str, str], ...]]


def read(answer: Answer | None, part: Transcript, extractor: str) -> Extraction:
    """The extraction that an answer about `part` is. Raises ExtractionFailed when it is none."""
    given = parsed(answer)
    abstract = _text(given, "abstract")
    rows = {kind.name: list_of(given, kind.name) for kind in part.types}
    cases, useless = read_cases([] if part.kinds is None else list_of(given, CASES), part)
    reader = _Reader(part)
    facts = [p for kind in part.types for p in reader.proposals(kind, rows[kind.name])]
    return Extraction(
        extractor=extractor,
        abstract=one_line(abstract, MAX_ABSTRACT),
        proposals=(*facts, *cases),
        dropped=(*reader.dropped, *useless),
    )


class _Reader:
    """Reads the facts of one answer; `dropped` gathers those that cannot be used."""

    def __init__(self, part: Transcript) -> None:
        self._turns = {turn.seq: turn for turn in spoken(part)}
        self._speakers = speakers(part)
        self._by_label = {s.label: s for s in self._speakers.values()}
        self._left = MAX_FACTS
        self.dropped: list[Dropped] = []

    def proposals(self, kind: MemoryType, rows: Sequence[Any]) -> Iterator[Proposal]:
        """One proposal a file, in the order of the answer."""
        files: dict[_Owned, list[Claim]] = {}
        taken, self._left = rows[: self._left], max(0, self._left - len(rows))
        for row in taken:
            try:
                owned, claim = self._fact(kind, row)
            except Useless as why:
                self._drop(kind, row, str(why))
            else:
                files.setdefault(owned, []).append(claim)
        if len(taken) < len(rows):
            self._drop(kind, None, f"{len(rows) - len(taken)} facts beyond the {MAX_FACTS} of one answer")
        for (peer, fields), claims in files.items():
            yield Proposal(memory_type=kind.name, peer=peer, fields=dict(fields), claims=tuple(claims))

    def _fact(self, kind: MemoryType, row: Any) -> tuple[_Owned, Claim]:
        fact = valid(row, _Fact)
        fields = tuple((name, _identity(row, name)) for name in kind.identity)
        cited = [turn for seq, turn in self._turns.items() if fact.seq_from <= seq <= fact.seq_to]
        quote, peer, seq = self._quoted(fact, cited)
        first, last = (fact.seq_from, fact.seq_to) if len(cited) <= MAX_CITED else (seq, seq)
        text = one_line(fact.text)
        if not text:
            raise Useless("is empty")
        holds = _standing(fact) if kind.mode == "upsert" else {}
        claim = Claim(text=text, seq_from=first, seq_to=last, quote=quote, **holds)
        return (peer, fields), claim

    def _quoted(self, fact: _Fact, cited: Sequence[Turn]) -> tuple[str, str | None, int]:
        """The quoted words as they were said, whose they are, and the seq of that message. Words that nobody said are
        passed on as they are: `candidates.check` rejects them."""
        speaker = self._by_label.get(fact.speaker)
        if speaker is None:
            raise Useless("its speaker is not clear")
        found = [(turn, quote) for turn in cited if (quote := said(fact.quote, turn.text)) is not None]
        if not found:
            return fact.quote, speaker.peer, fact.seq_from
        for turn, quote in found:
            if self._speakers[turn.speaker, turn.role] == speaker:
                return _telling(quote, turn), speaker.peer, turn.seq
        raise Useless("its speaker is not who said what it quotes")

    def _drop(self, kind: MemoryType, row: Any, reason: str) -> None:
        first, last = seqs(row, "seq_from", "seq_to")
        self.dropped.append(Dropped(reason=reason, memory_type=kind.name, seq_from=first, seq_to=last))


def _standing(fact: _Fact) -> dict[str, str]:
    """The attribute that a fact gives a value, and the value; nothing where one of them is odd."""
    value = one_line(fact.value, MAX_IDENTITY)
    return {"attribute": fact.attribute, "value": value} if fact.attribute in ATTRIBUTES and value else {}


def _telling(quote: str, turn: Turn) -> str:
    if not is_telling(quote, turn.text):
        raise Useless("its quote is too short to show where it comes from")
    return quote


def parsed(answer: Answer | None) -> Mapping[str, Any]:
    """The object that an answer is. Raises ExtractionFailed when it is none."""
    if answer is None:
        raise ExtractionFailed("the model's answer is empty")
    given = _parsed(answer) if isinstance(answer, str) else answer
    if not isinstance(given, Mapping):
        raise ExtractionFailed("the model's answer is JSON, but not the object that was asked for")
    return given


def _parsed(text: str) -> Any:
    if not text.strip():
        raise ExtractionFailed("the model's answer is empty")
    if not text.lstrip().startswith(("{", "[")):
        raise ExtractionFailed("the model's answer is text, not the JSON that was asked for")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ExtractionFailed("the model's answer is not valid JSON; it may have been cut off") from None


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str) or (name == "abstract" and not value.strip()):
        raise ExtractionFailed(f"the model's answer has no {name}")
    return value


def list_of(given: Mapping[str, Any], name: str) -> Sequence[Any]:
    """The list of that name in an answer. Raises ExtractionFailed when there is none."""
    value = given.get(name)
    if not isinstance(value, list):
        raise ExtractionFailed(f"the model's answer has no list of {name}")
    return value


def _identity(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    text = one_line(value, MAX_IDENTITY) if isinstance(value, str) else ""
    if not text:
        raise Useless(f"needs the field {name}")
    return text
