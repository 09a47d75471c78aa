"""The words of a message that an answer quotes: exactly as they were said, or none."""

import re

from strandline.domain.escaping import UNSEEN, unescaped
from strandline.domain.text import is_unspaced

MIN_BYTES = 8
"""A shorter quote occurs anywhere and proves nothing, unless it is all that was said."""

_APOSTROPHES = "'’‘‛`´"
_UNSEEN = re.compile(f"[{UNSEEN}\u200c\u200d]")
_SKIPPED = f"{_UNSEEN.pattern}*"
_BETWEEN = rf"[\s{UNSEEN}]+"
_DOUBLES = '"“”„«»'


def said(quote: str, text: str) -> str | None:
    """The part of `text` that `quote` means: models change the shape of quotation marks and white space, leave out what
    cannot be seen, and repeat the frame's entities. None when the words are not there."""
    if quote and quote in text:
        return quote
    words = _UNSEEN.sub("", unescaped(quote)).split()
    found = re.search(_BETWEEN.join(map(_pattern, words)), text) if words else None
    return found[0] if found else None


def is_telling(quote: str, text: str) -> bool:
    """Whether a quote is long enough to show where a claim comes from."""
    return len(quote.encode()) >= MIN_BYTES or quote.strip() == text.strip()


def in_whole_words(quote: str, text: str) -> bool:
    """Whether the words of a quote stand there whole: "successful" is not what "unsuccessful" says."""
    before, behind = (r"(?<!\w)" if quote[:1].isalnum() else ""), (r"(?!\w)" if quote[-1:].isalnum() else "")
    return is_unspaced(quote) or re.search(f"{before}{re.escape(quote)}{behind}", text) is not None


def _pattern(word: str) -> str:
    return _SKIPPED.join(map(_character, word))


def _character(c: str) -> str:
    for alike in (_APOSTROPHES, _DOUBLES):
        if c in alike:
            return f"[{re.escape(alike)}]"
    return re.escape(c)
