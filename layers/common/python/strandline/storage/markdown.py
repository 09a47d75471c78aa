"""How a memory becomes a markdown file with YAML front matter and comes back.

The front matter is derived from the memory; `sources` sums up where its lines come from. A file that somebody put
into the bucket by hand, without front matter or with other fields, is read as what it is: its text.
"""

import re
from collections.abc import Mapping
from datetime import date, datetime
from itertools import groupby
from typing import Any

import yaml

from strandline.domain.errors import InvalidArgument
from strandline.domain.memory import Line, Memory
from strandline.domain.times import stamp
from strandline.storage.document import Stamp

_FRONT = re.compile(r"\A---\n(.*?)\n---\n\n?", re.DOTALL)
_EPOCH = "1970-01-01T00:00:00.000Z"
_Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class MemoryCodec:
    """Memories know their own work again by `applied`, so no write ids are kept in the file."""

    content_type = "text/markdown; charset=utf-8"

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
        "title": memory.title,
        "path": memory.path,
        "peer": memory.peer,
        "version": memory.version,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "expires_at": memory.expires_at,
        "sources": sources(memory.lines),
        "applied": list(memory.applied),
        "edits": memory.edits or None,
    }
    shown = {name: value for name, value in front.items() if value is not None}
    text = yaml.dump(shown, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1_000_000)
    return f"---\n{text}---\n\n{memory.body}"


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
    match = _FRONT.match(text)
    front = _fields(match[1]) if match else {}
    body = text[match.end() :] if match else text
    return Memory(
        path=_text(front.get("path"), ""),
        type=_text(front.get("type"), "note"),
        title=_text(front.get("title"), ""),
        peer=_optional(front.get("peer")),
        body=body,
        created_at=_text(front.get("created_at"), _EPOCH),
        updated_at=_text(front.get("updated_at"), _EPOCH),
        applied=tuple(str(a) for a in front.get("applied") or ()),
        edits=front["edits"] if isinstance(front.get("edits"), int) else 0,
        expires_at=_time(front.get("expires_at")),
    )


def edited(content: str) -> tuple[str, str | None, str | None]:
    """(body, title, expires_at) of a memory as its owner writes it, with or without front matter.

    Raises InvalidArgument for front matter that is no YAML.
    """
    match = _FRONT.match(content)
    try:
        front = _load(match[1]) if match else None
    except yaml.YAMLError as error:
        raise InvalidArgument(f"content: its front matter is not valid YAML: {error}") from error
    if match is None or not isinstance(front, dict):
        return content, None, None
    return content[match.end() :], _optional(front.get("title")), _time(front.get("expires_at"))


def _fields(front: str) -> Mapping[str, Any]:
    try:
        found = _load(front)
    except yaml.YAMLError:
        return {}
    return found if isinstance(found, dict) else {}


def _load(front: str) -> Any:
    return yaml.load(front, Loader=_Loader)  # noqa: S506 - a safe loader, in C where there is one


def _text(value: Any, default: str) -> str:
    return default if value is None else _optional(value) or default


def _optional(value: Any) -> str | None:
    """YAML reads an unquoted time as a datetime; it is written back as one text."""
    if isinstance(value, datetime):
        return stamp(value)
    if isinstance(value, date):
        return value.isoformat()
    return None if value is None else str(value)


def _time(value: Any) -> str | None:
    """A time in the one spelling; what is no time is no time."""
    try:
        return stamp(datetime.fromisoformat(_optional(value) or ""))
    except (ValueError, OverflowError):
        return None
