"""Text as data inside a frame of tags: nothing in it can close the frame, or open a new one, and what is not to be seen
is seen."""

import re
import sys

UNSEEN = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff"
)
"""Characters, as those of a regular expression's set, that a reader does not see and a model may be steered by."""

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_CHARACTERS = {entity: c for c, entity in _ENTITIES.items()}
_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|#x[0-9a-f]{1,6});")
_IN_TEXT = re.compile(rf"[&<>{UNSEEN}]")
_IN_NAME = re.compile(rf"[&<>\"\t\n{UNSEEN}]")


def escaped(text: str) -> str:
    """The text between two tags."""
    return _IN_TEXT.sub(_reference, text)


def escaped_name(text: str) -> str:
    """The text between the quotation marks of an attribute."""
    return _IN_NAME.sub(_reference, text)


def _reference(match: re.Match[str]) -> str:
    c = match[0]
    return _ENTITIES.get(c) or f"&#x{ord(c):x};"


def unescaped(text: str) -> str:
    """An escaped text as it was before."""
    return _ENTITY.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    known = _CHARACTERS.get(match[0])
    code = 0 if known else int(match[0][3:-1], 16)
    return known or (chr(code) if code <= sys.maxunicode else match[0])
