"""Admission: each claim, patch and value of an extraction is held against the archive that it came from.

It must be of a memory type that the session is remembered by, of somebody who speaks in the archive, and quote one of
the messages it cites. What fails is listed with its reason and goes no further; the rest is not touched by it. What
passes is bounded, in number and in bytes, and can name no file but one of its type in its own user's tree.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from strandline.domain.candidates import (
    OUTSIDE,
    UNQUOTED,
    CandidateFile,
    CandidateLine,
    CandidatePatch,
    Candidates,
    CandidateValue,
    Cited,
    Rejected,
)
from strandline.domain.extraction import Claim, Extraction, Patch, Proposal, Setting, Transcript, Turn
from strandline.domain.graphemes import beginning
from strandline.domain.injection import INSTRUCTION, injected
from strandline.domain.line import CONTENT, quote_hash
from strandline.domain.linking import linked
from strandline.domain.memory_policy import MemoryPolicy
from strandline.domain.memory_types import REGISTRY, Field, MemoryType
from strandline.domain.memory_types.template import INDEX, TEMPLATE
from strandline.domain.names import slug
from strandline.domain.quotes import place
from strandline.domain.times import stamp

_ACTED_ON = frozenset({"preferences", "skills", "tools", "experiences"})
"""Memory types that say how an agent is to act. What was said to take a model over becomes none of these."""

MAX_LINES = 20_000
MAX_BYTES = 8 * 1024 * 1024
MAX_VALUE_CHARS = 500
MAX_COUNT = 1_000_000

Operation = Claim | Patch | Setting
Said = TypeVar("Said", bound=Operation)
Checked = TypeVar("Checked", bound=Cited)


class _Refusal(Exception):
    """Why an operation, or a whole proposal, goes no further."""


def check(
    extraction: Extraction, transcript: Transcript, policy: MemoryPolicy, extraction_id: str
) -> Candidates:
    """The candidates of an extraction: files with what was admitted, and what was rejected and why."""
    desk = _Desk(transcript, policy, extraction_id)
    desk.rejected += [Rejected(**dropped.model_dump()) for dropped in extraction.dropped]
    for proposal in extraction.proposals:
        desk.take(proposal)
    return Candidates(
        extraction=extraction_id,
        extractor=extraction.extractor,
        session_id=transcript.session_id,
        archive=transcript.archive,
        abstract=extraction.abstract,
        files=linked([desk.files[path] for path in sorted(desk.files)]),
        rejected=tuple(desk.rejected),
        usage=extraction.usage,
    )


class _Desk:
    """Where the proposals of one archive are checked, one after the other."""

    def __init__(self, transcript: Transcript, policy: MemoryPolicy, extraction_id: str) -> None:
        self._turns = {turn.seq: turn for turn in transcript.turns}
        self._types = {**{kind.name: kind for kind in transcript.types}, **REGISTRY}
        self._speakers = {turn.speaker for turn in transcript.turns}
        self._policy = policy
        self._extraction = extraction_id
        self._left = MAX_LINES
        self._bytes_left = MAX_BYTES
        self.files: dict[str, CandidateFile] = {}
        self.rejected: list[Rejected] = []

    def take(self, proposal: Proposal) -> None:
        """Checks a proposal; what passes goes into its file, what does not is listed."""
        lines = list(self._admitted(proposal, proposal.claims, self._line))
        patches = list(self._admitted(proposal, proposal.patches, self._patch))
        values = list(self._admitted(proposal, proposal.settings, self._value))
        if lines or patches or values:
            self._add(self._file(proposal, lines, patches, values))

    def _admitted(
        self, proposal: Proposal, said: Iterable[Said], checked: Callable[[MemoryType, Said], Checked]
    ) -> Iterator[Checked]:
        for operation in said:
            try:
                found = checked(self._kind(proposal), operation)
                self._spend(found)
            except _Refusal as refusal:
                self._reject(proposal, operation, str(refusal))
            else:
                yield found

    def _reject(self, proposal: Proposal, said: Operation, reason: str) -> None:
        spot = {"seq_from": said.seq_from, "seq_to": said.seq_to}
        self.rejected.append(Rejected(reason=reason, memory_type=proposal.memory_type, **spot))

    def _spend(self, found: Cited) -> None:
        size = len(found.model_dump_json().encode("utf-8", "replace"))
        if self._left < 1:
            raise _Refusal(f"more than {MAX_LINES} lines from one archive")
        if self._bytes_left < size:
            raise _Refusal(f"more than {MAX_BYTES} bytes from one archive")
        self._left -= 1
        self._bytes_left -= size

    def _kind(self, proposal: Proposal) -> MemoryType:
        kind = self._types.get(proposal.memory_type)
        if kind is None:
            raise _Refusal(f"unknown memory type {proposal.memory_type!r}")
        if not kind.extracted:
            raise _Refusal(f"nothing is extracted into {kind.name}")
        if not self._policy.admits(kind, proposal.peer):
            raise _Refusal("not admitted by the session's memory_policy")
        if proposal.peer is not None and proposal.peer not in self._speakers:
            raise _Refusal("the peer does not speak in this archive")
        if any(not proposal.fields.get(name, "").strip() for name in kind.identity):
            raise _Refusal(f"needs the fields {', '.join(kind.identity)}")
        return kind

    def _line(self, kind: MemoryType, claim: Claim) -> CandidateLine:
        text = _one_line(claim.text)
        cited = self._cited(claim, claim.quote)
        if not text:
            raise _Refusal("is empty")
        _refuse_instruction(kind, text, claim.quote)
        return CandidateLine(
            text=text,
            field=_patched(kind, claim.field).name,
            attribute=_attribute(claim) if kind.mode == "upsert" else None,
            **_place(claim, cited, claim.quote),
        )

    def _patch(self, kind: MemoryType, patch: Patch) -> CandidatePatch:
        field = _patched(kind, patch.field).name
        cited = self._cited(patch, "")
        lines = tuple(self._line(kind, claim.model_copy(update={"field": field})) for claim in patch.claims)
        search = tuple(map(_one_line, patch.search))
        where = _place(patch, cited, "\n".join(search))
        return CandidatePatch(search=search, lines=lines, field=field, **where)

    def _value(self, kind: MemoryType, setting: Setting) -> CandidateValue:
        field = kind.field(setting.field)
        if field is None or field.merge == "patch" or field.name in kind.identity:
            raise _Refusal(f"has no field {setting.field[:40]!r} that takes a value")
        cited = self._cited(setting, setting.quote)
        value = _valid(field, setting)
        _refuse_instruction(kind, str(value), setting.quote)
        return CandidateValue(
            field=field.name, merge=field.merge, value=value, **_place(setting, cited, setting.quote)
        )

    def _cited(self, said: Operation, quote: str) -> Sequence[Turn]:
        """The messages cited, one of which has the quote."""
        if not 0 <= said.seq_to - said.seq_from < len(self._turns):  # before any range is gone through
            raise _Refusal(OUTSIDE)
        wanted = range(said.seq_from, said.seq_to + 1)
        cited = [self._turns[seq] for seq in wanted if seq in self._turns]
        if len(cited) != len(wanted):
            raise _Refusal(OUTSIDE)
        if not any(quote in turn.text for turn in cited):
            raise _Refusal(UNQUOTED)
        return cited

    def _file(
        self,
        proposal: Proposal,
        lines: Sequence[CandidateLine],
        patches: Sequence[CandidatePatch],
        values: Sequence[CandidateValue],
    ) -> CandidateFile:
        """The file of a proposal, named by when the first of it was said, on the speaker's own clock."""
        kind = self._types[proposal.memory_type]
        first = min((*lines, *patches, *values), key=lambda cited: self._turns[cited.seq_to].at)
        at = self._turns[first.seq_to].at
        path = kind.path(proposal.fields, at=at, extraction=self._extraction)
        return CandidateFile(
            path=path if proposal.peer is None else f"peers/{proposal.peer}/{path}",
            type=proposal.memory_type,
            title=_one_line(kind.heading(proposal.fields, at=at)),
            peer=proposal.peer,
            lines=tuple(lines),
            patches=tuple(patches),
            values=(*values, *_declared(kind, first)),
        )

    def _add(self, file: CandidateFile) -> None:
        """Two extractors may find the same: a file keeps the first of lines that read alike."""
        known = self.files.get(file.path, file.model_copy(update={"lines": (), "patches": (), "values": ()}))
        lines: dict[tuple[str, str], CandidateLine] = {}
        for line in (*known.lines, *file.lines):
            lines.setdefault((line.field, line.text), line)
        more = {
            "lines": tuple(lines.values()),
            "patches": tuple(dict.fromkeys((*known.patches, *file.patches))),
            "values": tuple(dict.fromkeys((*known.values, *file.values))),
        }
        self.files[file.path] = known.model_copy(update=more)


def _place(said: Operation, cited: Sequence[Turn], quote: str) -> dict[str, Any]:
    return {
        "at": stamp(cited[-1].at),
        "seq_from": said.seq_from,
        "seq_to": said.seq_to,
        "quote": quote_hash(quote),
        "quoted": place(quote, {turn.seq: turn.text for turn in cited}) if quote else None,
    }


def _refuse_instruction(kind: MemoryType, *texts: str) -> None:
    if kind.name in _ACTED_ON and any(map(injected, texts)):
        raise _Refusal(INSTRUCTION)


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("<!--", "‹!--").replace("-->", "--›")


def _attribute(claim: Claim) -> tuple[str, str] | None:
    """What a claim says of its subject, as plain words: `Oslo, Norway` is `oslo`."""
    value = claim.value.partition(",")[0].strip()
    return (slug(claim.attribute), slug(value)) if claim.attribute and value else None


def _patched(kind: MemoryType, name: str) -> Field:
    """The patch field of that name; a type without one called content takes its first."""
    fields = {field.name: field for field in kind.fields if field.merge == "patch"}
    if name == CONTENT and fields:
        return fields.get(name) or next(iter(fields.values()))
    if name not in fields:
        raise _Refusal(f"has no field {name[:40]!r} that takes lines")
    return fields[name]


def _valid(field: Field, setting: Setting) -> str | int:
    if field.merge == "sum":
        if type(setting.value) is not int or abs(setting.value) > MAX_COUNT:
            raise _Refusal("is no number that can be added")
        return setting.value
    text = beginning(_one_line(str(setting.value)), MAX_VALUE_CHARS)
    if not text or not setting.quote:
        raise _Refusal("is empty, or has no quote")
    return text


def _declared(kind: MemoryType, cited: Cited) -> Iterator[CandidateValue]:
    """What the files of a type that is not in the registry must say themselves."""
    if kind.name in REGISTRY:
        return
    for name, text in ((TEMPLATE, kind.template), (INDEX, kind.index)):
        where = cited.model_dump(include=set(Cited.model_fields))
        yield CandidateValue(field=name, merge="replace", value=text, **where)
