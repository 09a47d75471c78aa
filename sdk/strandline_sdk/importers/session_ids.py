"""Session ids made of whatever names a conversation."""

import hashlib
import re
from itertools import accumulate
from urllib.parse import quote

_LONGEST = 128
_LONGEST_ENCODED = 192
_REFUSED = re.compile(r"[/?\\\x00-\x1f\x7f]|\A\.{1,2}\Z")


def accepted(text: str) -> str:
    """The text as a session id that the service accepts: itself where it is one.

    Otherwise what is refused becomes `-`, what is too long is cut, and a hash of the text is appended: the same text
    always gives the same id, and different texts give different ones.
    """
    valid = text.encode("utf-8", "replace").decode()
    plain = _REFUSED.sub("-", valid)
    if text and plain == text and _cut(plain, 0) == text:
        return text
    digest = short_hash(text)
    return f"{_cut(plain, len(digest) + 1)}-{digest}".lstrip("-")


def short_hash(text: str) -> str:
    """Eight hexadecimal digits of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _cut(text: str, room: int) -> str:
    """As much of the text as an id may hold, less `room`."""
    sizes = accumulate(map(_encoded_size, text[: _LONGEST - room]))
    return text[: sum(size <= _LONGEST_ENCODED - room for size in sizes)]


def _encoded_size(c: str) -> int:
    """Bytes in the bucket's keys, where letters and digits of any script stand as they are."""
    return len((c if c.isalnum() else quote(c, safe="-_.~@")).encode())
