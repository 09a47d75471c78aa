"""What was said, escaped and framed as data.

`<`, `>` and `&` of archived text become entities, so nothing in it can close a message or the frame, or open a new one;
characters that are not to be seen (control, bidirectional, tags) become visible references. An answer's quotes are
read back the same way (`quotes.py`).
"""

from collections.abc import Iterator

from strandline.domain.escaping import escaped, escaped_name
from strandline.domain.extraction import Transcript, Turn
from strandline.domain.graphemes import beginning
from strandline.domain.language_model.speakers import Speaker, speakers, spoken

MAX_TURN_CHARS = 60_000
"""Characters of one message that are shown. A pasted book would fit into no model's window."""

MAX_NAME_CHARS = 120

INJECTION = "injection"
"""The flag of a message that was found to speak to models when it was stored."""


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
    name = escaped_name(beginning(speaker.name, MAX_NAME_CHARS))
    return f'<speaker id="{speaker.label}" role="{speaker.role}" name="{name}"/>'


def _message(turn: Turn, label: str) -> str:
    at = f"{turn.at:%A} {turn.at.isoformat(timespec='minutes')}"
    warning = ' gives="orders"' if INJECTION in turn.flags else ""
    return f'<message seq="{turn.seq}" speaker="{label}" at="{at}"{warning}>{"".join(_shown(turn.text))}</message>'


def _shown(text: str) -> Iterator[str]:
    yield escaped(beginning(text, MAX_TURN_CHARS))
    if len(text) > MAX_TURN_CHARS:
        yield f"<cut characters={len(text) - MAX_TURN_CHARS}/>"
