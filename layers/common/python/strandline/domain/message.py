"""Messages: what a client may send, and the one JSON line that is stored, archived and read back unchanged."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Annotated, Any, Literal
from urllib.parse import unquote

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from strandline.domain.errors import InvalidArgument, PayloadTooLarge
from strandline.domain.names import encode
from strandline.domain.scalars import Real, Switched, Whole
from strandline.domain.times import parse, stamp

MAX_BATCH = 100
MAX_PARTS = 100
MAX_SOURCES = 1000
MAX_STORED = 500  # well under the ids that a head keeps, so a repeat of any request is recognised
MAX_ANSWER_BYTES = 2 * 1024 * 1024  # of stored lines; as a string within JSON they stay under Lambda's 6 MB
MAX_MESSAGE_BYTES = 1024 * 1024
ID_HASH_BYTES = 8
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def _one_segment(text: str) -> str:
    if any(ord(c) < 32 or c == "\x7f" for c in text):
        raise ValueError("must not contain control characters")
    if set(text) & set("/\\?") or text in (".", ".."):
        raise ValueError("must not contain '/', '?' or a backslash, and must not be '.' or '..'")
    try:
        encode(text)
    except InvalidArgument as error:
        raise ValueError(error.message) from error
    return text


def _written_out(given: Any) -> Any:
    """Not a number, nor one in quotes: whether it counts seconds or milliseconds could only be guessed."""
    if isinstance(given, datetime) or (isinstance(given, str) and _DATE.match(given)):
        return given
    raise ValueError("must be a time as in 2026-05-08T07:00:00Z")


def _in_range(at: datetime) -> datetime:
    try:
        stamp(at)
    except OverflowError as error:
        raise ValueError("is outside the years 1 to 9999") from error
    return at


def _plain_name(text: str) -> str:
    """A peer's id becomes part of memory paths, and those are refused when they climb, encoded or not."""
    plain = unquote(unquote(text))
    if plain in (".", "..") or any(c in "/\\" or ord(c) < 32 for c in plain):
        raise ValueError("must not contain '/', a backslash or control characters, also percent-encoded")
    return text


_PLAIN = {"pattern": r"^[^\x00-\x1f\x7f/\\?]+$"}  # as a description can say it; _one_segment decides
Identifier = Annotated[
    str, Field(min_length=1, max_length=128, json_schema_extra=_PLAIN), AfterValidator(_one_segment)
]
PeerId = Annotated[Identifier, AfterValidator(_plain_name)]
MessageId = Annotated[str, Field(min_length=1, max_length=256)]
Moment = Annotated[datetime, BeforeValidator(_written_out), AfterValidator(_in_range)]


class TextPart(BaseModel):
    type: Literal["text"]
    text: str


class ContextPart(BaseModel):
    type: Literal["context"]
    uri: str = Field(max_length=2048)
    context_type: str = Field(default="memory", max_length=64)
    abstract: str = ""


class ImageUrl(BaseModel):
    url: str = Field(min_length=1)
    detail: str | None = Field(default=None, max_length=64)


class ImagePart(BaseModel):
    type: Literal["image_url"]
    image_url: ImageUrl


class CutOutput(BaseModel):
    """What is said of a tool output that is not, or not all, in its message: where it is and how much of it is here."""

    tool_output_ref: str | None = Field(default=None, max_length=512)
    tool_output_truncated: Switched | None = None
    tool_output_original_chars: Whole | None = Field(default=None, ge=0)
    tool_output_preview_chars: Whole | None = Field(default=None, ge=0)
    tool_output_sha256: str | None = Field(default=None, max_length=128)
    tool_output_storage_uri: str | None = Field(default=None, max_length=2048)
    tool_output_mime_type: str | None = Field(default=None, max_length=256)
    tool_output_source_ref: str | None = Field(default=None, max_length=512)
    tool_output_source_offset: Whole | None = Field(default=None, ge=0)
    tool_output_source_limit: Whole | None = Field(default=None, ge=-1)
    tool_output_externalization_error: str | None = Field(default=None, max_length=512)
    tool_output_group_id: str | None = Field(default=None, max_length=256)
    tool_output_externalized_reason: str | None = Field(default=None, max_length=256)
    tool_output_group_original_chars: Whole | None = Field(default=None, ge=0)
    tool_output_group_budget_chars: Whole | None = Field(default=None, ge=0)


class ToolPart(CutOutput):
    type: Literal["tool"]
    tool_id: str = Field(default="", max_length=256)
    tool_name: str = Field(default="", max_length=256)
    tool_input: Any = None
    tool_output: str | None = None
    tool_status: Literal["pending", "running", "completed", "error"] = "completed"
    tool_uri: str | None = Field(default=None, max_length=2048)
    skill_uri: str | None = Field(default=None, max_length=2048)
    duration_ms: Real | None = Field(default=None, allow_inf_nan=False)
    prompt_tokens: Whole | None = None
    completion_tokens: Whole | None = None


Refs = Mapping[int | None, Mapping[str, Any]]
Part = Annotated[TextPart | ContextPart | ImagePart | ToolPart, Field(discriminator="type")]


class MessageIn(BaseModel):
    """A message as a client sends it. Exactly one of `content` and `parts`; fields not named here are ignored."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    role: Literal["user", "assistant", "system", "tool"]
    content: str | None = None
    parts: list[Part] | None = Field(default=None, min_length=1, max_length=MAX_PARTS)
    id: MessageId | None = None
    peer_id: PeerId | None = None
    created_at: Moment | None = None
    turn_id: str | None = Field(default=None, max_length=256)
    message_kind: str | None = Field(default=None, max_length=64)
    source_message_ids: list[MessageId] | None = Field(default=None, max_length=MAX_SOURCES)
    metadata: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _one_body(self) -> "MessageIn":
        if (self.content is None) == (self.parts is None):
            raise ValueError("give exactly one of 'content' and 'parts'")
        return self

    def texts(self) -> Iterable[str]:
        """Every piece of text that counts: content, part texts, abstracts, tool names, inputs and outputs."""
        if self.content is not None:
            yield self.content
        for part in self.parts or ():
            yield from _part_texts(part)

    def size(self) -> int:
        """Bytes of everything in it that has no limit of its own: the texts, images given inline, and metadata."""
        images = [part.image_url.url for part in self.parts or () if isinstance(part, ImagePart)]
        extra = len(dumps(self.metadata)) if self.metadata else 0
        return extra + sum(len(text.encode("utf-8", "surrogatepass")) for text in (*self.texts(), *images))


def _part_texts(part: TextPart | ContextPart | ImagePart | ToolPart) -> Iterable[str]:
    match part:
        case TextPart():
            yield part.text
        case ContextPart():
            yield part.abstract
        case ToolPart():
            yield part.tool_name
            yield "" if part.tool_input is None else dumps(part.tool_input).decode()
            yield part.tool_output or ""


@dataclass(frozen=True)
class Notes:
    """What is stored of a message beside what its sender said: what was found in it, and where the whole of what was
    too long for it stands, by the number of the part (None: the content)."""

    flags: Sequence[str] = ()
    refs: Refs | None = None

    def on(self, fields: dict[str, Any]) -> dict[str, Any]:
        """The fields with the notes among them."""
        if self.flags:
            fields["flags"] = list(self.flags)
        for place, ref in (self.refs or {}).items():
            (fields if place is None else fields["parts"][place])["ref"] = ref
        return fields


@dataclass(frozen=True)
class Draft:
    """A message ready to be stored: everything but its seq, which the head gives it."""

    id: str
    body: bytes
    tokens: int

    @property
    def id_hash(self) -> bytes:
        return hash_id(self.id)

    def line(self, seq: int) -> bytes:
        """The stored JSON line, without a newline."""
        return b'{"seq":%d,' % seq + self.body[1:]


NO_NOTES = Notes()


def hash_id(message_id: str) -> bytes:
    """8 bytes that stand for a message id in the head: a new id meets one of the 1,024 kept once in 10^16 appends."""
    return hashlib.blake2b(message_id.encode(), digest_size=ID_HASH_BYTES).digest()


def dumps(value: Any) -> bytes:
    """The one JSON encoding of stored messages: compact UTF-8. Raises InvalidArgument for what JSON cannot hold."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError as error:
        raise InvalidArgument(
            "text contains a lone surrogate, which is not valid Unicode; remove it"
        ) from error
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"a value cannot be stored as JSON: {error}") from error


def split(message: MessageIn) -> Sequence[MessageIn]:
    """A user message of several tool parts is one message per tool result; any other stays as it is.

    The first keeps the message's id, the others get `<id>/2-<hash>`, `<id>/3-<hash>`, …: the same for a repeat, and
    no id that anybody else would choose.
    """
    parts = message.parts or []
    if message.role != "user" or len(parts) < 2 or not all(isinstance(p, ToolPart) for p in parts):
        return [message]
    ids = [message.id if n == 1 else _part_id(message.id, n) for n in range(1, len(parts) + 1)]
    return [message.model_copy(update={"parts": [p], "id": i}) for p, i in zip(parts, ids, strict=True)]


def _part_id(message_id: str | None, number: int) -> str | None:
    return message_id and f"{message_id}/{number}-{hash_id(f'{message_id}/{number}').hex()}"


def draft(
    message: MessageIn, *, message_id: str, now: datetime, tokens: int, notes: Notes = NO_NOTES
) -> Draft:
    """The stored form of a message. Raises PayloadTooLarge over 1 MiB, InvalidArgument for odd values."""
    size = message.size()
    if size > MAX_MESSAGE_BYTES:
        raise PayloadTooLarge(
            f"a message may hold {MAX_MESSAGE_BYTES} bytes, this one holds {size}: split it",
            message_id=message_id,
        )
    fields = message.model_dump(mode="python", exclude_none=True, exclude={"id", "created_at"})
    said = message.created_at or now
    own = {"id": message_id, "created_at": stamp(said), **_offset(said), "tokens": tokens}
    body = dumps({**own, **notes.on(fields)})
    return Draft(message_id, body, tokens)


def _offset(said: datetime) -> dict[str, int]:
    """Minutes east of UTC, unless there are none: "yesterday" counts from the speaker's own day."""
    minutes = int((said.utcoffset() or timedelta()).total_seconds()) // 60
    return {"utc_offset": minutes} if minutes else {}


def said_at(message: Mapping[str, Any]) -> datetime:
    """When a stored message was said, on the clock of whoever said it."""
    at = parse(message["created_at"])
    return at.astimezone(timezone(timedelta(minutes=message.get("utc_offset", 0))))


def read_line(line: bytes) -> dict[str, Any]:
    """The message of a stored line."""
    message: dict[str, Any] = json.loads(line)
    return message
