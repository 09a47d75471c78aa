"""A message that is too big by itself: its beginning, its end, and a mark between them."""

from collections.abc import Callable
from typing import Any

from strandline.domain.compaction.assembly import Stored
from strandline.domain.compaction.sizes import characters
from strandline.domain.graphemes import beginning, ending

SLACK = 0.95
"""Tokens are not spread evenly: a little less is tried than what would fit if they were."""
FILLED = 0.8
TRIES = 12
SMALLEST = "…"


def cut(message: Stored, most: int, size: Callable[[Stored], int]) -> tuple[Stored, int] | None:
    """The message within `most` by that measure, and how many of its characters are left out; None when not even a mark
    fits."""
    text = _text(message)
    total = characters(message)

    def shown(kept: int) -> Stored:
        return _said(message, _marked(text, kept, total)[0])

    kept = _fitting(len(text), most, lambda kept: size(shown(kept)))
    if kept is not None:
        return shown(kept), _marked(text, kept, total)[1]
    smallest = _said(message, SMALLEST)
    return (smallest, total) if size(smallest) <= most else None


def _fitting(length: int, most: int, size: Callable[[int], int]) -> int | None:
    """How many of that many characters may stay: all, or enough to fill what there is; None when not even none."""
    fits, over, kept = -1, length + 1, length
    for _ in range(TRIES):
        now = size(kept)
        if now > most:
            over = kept
        elif now >= most * FILLED or kept == length:
            return kept
        else:
            fits = kept
        if over - fits <= 1:
            break
        likely = int(kept * most / now * SLACK)
        kept = likely if fits < likely < over else (fits + over) // 2
    if fits < 0 and over > 0 and size(0) <= most:
        return 0
    return fits if fits >= 0 else None


def _text(message: Stored) -> str:
    if message.get("content") is not None:
        return str(message["content"])
    return "\n".join(part["text"] for part in message.get("parts") or () if part["type"] == "text")


def _marked(text: str, kept: int, total: int) -> tuple[str, int]:
    """The text with a mark for what is between its two ends, and how many characters that is."""
    first, last = beginning(text, kept - kept // 3), ending(text, kept // 3)
    left_out = total - len(first) - len(last)
    return f"{first}[… {left_out} characters left out …]{last}", left_out


def _said(message: Stored, text: str) -> Stored:
    """The message with that text, and with its images."""
    fields: dict[str, Any] = {name: value for name, value in message.items() if name != "tokens"}
    if message.get("content") is not None:
        return {**fields, "content": text}
    images = [part for part in message.get("parts") or () if part["type"] == "image_url"]
    return {**fields, "parts": [{"type": "text", "text": text}, *images]}
