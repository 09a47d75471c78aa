"""Candidates: what an extraction proposed and `admission` let pass, ready to be merged.

Stored once per archive, so that a repeated merge applies the same and a model is paid once.
"""

from collections.abc import Iterator, Mapping

from pydantic import BaseModel, ConfigDict

from strandline.domain.extraction import Usage
from strandline.domain.field_value import FieldValue, ValueMerge
from strandline.domain.line import CONTENT, Attribute, Line, Source
from strandline.domain.link import Link
from strandline.domain.merging import Addition
from strandline.domain.patch import Patch


class Cited(BaseModel):
    """Where something was said: its messages, the time of the last, and the hash of what is quoted."""

    model_config = ConfigDict(frozen=True)

    at: str
    seq_from: int
    seq_to: int
    quote: str


class CandidateLine(Cited):
    text: str
    field: str = CONTENT
    attribute: tuple[str, str] | None = None


class CandidatePatch(Cited):
    search: tuple[str, ...]
    lines: tuple[CandidateLine, ...]
    field: str = CONTENT


class CandidateValue(Cited):
    field: str
    merge: ValueMerge
    value: str | int


class CandidateLink(BaseModel):
    model_config = ConfigDict(frozen=True)

    back: bool
    type: str
    path: str


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


class Rejected(BaseModel):
    model_config = ConfigDict(frozen=True)

    reason: str
    memory_type: str
    seq_from: int
    seq_to: int


class Candidates(BaseModel):
    """One archive's candidates, as stored in `candidates.json`. `types`: by which version of which custom type."""

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
    types: Mapping[str, str] = {}

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
                links=tuple(Link(link.back, link.type, link.path) for link in file.links),
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
