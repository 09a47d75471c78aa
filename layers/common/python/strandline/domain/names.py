"""Names from outside as path segments, and free text as file names."""

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from itertools import accumulate
from urllib.parse import quote, unquote

from strandline.domain.errors import InvalidArgument

MAX_SEGMENT_BYTES = 192
_SLUG_BYTES = 120
_ODD = re.compile(r"[^\w.~@-]")  # `\w` is what `isalnum` says, and `_`
_TELLING = frozenset("+#*&@%=<>|~^$€£¥°")  # C, C++ and C# are three


def encode(name: str) -> str:
    """One path segment for any text: letters and digits of any script stay readable, all else is percent-encoded.

    Raises InvalidArgument for an empty text, one that is longer than 192 bytes when encoded (four of them and two
    slugs fit into S3's 1,024 bytes), or one that is not valid Unicode.
    """
    try:
        segment = _encoded(name)
        size = len(segment.encode())
    except UnicodeEncodeError as error:
        raise InvalidArgument("an id contains a lone surrogate, which is not valid Unicode") from error
    if segment in (".", ".."):
        segment = segment.replace(".", "%2E")
    if not 0 < size <= MAX_SEGMENT_BYTES:
        raise InvalidArgument(
            f"an id must have 1 to {MAX_SEGMENT_BYTES} bytes (percent-encoded): {name[:40]!r}"
        )
    return segment


def _encoded(text: str) -> str:
    return _ODD.sub(lambda odd: quote(odd[0], safe=""), text)


def decode(segment: str) -> str:
    """The text that `encode` made this segment from."""
    return unquote(segment)


def slug(text: str) -> str:
    """A file name for any text: lower-case words of any script joined by `-`, at most 120 bytes encoded.

    Where that loses what tells two names apart (it was cut, it had symbols, nothing was left) a hash of the text is
    appended, so different names stay different files. Never empty, never contains a path separator.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = "-".join("".join(c if _in_word(c) else " " for c in folded).split()).strip("-_")
    cut = "".join(_within(words, _SLUG_BYTES))
    if cut and cut == words and not _TELLING & set(folded):
        return words
    digest = hashlib.sha256(folded.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{cut.rstrip('-_')}-{digest}".lstrip("-")


def _in_word(c: str) -> bool:
    """Letters, digits and the marks that belong to them, in any script."""
    return c.isalnum() or c == "_" or unicodedata.category(c).startswith("M")


def _within(words: str, limit: int) -> Iterator[str]:
    sizes = accumulate(len(_encoded(c).encode()) for c in words)
    return (c for c, size in zip(words, sizes, strict=True) if size <= limit)
