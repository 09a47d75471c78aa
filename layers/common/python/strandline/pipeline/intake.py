"""What is stored of the messages of a request: split, without secrets, counted, long tool outputs set apart.

Nothing is written here: `append` writes the outputs first, then the messages that refer to them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from strandline.domain.errors import InvalidArgument
from strandline.domain.message import MAX_STORED, Draft, MessageIn, Notes, draft, split
from strandline.domain.screening import refuse_many_texts, screen
from strandline.domain.tool_output import ToolOutput, shorten
from strandline.pipeline.services import Services


@dataclass(frozen=True)
class Intake:
    """Messages ready to be stored, and the tool outputs that they refer to, which are stored before them."""

    drafts: Sequence[Draft]
    outputs: Sequence[ToolOutput]


def take_in(services: Services, messages: Sequence[MessageIn]) -> Intake:
    """Raises InvalidArgument, PayloadTooLarge."""
    parts = [part for message in messages for part in split(message)]
    if len(parts) > MAX_STORED:
        raise InvalidArgument(
            f"a request stores at most {MAX_STORED} messages, this one {len(parts)}: send less"
        )
    refuse_many_texts(parts)
    now = services.clock.now()
    taken = [_take(services, part, now) for part in parts]
    return Intake([draft for draft, _ in taken], [output for _, outputs in taken for output in outputs])


def _take(services: Services, message: MessageIn, now: datetime) -> tuple[Draft, Sequence[ToolOutput]]:
    screened = screen(message, services.rules.redaction, services.rules.allowed)
    short = shorten(screened.message)
    tokens = sum(map(services.tokens.count, short.message.texts()))
    notes = Notes(screened.flags, short.refs)
    stored = draft(short.message, message_id=message.id or "", now=now, tokens=tokens, notes=notes)
    return stored, short.outputs
