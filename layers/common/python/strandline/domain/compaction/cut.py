"""A message that is too big by itself: its beginning, its end, and a mark between them."""

from collections.abc import Callable, Iterator
from typing import Any

from strandline.domain.compaction.assembly import Stored
from strandline.domain.compaction.sizes import characters

SLACK = 0.95
"""Tokens are not spread evenly: a little less is tried than what would fit if they were."""
FILLED = 0.8
GROWTHS = 4
SMALLEST = "…"


def cut(message: Stored, most: int, size: Callable[[Stored], int]) -> tuple[Stored, int] | None:
    """The message within `most` by that measure, and how many of its characters are left out; None when not even a mark
    fits."""
    text = _text(message)
    total = characters(message)
    for kept in _fitting(message, text, most, size):
        return _said(message, _marked(text, kept, total)), total - kept
    smallest = _said(message, SMALLEST)
    return (smallest, total) if size(smallest) <= most else None


def _fitting(message: Stored, text: str, most: int, size: Callable[[Stored], int]) -> Iterator[int]:
    """How many characters of the text may stay, if any number may."""
    total = characters(message)

    def taken(kept: int) -> int:
        return size(_said(message, _marked(text, kept, total)))

    kept = len(text)
    while (now := taken(kept)) > most:
        if kept == 0:
            return
        kept = min(kept - 1, int(kept * most / now * SLACK))
    for _ in range(GROWTHS):
        more = min(len(text), int(kept * most / now * SLACK))
        if now >= most * FILLED or more <= kept or (then := taken(more)) > most:
            break
        kept, now = more, then
    yield kept


def _text(message: Stored) -> str:
    if message.get("content") is not None:
        return str(message["content"])
    return "\n".join(part["text"] for part in message.get("parts") or () if part["type"] == "text")


def _marked(text: str, kept: int, total: int) -> str:
    end = kept // 3
    return f"{text[: kept - end]}[… {total - kept} characters left out …]{text[len(text) - end :]}"


def _said(message: Stored, text: str) -> Stored:
    """The message with that text, and with its images."""
    fields: dict[str, Any] = {name: value for name, value in message.items() if name != "tokens"}
    if message.get("content") is not None:
        return {**fields, "content": text}
    images = [part for part in message.get("parts") or () if part["type"] == "image_url"]
    return {**fields, "parts": [{"type": "text", "text": text}, *images]}
