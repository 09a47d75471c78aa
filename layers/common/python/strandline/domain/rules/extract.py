"""The rule extractor: from the messages of an archive to its memory lines and its summary."""

from collections.abc import Iterator, Sequence
from itertools import islice

from strandline.domain.extraction import Claim, Extraction, Proposal, Transcript
from strandline.domain.rules.entities import Known, entities
from strandline.domain.rules.keyed import Keyed, by_keyword, keyed
from strandline.domain.rules.kinds import EVENTS, PROFILE, Route, Statement, favourite_route, route
from strandline.domain.rules.lines import Line, lines_of, question_of
from strandline.domain.rules.messages import Conversation, Message, conversation
from strandline.domain.rules.standing import FAVOURITE, Standing, standing
from strandline.domain.rules.summary import summarise
from strandline.domain.rules.tools import tool_uses
from strandline.domain.text import one_line

EXTRACTOR = "rules/1"

MAX_CLAIMS = 3000
"""Lines taken from one archive; what comes later is left to the archive itself."""


def extract(transcript: Transcript) -> Extraction:
    """Memory lines and abstract of an archive, by rules alone: the same input gives the same bytes."""
    about = conversation(transcript)
    lines = lines_said(about)
    summary = summarise(about, lines)
    return Extraction(
        extractor=EXTRACTOR,
        abstract=summary.abstract,
        proposals=(*_proposals(about, lines, summary.title, keyed(transcript.types)), *tool_uses(transcript)),
    )


def lines_said(about: Conversation) -> list[Line]:
    """The lines of all messages; what one speaker says twice is taken the first time."""
    found: dict[tuple[str | None, str], Line] = {}
    previous: Message | None = None
    for message in about.messages:
        asked = question_of(previous, about) if previous and previous.voice != message.voice else None
        for line in lines_of(message, asked, about):
            found.setdefault((line.voice.peer, line.text), line)
        previous = message
        if len(found) >= MAX_CLAIMS:
            break
    return list(islice(found.values(), MAX_CLAIMS))


def _proposals(about: Conversation, lines: Sequence[Line], title: str, own: Keyed) -> tuple[Proposal, ...]:
    known = entities(_spoken(lines), about.names)
    holding = _standings(lines)
    files: dict[tuple[str | None, Route], list[Claim]] = {}
    for n, line in enumerate(lines):
        to, holds = _with_standing(_route(line, known, about, own), holding.get(n))
        files.setdefault((line.voice.peer, to), []).append(_claim(line, holds))
    return tuple(
        Proposal(
            memory_type=r.memory_type,
            peer=peer,
            fields={"name": title} if r == EVENTS else dict(r.fields),
            claims=tuple(claims),
        )
        for (peer, r), claims in files.items()
    )


def _standings(lines: Sequence[Line]) -> dict[int, Standing]:
    """What lines say holds from now on, by their place; nothing where one message says two things of the same."""
    found: dict[tuple[int, str], dict[int, Standing]] = {}
    for n, line in enumerate(lines):
        alone = line.said == line.whole and not (line.asked or line.is_caption or line.voice.is_assistant)
        holds = standing(line.said) if alone else None
        if holds:
            found.setdefault((line.seq_to, holds.attribute), {})[n] = holds
    clear = (each for each in found.values() if len({holds.value for holds in each.values()}) == 1)
    return {n: holds for each in clear for n, holds in each.items()}


def _with_standing(to: Route, holds: Standing | None) -> tuple[Route, Standing | None]:
    """Favourites of a kind go into one file, or none could take the place of another."""
    if holds is None:
        return to, None
    if holds.attribute.startswith(FAVOURITE):
        return (favourite_route(holds.attribute), holds) if to.memory_type == "preferences" else (to, None)
    return to, holds if to == PROFILE else None


def _spoken(lines: Sequence[Line]) -> Iterator[str]:
    """What was said, with the questions that were answered, in order."""
    for line in lines:
        if not line.is_caption:
            yield from filter(None, (line.asked, line.whole))


def _route(line: Line, known: Known, about: Conversation, own: Keyed) -> Route:
    if line.voice.is_assistant or line.is_caption:
        return EVENTS
    named = by_keyword(line.whole, own)
    if named is not None:
        return Route(named)
    said = Statement(line.said, line.whole, line.asked, line.dated)
    return route(said, known, to_assistant=about.has_assistant)


def _claim(line: Line, holds: Standing | None) -> Claim:
    return Claim(
        text=one_line(line.text),
        seq_from=line.seq_from,
        seq_to=line.seq_to,
        quote=line.quote,
        attribute=holds.attribute if holds else "",
        value=holds.value if holds else "",
    )
