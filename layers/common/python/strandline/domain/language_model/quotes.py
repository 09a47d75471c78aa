"""The words of a message that an answer quotes: exactly as they were said, or none."""

import html
import re

MIN_BYTES = 8
"""A shorter quote occurs anywhere and proves nothing, unless it is all that was said."""

_APOSTROPHES = "'’‘‛`´"
_DOUBLES = '"“”„«»'


def said(quote: str, text: str) -> str | None:
    """The part of `text` that `quote` means: models change the shape of quotation marks and white space, and repeat
    the frame's entities. None when the words are not there."""
    if quote and quote in text:
        return quote
    words = html.unescape(quote).split()
    found = re.search(r"\s+".join(map(_pattern, words)), text) if words else None
    return found[0] if found else None


def is_telling(quote: str, text: str) -> bool:
    """Whether a quote is long enough to show where a claim comes from."""
    return len(quote.encode()) >= MIN_BYTES or quote.strip() == text.strip()


def _pattern(word: str) -> str:
    return "".join(map(_character, word))


def _character(c: str) -> str:
    for alike in (_APOSTROPHES, _DOUBLES):
        if c in alike:
            return f"[{re.escape(alike)}]"
    return re.escape(c)
