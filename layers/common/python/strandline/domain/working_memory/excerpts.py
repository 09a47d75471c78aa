"""What of the messages a document is made from: every message in short, and ranges that one update can take.

An update reads at most `RANGE_TOKENS` whatever the session's length: a longer range is read in several, each ending
where no call is open. Tool outputs are shown by their beginning and their end, where the error is.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strandline.domain.graphemes import beginning, ending
from strandline.domain.text import one_line
from strandline.domain.tool_calls import tool_parts
from strandline.domain.transcribing import text_of
from strandline.domain.working_memory.limits import weight
from strandline.domain.working_memory.thresholds import Stored, safe_ends

RANGE_TOKENS = 16_000
OUTPUT_CHARS = 1_000
INPUT_CHARS = 400
TEXT_CHARS = 12_000
MESSAGE_OVERHEAD = 30
"""Tokens of what stands around a message."""

MIN_CHARS = 40
"""Characters that every message may keep when there are very many before a call is answered."""

_TELLING = ("command", "cmd", "code", "path", "file_path", "filename", "file_name", "file", "query", "url")


@dataclass(frozen=True)
class Excerpt:
    """A message in short: what was said in it, then what its tools were asked and answered, a line each."""

    seq: int
    role: str
    speaker: str | None
    at: str
    flags: tuple[str, ...]
    text: str

    @property
    def tokens(self) -> int:
        return weight(self.text) + MESSAGE_OVERHEAD


def ranges(messages: Sequence[Stored], most: int = RANGE_TOKENS) -> list[Sequence[Stored]]:
    """The messages in ranges of at most `most` tokens as excerpts, in order, none ending on an open call but the last;
    one that cannot be parted so is longer, and `excerpts` shortens it."""
    safe = set(safe_ends(messages))
    found: list[Sequence[Stored]] = []
    start = safe_end = tokens = since = 0
    for n, message in enumerate(messages):
        cost = excerpt(message).tokens
        if tokens + cost > most and safe_end > start:
            found.append(messages[start:safe_end])
            start, tokens = safe_end, since
        tokens += cost
        since += cost
        if message["seq"] in safe:
            safe_end, since = n + 1, 0
    return [*found, messages[start:]] if messages[start:] else found


def excerpts(messages: Sequence[Stored], most: int = RANGE_TOKENS) -> list[Excerpt]:
    """The messages in short, within `most` tokens: where they are over it all are cut alike, and of very many those in
    the middle are left out."""
    shown = [excerpt(message) for message in messages]
    if sum(each.tokens for each in shown) <= most:
        return shown
    fit = most // (2 * (MESSAGE_OVERHEAD + MIN_CHARS))
    if len(shown) > 2 * fit:
        shown = [*shown[:fit], *shown[-fit:]]
    room = max(most // len(shown) - MESSAGE_OVERHEAD, 1)
    return [_within(each, room) for each in shown]


def _within(shown: Excerpt, tokens: int) -> Excerpt:
    """Cut to that many tokens: as many characters for a start, since none is more than two."""
    text = shown.text
    while weight(text) > tokens and len(text) > 1:
        text = both_ends(text, min(len(text) - 1, max(1, len(text) * tokens // weight(text))))
    return Excerpt(shown.seq, shown.role, shown.speaker, shown.at, shown.flags, text)


def excerpt(message: Stored) -> Excerpt:
    """A stored message in short."""
    tools = [line for part in tool_parts(message) for line in _tool_lines(part)]
    limit = OUTPUT_CHARS if message["role"] == "tool" else TEXT_CHARS
    text = both_ends(text_of(message), limit)
    return Excerpt(
        message["seq"],
        message["role"],
        message.get("peer_id"),
        str(message.get("created_at", "")),
        tuple(message.get("flags", ())),
        "\n".join(filter(None, [text, *tools])),
    )


def _tool_lines(part: Mapping[str, Any]) -> Iterator[str]:
    name = part.get("tool_name") or "tool"
    if part.get("tool_input") not in (None, "", {}):
        yield f"[call {name}] {one_line(asked(part['tool_input']), INPUT_CHARS)}"
    if part.get("tool_output") is not None:
        failed = " failed" if part.get("tool_status") == "error" else ""
        yield f"[result {name}{failed}] {both_ends(str(part['tool_output']), OUTPUT_CHARS)}"


def asked(given: Any) -> str:
    """What a tool was asked, in short: the command, the path; or all of it as JSON."""
    value = _parsed(given)
    if isinstance(value, Mapping):
        telling = [str(value[name]) for name in _TELLING if isinstance(value.get(name), str)]
        return " ".join(telling[:2]) or json.dumps(value, ensure_ascii=False, default=str)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def fields(given: Any) -> Mapping[str, Any]:
    """A tool's input as an object; an empty one when it is none."""
    value = _parsed(given)
    return value if isinstance(value, Mapping) else {}


def _parsed(given: Any) -> Any:
    """Some frameworks send a tool's input as JSON text."""
    if not isinstance(given, str) or not given.lstrip().startswith("{"):
        return given
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        return given


def both_ends(text: str, limit: int) -> str:
    """The text, or its beginning and, half as long, its end within `limit` characters."""
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 3
    return f"{beginning(text, limit - 1 - tail)}…{ending(text, tail)}"
