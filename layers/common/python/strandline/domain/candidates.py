"""Candidates: what an extraction proposed, checked against the archive it came from, ready to be merged.

Stored once per archive, so that a repeated merge applies the same lines and a model is paid once. What fails a check
is kept under `rejected` with its reason and goes no further.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime

from pydantic import BaseModel, ConfigDict

from strandline.domain.extraction import Claim, Extraction, Proposal, Transcript, Turn, Usage
from strandline.domain.memory import Addition, Line, Source, quote_hash
from strandline.domain.memory_policy import MemoryPolicy
from strandline.domain.memory_types import REGISTRY, MemoryType
from strandline.domain.times import stamp

MAX_LINES = 20_000


class CandidateLine(BaseModel):
    model_config = ConfigDict(frozen=True)

    text: str
    at: str
    seq_from: int
    seq_to: int
    quote: str


class CandidateFile(BaseModel):
    model_config = ConfigDict(frozen=True)

    path: str
    type: str
    title: str
    peer: str | None
    lines: tuple[CandidateLine, ...]


class Rejected(BaseModel):
    model_config = ConfigDict(frozen=True)

    reason: str
    memory_type: str
    seq_from: int
    seq_to: int


class Candidates(BaseModel):
    """One archive's candidates, as stored in `candidates.json`."""

    model_config = ConfigDict(frozen=True)

    extraction: str
    extractor: str
    session_id: str
    archive: int
    abstract: str
    overview: str
    files: tuple[CandidateFile, ...]
    rejected: tuple[Rejected, ...]
    usage: Usage | None = None

    def additions(self) -> Iterator[Addition]:
        """What the merge applies, one addition a file."""
        for file in self.files:
            lines = tuple(self._line(line) for line in file.lines)
            yield Addition(self.extraction, file.path, file.type, file.title, file.peer, lines)

    def _line(self, line: CandidateLine) -> Line:
        source = Source(line.at, self.session_id, self.archive, line.seq_from, line.seq_to, line.quote)
        return Line(source, line.text)


class _Refusal(Exception):
    """Why a claim or a whole proposal goes no further."""


def check(
    extraction: Extraction, transcript: Transcript, policy: MemoryPolicy, extraction_id: str
) -> Candidates:
    """The candidates of an extraction: files with their checked lines, and what was rejected and why."""
    files: dict[str, CandidateFile] = {}
    rejected = [Rejected(**dropped.model_dump()) for dropped in extraction.dropped]
    turns = {turn.seq: turn for turn in transcript.turns}
    budget = MAX_LINES
    for proposal in extraction.proposals:
        lines = _checked(proposal, turns, policy, budget, rejected)
        budget -= len(lines)
        if lines:
            at = min(turns[line.seq_to].at for line in lines)
            _add(files, _file(proposal, lines, at=at, extraction_id=extraction_id))
    return Candidates(
        extraction=extraction_id,
        extractor=extraction.extractor,
        session_id=transcript.session_id,
        archive=transcript.archive,
        abstract=extraction.abstract,
        overview=extraction.overview if policy.working_memory.enabled else "",
        files=tuple(files[path] for path in sorted(files)),
        rejected=tuple(rejected),
        usage=extraction.usage,
    )


def _checked(
    proposal: Proposal, turns: Mapping[int, Turn], policy: MemoryPolicy, budget: int, rejected: list[Rejected]
) -> list[CandidateLine]:
    lines: list[CandidateLine] = []
    for claim in proposal.claims:
        try:
            _admit(proposal, turns, policy)
            if len(lines) >= budget:
                raise _Refusal(f"more than {MAX_LINES} lines from one archive")
            lines.append(_line(claim, turns))
        except _Refusal as refusal:
            kind = proposal.memory_type
            spot = {"seq_from": claim.seq_from, "seq_to": claim.seq_to}
            rejected.append(Rejected(reason=str(refusal), memory_type=kind, **spot))
    return lines


def _admit(proposal: Proposal, turns: Mapping[int, Turn], policy: MemoryPolicy) -> None:
    kind = REGISTRY.get(proposal.memory_type)
    if kind is None:
        raise _Refusal(f"unknown memory type {proposal.memory_type!r}")
    if not policy.admits(proposal.memory_type, proposal.peer):
        raise _Refusal("not admitted by the session's memory_policy")
    if proposal.peer is not None and proposal.peer not in {turn.speaker for turn in turns.values()}:
        raise _Refusal("the peer does not speak in this archive")
    if any(not proposal.fields.get(name, "").strip() for name in kind.identity):
        raise _Refusal(f"needs the fields {', '.join(kind.identity)}")


def _line(claim: Claim, turns: Mapping[int, Turn]) -> CandidateLine:
    if not 0 <= claim.seq_to - claim.seq_from < len(turns):  # before a range of any length is gone through
        raise _Refusal("cites messages outside the archive")
    cited = [turns[seq] for seq in range(claim.seq_from, claim.seq_to + 1) if seq in turns]
    if len(cited) != claim.seq_to - claim.seq_from + 1:
        raise _Refusal("cites messages outside the archive")
    if not any(claim.quote in turn.text for turn in cited):
        raise _Refusal("its quote is not in the messages it cites")
    text = " ".join(claim.text.split()).replace("<!--", "‹!--").replace("-->", "--›")
    if not text:
        raise _Refusal("is empty")
    at = stamp(cited[-1].at)
    return CandidateLine(
        text=text, at=at, seq_from=claim.seq_from, seq_to=claim.seq_to, quote=quote_hash(claim.quote)
    )


def _file(
    proposal: Proposal, lines: list[CandidateLine], *, at: datetime, extraction_id: str
) -> CandidateFile:
    """The file of a proposal; `at` is when the first of its lines was said, on the speaker's own clock."""
    kind: MemoryType = REGISTRY[proposal.memory_type]
    path = kind.path(proposal.fields, at=at, extraction=extraction_id)
    if proposal.peer is not None:
        path = f"peers/{proposal.peer}/{path}"
    return CandidateFile(
        path=path,
        type=proposal.memory_type,
        title=kind.heading(proposal.fields, at=at),
        peer=proposal.peer,
        lines=tuple(lines),
    )


def _add(files: dict[str, CandidateFile], file: CandidateFile) -> None:
    """Two extractors may find the same: a file keeps the first of lines that read alike."""
    lines: dict[str, CandidateLine] = {}
    known = files.get(file.path, file)
    for line in (*known.lines, *file.lines):
        lines.setdefault(line.text, line)
    files[file.path] = known.model_copy(update={"lines": tuple(lines.values())})
