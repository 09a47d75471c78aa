"""What the service stores as one message at most."""

import json
from collections.abc import Iterator
from dataclasses import replace

from strandline_sdk.importers.imported import Bad, ImportedSession, InputError
from strandline_sdk.model import Message, Part

MAX_MESSAGE_BYTES = 1024 * 1024
MAX_REQUEST_BYTES = 6 * 1024 * 1024
_AROUND = len('{"messages":[]}')


def fitting(session: ImportedSession, bad: Bad) -> ImportedSession:
    """The session without the messages that are too large to be stored."""
    problems = [_too_large(message) for message in session.messages]
    if not any(problems):
        return session
    for place, problem in zip(session.places, problems, strict=True):
        if problem:
            bad(InputError(place, problem))
    kept = [n for n, problem in enumerate(problems) if not problem]
    return replace(
        session, messages=[session.messages[n] for n in kept], places=[session.places[n] for n in kept]
    )


def body_bytes(message: Message) -> int:
    """The message's size in a request's body."""
    return len(json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))


def _too_large(message: Message) -> str | None:
    """Tool outputs do not count as text, since large ones are stored beside their message."""
    if (size := body_bytes(message)) <= MAX_MESSAGE_BYTES:
        return None
    text = sum(len(text.encode("utf-8", "replace")) for text in _texts(message))
    if text > MAX_MESSAGE_BYTES:
        return f"holds {text:,} bytes of text, and a message may hold {MAX_MESSAGE_BYTES:,}: split it"
    if size + _AROUND > MAX_REQUEST_BYTES:
        return (
            f"takes {size:,} bytes, and a request may hold {MAX_REQUEST_BYTES:,}: shorten the tool's output"
        )
    return None


def _texts(message: Message) -> Iterator[str]:
    yield message.get("content") or ""
    for part in message.get("parts") or ():
        yield from _part_texts(part)


def _part_texts(part: Part) -> Iterator[str]:
    match part["type"]:
        case "text":
            yield part["text"]
        case "image_url":
            yield part["image_url"]["url"]
        case "context":
            yield part.get("abstract", "")
        case "tool":
            yield part.get("tool_name", "")
            yield "" if part.get("tool_input") is None else json.dumps(part["tool_input"], ensure_ascii=False)
