"""Candidates: what an extraction proposed and `admission` let pass, ready to be merged.

Stored once per archive, so that a repeated merge applies the same and a model is paid once.
"""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from strandline.domain.extraction import Usage
from strandline.domain.field_value import FieldValue, ValueMerge
from strandline.domain.line import CONTENT, Attribute, Line, Source
from strandline.domain.link import Link
from strandline.domain.merging import Addition
from strandline.domain.patch import Patch
from strandline.domain.quotes import Quoted, read_quote
from strandline.domain.redaction import MARKER

OUTSIDE = "cites messages outside the archive"
UNQUOTED = "its quote is not in the messages it cites"


class Cited(BaseModel):
    """Where something was said: its messages, the time of the last, the hash of what is quoted, and where that stands
    (None: nowhere, as of what a patch looks for)."""

    model_config = ConfigDict(frozen=True)

    at: str
    seq_from: int
    seq_to: int
    quote: str
    quoted: Quoted | None = None

    def unfounded(self, texts: Mapping[int, str]) -> str | None:
        """What speaks against it, held against the archive (texts by seq); None when nothing does."""
        if not (self.seq_from in texts and self.seq_to in texts):
            return OUTSIDE
        if self.quoted is None:
            return None
        cited = self.seq_from <= self.quoted.seq <= self.seq_to
        # it was there when it was admitted; a scrub may have taken a secret out of the message since
        there = MARKER in texts.get(self.quoted.seq, "") or read_quote(self.quoted, self.quote, texts)
        return None if cited and there else UNQUOTED


class CandidateLine(Cited):
    text: str
    field: str = CONTENT
    attribute: tuple[str, str] | None = None


class CandidatePatch(Cited):
    search: tuple[str, ...]
    lines: tuple[CandidateLine, ...]
    field: str = CONTENT

    def unfounded(self, texts: Mapping[int, str]) -> str | None:
        reasons = (super().unfounded(texts), *(line.unfounded(texts) for line in self.lines))
        return next(filter(None, reasons), None)


class CandidateValue(Cited):
    field: str
    merge: ValueMerge
    value: str | int


class CandidateLink(BaseModel):
    model_config = ConfigDict(frozen=True)

    back: bool
    type: str
    path: str
    at: str | None = None


class CandidateFile(BaseModel):
    model_config = ConfigDict(frozen=True)

    path: str
    type: str
    title: str
    peer: str | None
    lines: tuple[CandidateLine, ...] = ()
    patches: tuple[CandidatePatch, ...] = ()
    values: tuple[CandidateValue, ...] = ()
    links: tuple[CandidateLink, ...] = ()

    def founded(self, texts: Mapping[int, str]) -> tuple["CandidateFile | None", list["Rejected"]]:
        """What of it the archive (texts by seq) bears out, None for nothing; and what it does not."""
        kept: dict[str, tuple[Cited, ...]] = {}
        rejected: list[Rejected] = []
        for name in ("lines", "patches", "values"):
            each: tuple[Cited, ...] = getattr(self, name)
            kept[name] = tuple(cited for cited in each if not cited.unfounded(texts))
            rejected += [
                Rejected(reason=why, memory_type=self.type, seq_from=cited.seq_from, seq_to=cited.seq_to)
                for cited in each
                if (why := cited.unfounded(texts))
            ]
        if not rejected:
            return self, []
        return (self.model_copy(update=kept) if any(kept.values()) else None), rejected


def _linked_among(files: Sequence[CandidateFile]) -> tuple[CandidateFile, ...]:
    """The files without links to any other."""
    there = {file.path for file in files}
    return tuple(
        file.model_copy(update={"links": tuple(link for link in file.links if link.path in there)})
        for file in files
    )


class Rejected(BaseModel):
    model_config = ConfigDict(frozen=True)

    reason: str
    memory_type: str
    seq_from: int
    seq_to: int


class Candidates(BaseModel):
    """One archive's candidates, as stored in `candidates.json`. `types`: by which version of which custom type.
    `begun`: the archive that names the task which this one judges without naming it; 0: there is none."""

    model_config = ConfigDict(frozen=True)

    extraction: str
    extractor: str
    session_id: str
    archive: int
    abstract: str
    files: tuple[CandidateFile, ...]
    rejected: tuple[Rejected, ...]
    usage: Usage | None = None
    types: Mapping[str, str] = {}
    begun: int = 0

    def founded(self, texts: Mapping[int, str]) -> "Candidates":
        """The same without what the archive (texts by seq) does not bear out; that is rejected."""
        checked = [file.founded(texts) for file in self.files]
        rejected = tuple(each for _, refused in checked for each in refused)
        files = _linked_among([file for file, _ in checked if file])
        return (
            self.model_copy(update={"files": files, "rejected": (*self.rejected, *rejected)})
            if rejected
            else self
        )

    def with_cases_of(self, first: "Candidates") -> "Candidates":
        """The same archive extracted again, with the cases that it had `first`: its lesson is of these."""
        there = {file.path for file in self.files}
        more = [file for file in first.files if file.type == "cases" and file.path not in there]
        files = sorted((*self.files, *more), key=lambda file: file.path)
        return self.model_copy(update={"files": tuple(files)})

    def additions(self) -> Iterator[Addition]:
        """What the merge applies, one addition a file."""
        for file in self.files:
            yield Addition(
                self.extraction,
                file.path,
                file.type,
                file.title,
                file.peer,
                lines=tuple(map(self._line, file.lines)),
                patches=tuple(map(self._patch, file.patches)),
                values=tuple(map(self._value, file.values)),
                links=tuple(Link(link.back, link.type, link.path, link.at) for link in file.links),
            )

    def _source(self, cited: Cited) -> Source:
        return Source(cited.at, self.session_id, self.archive, cited.seq_from, cited.seq_to, cited.quote)

    def _line(self, line: CandidateLine) -> Line:
        attribute = Attribute(*line.attribute) if line.attribute else None
        return Line(self._source(line), line.text, line.field, attribute)

    def _patch(self, patch: CandidatePatch) -> Patch:
        return Patch(self._source(patch), patch.search, tuple(map(self._line, patch.lines)), patch.field)

    def _value(self, value: CandidateValue) -> FieldValue:
        return FieldValue(value.field, value.merge, value.value, value.at, self._source(value).place)
