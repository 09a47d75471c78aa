"""Candidates that are stored already, without their secrets.

A quote that had one is noted nowhere any more; of any other the place is noted anew, as what stood before it in its
message may have become longer or shorter.
"""

from collections.abc import Mapping
from typing import TypeVar

from strandline.domain.candidates import (
    CandidateFile,
    CandidateLine,
    CandidatePatch,
    Candidates,
    CandidateValue,
    Cited,
)
from strandline.domain.cleaning import Cleaner
from strandline.domain.line import NO_QUOTE
from strandline.domain.quotes import place, read_quote

Texts = Mapping[int, str]
C = TypeVar("C", bound=Cited)


def clean_candidates(candidates: Candidates, cleaner: Cleaner, before: Texts, after: Texts) -> Candidates:
    """Of an archive whose messages said `before` and say `after` (texts by seq). The same when all is clean."""
    return _Cleaning(cleaner, before, after).candidates(candidates)


class _Cleaning:
    def __init__(self, cleaner: Cleaner, before: Texts, after: Texts) -> None:
        self._text = cleaner.derived
        self._before = before
        self._after = after

    def candidates(self, candidates: Candidates) -> Candidates:
        clean = candidates.model_copy(
            update={
                "abstract": self._text(candidates.abstract),
                "files": tuple(map(self._file, candidates.files)),
            }
        )
        return candidates if clean == candidates else clean

    def _file(self, file: CandidateFile) -> CandidateFile:
        return file.model_copy(
            update={
                "title": self._text(file.title),
                "lines": tuple(map(self._line, file.lines)),
                "patches": tuple(map(self._patch, file.patches)),
                "values": tuple(map(self._value, file.values)),
            }
        )

    def _line(self, line: CandidateLine) -> CandidateLine:
        text = self._text(line.text)
        return self._placed(line.model_copy(update={"text": text}), unquoted=text != line.text)

    def _patch(self, patch: CandidatePatch) -> CandidatePatch:
        search = tuple(map(self._text, patch.search))
        update = {"search": search, "lines": tuple(map(self._line, patch.lines))}
        return self._placed(patch.model_copy(update=update), unquoted=search != patch.search)

    def _value(self, value: CandidateValue) -> CandidateValue:
        said = self._text(value.value) if isinstance(value.value, str) else value.value
        return self._placed(value.model_copy(update={"value": said}), unquoted=said != value.value)

    def _placed(self, cited: C, *, unquoted: bool) -> C:
        if unquoted:
            return cited.model_copy(update={"quote": NO_QUOTE, "quoted": None})
        if cited.quoted is None or read_quote(cited.quoted, cited.quote, self._after):
            return cited
        said = read_quote(cited.quoted, cited.quote, self._before)
        cites = {seq: text for seq, text in self._after.items() if cited.seq_from <= seq <= cited.seq_to}
        return cited.model_copy(update={"quoted": place(said, cites)}) if said else cited
