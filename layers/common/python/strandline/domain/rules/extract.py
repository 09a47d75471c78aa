"""The rule extractor: from the messages of an archive to its memory lines and its summary."""

from strandline.domain.extraction import Claim, Extraction, Proposal, Transcript
from strandline.domain.rules.entities import Entity, entities
from strandline.domain.rules.kinds import EVENTS, Route, route
from strandline.domain.rules.lines import Line, Question, lines_of, question_of
from strandline.domain.rules.summary import Conversation, abstract, overview, title
from strandline.domain.rules.text import one_line
from strandline.domain.rules.voices import Voice, name_words, voice_of, voices

EXTRACTOR = "rules/1"

MAX_CLAIMS = 3000
"""Lines taken from one archive; what comes later is left to the archive itself."""


def extract(transcript: Transcript) -> Extraction:
    """Memory lines, abstract and overview of an archive, by rules alone: the same input gives the same bytes."""
    speakers = voices(transcript)
    about = Conversation(transcript, speakers, _lines(transcript, name_words(speakers)))
    return Extraction(
        extractor=EXTRACTOR,
        abstract=abstract(about),
        overview=overview(about),
        proposals=_proposals(about),
    )


def _lines(transcript: Transcript, names: frozenset[str]) -> list[Line]:
    found: dict[tuple[str | None, str], Line] = {}
    asked: tuple[Voice, Question | None] | None = None
    for turn in transcript.turns:
        voice = voice_of(turn)
        if voice is None:
            continue
        question = asked[1] if asked and asked[0] != voice else None
        for line in lines_of(turn, voice, question, names):
            found.setdefault((voice.peer, line.text), line)
        asked = voice, question_of(turn, names)
        if len(found) >= MAX_CLAIMS:
            break
    return list(found.values())[:MAX_CLAIMS]


def _proposals(about: Conversation) -> tuple[Proposal, ...]:
    known = entities((line.said for line in about.lines if not line.is_caption), about.names)
    to_assistant = any(v.is_assistant for v in about.speakers)
    files: dict[tuple[str | None, Route], list[Claim]] = {}
    for line in about.lines:
        files.setdefault((line.voice.peer, _route(line, known, to_assistant)), []).append(_claim(line))
    name = title(about)
    return tuple(
        Proposal(
            memory_type=r.memory_type,
            peer=peer,
            fields={"name": name} if r == EVENTS else dict(r.fields),
            claims=tuple(claims),
        )
        for (peer, r), claims in files.items()
    )


def _route(line: Line, known: dict[str, Entity], to_assistant: bool) -> Route:
    if line.voice.is_assistant or line.is_caption:
        return EVENTS
    return route(line.said, dated=line.dated, to_assistant=to_assistant, known=known)


def _claim(line: Line) -> Claim:
    return Claim(text=one_line(line.text), seq_from=line.seq_from, seq_to=line.seq_to, quote=line.quote)
