"""reading: a language model reads an archive, part by part, so that each part is paid once.

in             the transcript of an archive
out            one extraction of all parts; None when there is no time left for the next one
commit point   create-once PUT of a part's answer (`part.<first>-<last>.json`); an archive that fits into one part has
               none, its answer goes straight into the candidates
on duplicate   a part that has been answered is not asked about again
on crash       the answered parts are there, the others are asked about when the message comes again. What an answer
               that did not fit has cost is kept too, so the same question is not asked twice

Kept, because a long archive takes minutes and a function has two: without it, one that needs more would be paid again
and again and never end. A part is asked about once in a delivery; one that fails, fails the delivery.
"""

from collections import deque
from collections.abc import Sequence
from datetime import datetime

from pydantic import BaseModel, ValidationError

from strandline.domain.contracts import ExtractRequested
from strandline.domain.errors import AnswerCut
from strandline.domain.extraction import Extraction, Transcript, Usage
from strandline.domain.language_model.combine import joined, total
from strandline.domain.language_model.parts import halves, span, split
from strandline.pipeline.services import Services
from strandline.ports import Model
from strandline.storage.layout import Life, Rebuild, user_of
from strandline.storage.once import fetch, write_once


class Part(BaseModel):
    """What came of a question about a part; without an extraction, its answer did not fit: ask about each half."""

    extraction: Extraction | None
    usage: Usage


def read(
    services: Services, model: Model, request: ExtractRequested, archive: Transcript
) -> Extraction | None:
    """Everything the model finds in the archive, or None when the rest has to be read later.

    Raises ExtractionFailed when a part cannot be read, Unavailable when the store did not answer.
    """
    started = services.clock.now()
    waiting = deque(split(archive, services.rules.part_tokens, services.tokens.count))
    alone, asked = len(waiting) == 1, False
    done: list[tuple[Transcript, Part]] = []
    while waiting:
        transcript = waiting.popleft()
        part = _answered(services, request, transcript)
        if part is None:
            if asked and not _time_for_another(services, started):
                return None
            part, asked = _ask(model, transcript), True
            if part.extraction is None or not alone:
                _keep(services, request, transcript, part)
        if part.extraction is None:
            waiting.extendleft(reversed(halves(transcript)))
            alone = False
        done.append((transcript, part))
    return _whole(done)


def _time_for_another(services: Services, started: datetime) -> bool:
    spent = (services.clock.now() - started).total_seconds()
    return spent + services.rules.part_seconds <= services.rules.extract_seconds


def _ask(model: Model, transcript: Transcript) -> Part:
    try:
        extraction = model.extract(transcript)
    except AnswerCut as cut:
        if len(transcript.turns) == 1:
            raise
        return Part(extraction=None, usage=cut.usage or Usage())
    return Part(extraction=extraction, usage=extraction.usage or Usage())


def _answered(services: Services, request: ExtractRequested, transcript: Transcript) -> Part | None:
    body = fetch(services.objects, _key(request, transcript))
    try:
        return None if body is None else Part.model_validate_json(body)
    except ValidationError:
        return None  # of another version: asked again, as if it were not there


def _keep(services: Services, request: ExtractRequested, transcript: Transcript, part: Part) -> None:
    write_once(services.objects, _key(request, transcript), part.model_dump_json().encode())


def _key(request: ExtractRequested, transcript: Transcript) -> str:
    if request.rebuild:
        place = Rebuild(user_of(request.session), request.rebuild)
        return place.part(request.session, request.archive, *span(transcript))
    return Life(request.session).part(request.archive, *span(transcript))


def _whole(done: Sequence[tuple[Transcript, Part]]) -> Extraction:
    answers = [(span(transcript), part.extraction) for transcript, part in done if part.extraction]
    return joined(answers, total([part.usage for _, part in done]))
