"""Tool outputs that are too long for a message: an object of their own, and a preview where they were.

What a message of role `tool` says is an output as well, in its content or its text parts.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from strandline.domain.errors import InvalidArgument
from strandline.domain.graphemes import beginning
from strandline.domain.message import MessageIn, Part, Refs, TextPart, ToolPart

MAX_INLINE_CHARS = 20_000
PREVIEW_CHARS = 2_000
ID_DIGITS = 32
_ID = re.compile(rf"tr_[0-9a-f]{{{ID_DIGITS}}}")


@dataclass(frozen=True)
class ToolOutput:
    """A whole output, and what it is known by. The same output of the same message always has the same id."""

    id: str
    tool_id: str
    tool_name: str
    message_id: str
    sha256: str
    content: str

    @property
    def total_chars(self) -> int:
        return len(self.content)


@dataclass(frozen=True)
class Shortened:
    """A message with previews, the whole outputs, and which part (or the content: None) refers to which."""

    message: MessageIn
    outputs: tuple[ToolOutput, ...] = ()
    refs: Refs | None = None


def shorten(message: MessageIn) -> Shortened:
    """Puts previews in place of long outputs. Raises InvalidArgument for what is no valid Unicode."""
    long = dict(_long_outputs(message))
    if not long:
        return Shortened(message)
    outputs = {place: _output(message, place, text) for place, text in long.items()}
    parts = message.parts and [_previewed(part, outputs.get(n)) for n, part in enumerate(message.parts)]
    content = preview(long[None]) if None in long else message.content
    refs = {
        place: {"id": output.id, "total_chars": output.total_chars, "sha256": output.sha256}
        for place, output in outputs.items()
    }
    short = message.model_copy(update={"content": content, "parts": parts})
    return Shortened(short, tuple(outputs.values()), refs)


def preview(text: str) -> str:
    """The beginning of a text: up to the last line end in the second half of what a preview may hold, or all of it."""
    end = text.rfind("\n", PREVIEW_CHARS // 2, PREVIEW_CHARS)
    return text[:end] if end >= 0 else beginning(text, PREVIEW_CHARS)


def is_id(text: str) -> bool:
    """Whether a tool output may have this id."""
    return _ID.fullmatch(text) is not None


def _long_outputs(message: MessageIn) -> Iterator[tuple[int | None, str]]:
    spoken = message.role == "tool"
    if spoken and message.content is not None and len(message.content) > MAX_INLINE_CHARS:
        yield None, message.content
    for place, part in enumerate(message.parts or ()):
        text = _output_of(part, spoken=spoken)
        if text is not None and len(text) > MAX_INLINE_CHARS:
            yield place, text


def _output_of(part: Part, *, spoken: bool) -> str | None:
    match part:
        case ToolPart():
            return part.tool_output
        case TextPart() if spoken:
            return part.text
    return None


def _previewed(part: Part, output: ToolOutput | None) -> Part:
    if output is None:
        return part
    short = preview(output.content)
    if isinstance(part, TextPart):
        return part.model_copy(update={"text": short})
    told = {  # as the published client knows it
        "tool_output": short,
        "tool_output_ref": output.id,
        "tool_output_truncated": True,
        "tool_output_original_chars": output.total_chars,
        "tool_output_preview_chars": len(short),
        "tool_output_sha256": output.sha256,
    }
    return part.model_copy(update=told)


def _output(message: MessageIn, place: int | None, text: str) -> ToolOutput:
    part = message.parts[place] if message.parts and place is not None else None
    tool = part if isinstance(part, ToolPart) else None
    digest = hashlib.sha256(_utf8(text)).hexdigest()
    identity = hashlib.sha256(f"{message.id}\0{place}\0{digest}".encode()).hexdigest()[:ID_DIGITS]
    return ToolOutput(
        id=f"tr_{identity}",
        tool_id=tool.tool_id if tool else "",
        tool_name=tool.tool_name if tool else "",
        message_id=message.id or "",
        sha256=digest,
        content=text,
    )


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgument(
            "text contains a lone surrogate, which is not valid Unicode; remove it"
        ) from error
