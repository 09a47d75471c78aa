"""Takes a message apart: prose, captions of images, sentences, each with its place in the message."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_SCANNED = 100_000
"""Characters of one message that are looked at: what is longer is pasted material, and stays in the archive."""

MAX_SENTENCES = 200
"""Sentences of one message that are looked at."""

MAX_SENTENCE = 600
"""Characters of one sentence; a longer one is taken apart at a comma or a space."""

# No quantifier here can give back what it took, and a run is only tried at its first character: linear time.
_BOUNDARY = re.compile(
    r"(?<![.!?…])[.!?…]++[\"'”’»)\]*_]*+(?=\s|\Z|[\u2e80-\U0001faff])"
    r"|(?<![!?])[!?]++(?=[A-Z])"
    r"|(?<![。！？｡])[。！？｡]++[」』”’\"）)]*+"
    r"|[\n\r\v\f\x85\u2028\u2029]++"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|mt|jr|sr|vs|no|inc|ltd|co|etc|approx|fig|e\.g|i\.e|a\.k\.a)|\b[A-Z]|^\s*\d+)\Z",
    re.IGNORECASE,
)
_CAPTION = re.compile(r"\[(?:image|photo|picture|video):\s?([^\[\]\n]{1,1000}+)\]", re.IGNORECASE)
_FENCE = re.compile(r"```|~~~")
_SOFT_BREAK = re.compile(r"[,;:，、；：\s]")
_BULLET = re.compile(r"\s*(?:[-*+•>#]+\s+|\d{1,3}[.)]\s+)*")


@dataclass(frozen=True)
class Sentence:
    """A stretch of a message: `text` is `message[start:end]`, verbatim."""

    text: str
    start: int
    end: int


def captions(message: str) -> list[Sentence]:
    """What the images of a message show, from its `[image: …]` marks."""
    return [
        Sentence(m.group(1), m.start(1), m.end(1))
        for m in _CAPTION.finditer(message, 0, MAX_SCANNED)
        if m.group(1).strip()
    ]


def sentences(message: str) -> list[Sentence]:
    """The sentences of a message in order, code blocks and captions left out. Linear in the message's length."""
    found: list[Sentence] = []
    for start, end in _prose(message[:MAX_SCANNED]):
        for sentence in _split(message, start, end):
            found.append(sentence)
            if len(found) == MAX_SENTENCES:
                return found
    return found


def _prose(message: str) -> Iterator[tuple[int, int]]:
    at = 0
    for start, end in sorted([*_code(message), *((m.start(), m.end()) for m in _CAPTION.finditer(message))]):
        if start > at:
            yield at, start
        at = max(at, end)
    yield at, len(message)


def _code(message: str) -> Iterator[tuple[int, int]]:
    """Fenced blocks; one that is never closed runs to the end."""
    marks = [m.start() for m in _FENCE.finditer(message)]
    for i in range(0, len(marks), 2):
        yield marks[i], marks[i + 1] + 3 if i + 1 < len(marks) else len(message)


def _split(message: str, start: int, end: int) -> Iterator[Sentence]:
    at = start
    for boundary in _BOUNDARY.finditer(message, start, end):
        if not _is_abbreviation(message, at, boundary):
            yield from _pieces(message, at, boundary.end())
            at = boundary.end()
    yield from _pieces(message, at, end)


def _is_abbreviation(message: str, at: int, boundary: re.Match[str]) -> bool:
    before = message[max(at, boundary.start() - 12) : boundary.start()]
    return boundary.group() == "." and _ABBREVIATION.search(before) is not None


def _pieces(message: str, start: int, end: int) -> Iterator[Sentence]:
    while end - start > MAX_SENTENCE:
        middle = _break_before(message, start + MAX_SENTENCE)
        yield from _trimmed(message, start, middle)
        start = middle
    yield from _trimmed(message, start, end)


def _break_before(message: str, limit: int) -> int:
    for at in range(limit, limit - MAX_SENTENCE // 2, -1):
        if _SOFT_BREAK.match(message, at - 1):
            return at
    return limit


def _trimmed(message: str, start: int, end: int) -> Iterator[Sentence]:
    bullet = _BULLET.match(message, start, end)
    start = bullet.end() if bullet else start
    text = message[start:end]
    start += len(text) - len(text.lstrip())
    text = text.strip()
    if text:
        yield Sentence(text, start, start + len(text))
