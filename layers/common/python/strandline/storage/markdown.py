"""How a memory becomes a markdown file with YAML front matter and comes back.

The front matter is derived from the memory; `sources` sums up where its lines come from. A file that somebody put
into the bucket by hand, without front matter or with other fields, is read as what it is: its text.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

import yaml

from strandline.domain.errors import InvalidArgument
from strandline.domain.expiry import MAX_TTL_SECONDS
from strandline.domain.graphemes import beginning
from strandline.domain.memory import Author, Line, Memory
from strandline.domain.times import stamp
from strandline.domain.topic import TYPES, Topic, is_topic, one_line
from strandline.storage import front_matter
from strandline.storage.document import Stamp

_FRONT = re.compile(r"\A---\n(.*?)\n---\n\n?", re.DOTALL)
_EPOCH = "1970-01-01T00:00:00.000Z"
_Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_Loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
MAX_TITLE_CHARS = 200
MAX_DESCRIPTION_CHARS = 1_000
MAX_SUMMARY_CHARS = 500
FIELDS = frozenset(
    "id type title path peer version created_at updated_at expires_at ttl_seconds deleted_at flags sources applied"
    " undone edits follows replaced_by".split()
) | frozenset(front_matter.NAMES)
TOPIC_FIELDS = FIELDS | {"name", "description", "summary"}


class MemoryCodec:
    """Memories know their own work again by `applied`, so no write ids are kept in the file."""

    def encode(self, value: Memory, _stamp: Stamp) -> bytes:
        return render(value).encode()

    def decode(self, body: bytes) -> tuple[Memory, Stamp]:
        memory = parse(body.decode("utf-8", "replace"))
        return memory, Stamp(memory.version)


def render(memory: Memory) -> str:
    """The whole file."""
    front = {
        "id": memory.id,
        "type": memory.type,
        **_named(memory),
        "path": memory.path,
        "peer": memory.peer,
        "version": memory.version,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "expires_at": memory.expires_at,
        "deleted_at": memory.deleted_at,
        "replaced_by": memory.replaced_by,
        "ttl_seconds": memory.ttl_seconds,
        "flags": memory.flags or None,
        **front_matter.shown(memory),
        "sources": sources(memory.lines),
        "applied": list(memory.applied),
        "undone": list(memory.undone) or None,
        "edits": memory.edits or None,
        "follows": memory.follows or None,
    }
    shown = {name: value for name, value in front.items() if value is not None}
    text = yaml.dump(shown, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1_000_000)
    return f"---\n{text}---\n\n{memory.body}"


def _named(memory: Memory) -> dict[str, str]:
    """A topic has a name, with what it is about; any other memory a title."""
    if memory.topic is None:
        return {"title": memory.title} if memory.title else {}
    return {
        "name": memory.title,
        "description": memory.topic.description,
        "summary": memory.topic.summary,
    }


def sources(lines: list[Line]) -> list[dict[str, Any]]:
    """The cited messages by session and archive: `{session, archive, seq: "3, 7-9"}`, in order of conversation."""
    ordered = sorted(lines, key=lambda line: (line.source.session_id, line.source.archive))
    grouped = [
        (min(line.source.at for line in group), session, archive, group)
        for (session, archive), found in groupby(ordered, lambda x: (x.source.session_id, x.source.archive))
        for group in [list(found)]
    ]
    return [
        {"session": session, "archive": archive, "at": at, "seq": _spans(group)}
        for at, session, archive, group in sorted(grouped, key=lambda row: row[:3])
    ]


def _spans(lines: list[Line]) -> str:
    spans: list[list[int]] = []
    for first, last in sorted((line.source.seq_from, line.source.seq_to) for line in lines):
        if spans and first <= spans[-1][1] + 1:
            spans[-1][1] = max(spans[-1][1], last)
        else:
            spans.append([first, last])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)


def parse(text: str) -> Memory:
    """The memory in a file. Fields that are missing or odd are filled with what can be said for certain."""
    front, body = _split(text)
    return Memory(
        path=_text(front, "path") or "",
        type=_text(front, "type") or "note",
        title=_title(front) or "",
        peer=_text(front, "peer"),
        body=body,
        created_at=_time(front, "created_at") or _EPOCH,
        updated_at=_time(front, "updated_at") or _EPOCH,
        applied=_texts(front, "applied"),
        undone=_texts(front, "undone"),
        edits=_number(front, "edits"),
        expires_at=_time(front, "expires_at"),
        deleted_at=_time(front, "deleted_at"),
        replaced_by=_text(front, "replaced_by"),
        follows=_number(front, "follows"),
        ttl_seconds=_seconds(front),
        topic=_topic(front),
        values=front_matter.values(front),
        patches=front_matter.patches(front),
        links=front_matter.links(front),
    )


def _texts(front: Mapping[str, Any], name: str) -> tuple[str, ...]:
    given = front.get(name)
    return tuple(each for each in given if isinstance(each, str)) if isinstance(given, list) else ()


@dataclass(frozen=True)
class Edit:
    """A memory as its owner writes it: the body, and what its front matter sets, if it has one; what is None stays as
    it is. An `expires_at` or `ttl_seconds` that is there but neither time nor number (`null`) takes the expiry away.
    `by` is who writes it, for its history."""

    body: str
    title: str | None = None
    expires_at: str | None = None
    sets_expiry: bool = False
    ttl_seconds: int | None = None
    type: str | None = None
    topic: Topic | None = None
    by: Author = "owner"


def edited(content: str, path: str = "") -> Edit:
    """What an owner wrote at that path, with or without the front matter that a file read whole has.

    A block between two rules is front matter when it has our fields and no others (a name, a description and a summary
    are a topic's); else it is text. Raises InvalidArgument for a front matter of ours that is no YAML any more.
    """
    match = _FRONT.match(content)
    front = _load(match[1]) if match else None
    if match and front is None and match[1].startswith("id: mem_"):
        raise InvalidArgument(
            "content: its front matter is not valid YAML; mend it, or leave the front matter out"
        )
    topical = is_topic(path)
    if match is None or not front or not front.keys() <= (TOPIC_FIELDS if topical else FIELDS):
        return Edit(content)
    return Edit(
        content[match.end() :],
        _title(front),
        _time(front, "expires_at"),
        not front.keys().isdisjoint(("expires_at", "ttl_seconds")),
        _seconds(front),
        _text(front, "type") if topical and front.get("type") in TYPES else None,
        _topic(front) if topical else None,
    )


def _topic(front: Mapping[str, Any]) -> Topic | None:
    """What a topic says of itself; None where it is not said in full."""
    description, summary = _one_line(front, "description"), _one_line(front, "summary")
    if description is None or summary is None or "name" not in front:
        return None
    return Topic(beginning(description, MAX_DESCRIPTION_CHARS), beginning(summary, MAX_SUMMARY_CHARS))


def _split(text: str) -> tuple[Mapping[str, Any], str]:
    match = _FRONT.match(text)
    front = _load(match[1]) if match else None
    return (front or {}, text[match.end() :]) if match else ({}, text)


def _load(front: str) -> Mapping[str, Any] | None:
    """The fields, every value a text, a list or a map of texts: nothing is interpreted. None when it is no map."""
    try:
        found = yaml.load(front, Loader=_Loader)  # noqa: S506 - the base loader makes nothing but texts
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return {key: found[key] for key in found if isinstance(key, str)} if isinstance(found, dict) else None


def _text(front: Mapping[str, Any], name: str) -> str | None:
    value = front.get(name)
    return value if isinstance(value, str) and value else None


def _title(front: Mapping[str, Any]) -> str | None:
    title = _one_line(front, "title") or _one_line(front, "name") or ""
    return beginning(title, MAX_TITLE_CHARS) or None


def _one_line(front: Mapping[str, Any], name: str) -> str | None:
    return one_line(_text(front, name) or "") or None


def _number(front: Mapping[str, Any], name: str) -> int:
    text = _text(front, name) or ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _seconds(front: Mapping[str, Any]) -> int | None:
    return min(_number(front, "ttl_seconds"), MAX_TTL_SECONDS) or None


def _time(front: Mapping[str, Any], name: str) -> str | None:
    """A time in the one spelling; what is no time is no time."""
    try:
        return stamp(datetime.fromisoformat(_text(front, name) or ""))
    except (ValueError, OverflowError):
        return None
