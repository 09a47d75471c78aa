"""What was said, escaped and framed as data.

`<`, `>` and `&` of archived text become entities, so nothing in it can close a message or the frame, or open a new one;
characters that are not to be seen (control, bidirectional, tags) become visible references. An answer's quotes are
read back the same way (`quotes.py`).
"""

import re
import sys
from collections.abc import Iterator

from strandline.domain.extraction import Transcript, Turn
from strandline.domain.language_model.speakers import Speaker, speakers, spoken

MAX_TURN_CHARS = 60_000
"""Characters of one message that are shown. A pasted book would fit into no model's window."""

MAX_NAME_CHARS = 120

INJECTION = "injection"
"""The flag of a message that was found to speak to models when it was stored."""

UNSEEN = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff"
)
"""Characters, as those of a regular expression's set, that a reader does not see and a model may be steered by."""

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_CHARACTERS = {entity: c for c, entity in _ENTITIES.items()}
_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|#x[0-9a-f]{1,6});")
_IN_TEXT = re.compile(rf"[&<>{UNSEEN}]")
_IN_NAME = re.compile(rf"[&<>\"\t\n{UNSEEN}]")


def frame(transcript: Transcript) -> str:
    """The speakers, then every message with seq, speaker and its own time."""
    known = speakers(transcript)
    return "\n".join(
        [
            "<conversation>",
            *map(_speaker, known.values()),
            *(_message(turn, known[turn.speaker, turn.role].label) for turn in spoken(transcript)),
            "</conversation>",
        ]
    )


def _speaker(speaker: Speaker) -> str:
    name = _IN_NAME.sub(_escaped, speaker.name[:MAX_NAME_CHARS])
    return f'<speaker id="{speaker.label}" role="{speaker.role}" name="{name}"/>'


def _message(turn: Turn, label: str) -> str:
    at = f"{turn.at:%A} {turn.at.isoformat(timespec='minutes')}"
    warning = ' gives="orders"' if INJECTION in turn.flags else ""
    return f'<message seq="{turn.seq}" speaker="{label}" at="{at}"{warning}>{"".join(_shown(turn.text))}</message>'


def _shown(text: str) -> Iterator[str]:
    yield _IN_TEXT.sub(_escaped, text[:MAX_TURN_CHARS])
    if len(text) > MAX_TURN_CHARS:
        yield f"<cut characters={len(text) - MAX_TURN_CHARS}/>"


def unescaped(text: str) -> str:
    """A text from the frame as it was before."""
    return _ENTITY.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    known = _CHARACTERS.get(match[0])
    code = 0 if known else int(match[0][3:-1], 16)
    return known or (chr(code) if code <= sys.maxunicode else match[0])


def _escaped(match: re.Match[str]) -> str:
    c = match[0]
    return _ENTITIES.get(c) or f"&#x{ord(c):x};"
