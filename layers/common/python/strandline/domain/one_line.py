"""Any text on one line of a memory file."""

import re

from strandline.domain.graphemes import beginning

MAX_LINE = 2000
"""Characters in a line, the bound of `Claim.text`."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_INVISIBLE = re.compile(
    r"[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
_NEUTRAL = (("<!", "< !"), ("-->", "-- >"), ("--!>", "--! >"), ("](", "] ("))


def one_line(text: str, limit: int = MAX_LINE) -> str:
    """`text` on one line of at most `limit` characters, without control or invisible characters.

    Nothing in it can open or close an HTML comment or form a markdown link: a memory file keeps the
    provenance of each line in a comment behind it. May be empty.
    """
    if not text.isprintable():  # few are not: the rest need not be looked through
        text = _CONTROL.sub(" ", _INVISIBLE.sub("", text))
    line = " ".join(text.split())
    for dangerous, harmless in _NEUTRAL:
        line = line.replace(dangerous, harmless)
    return cut(line, limit)


def cut(text: str, limit: int) -> str:
    """`text`, or its beginning up to the last space that leaves room for an ellipsis within `limit` characters."""
    if len(text) <= limit:
        return text
    head = beginning(text, limit - 1)
    space = head.rfind(" ", limit // 2)
    return head[: space if space > 0 else None].rstrip() + "…"
