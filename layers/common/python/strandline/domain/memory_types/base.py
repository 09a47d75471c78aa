"""What a memory type declares, and how its declaration becomes a path and a title."""

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

_SLUG_CHARS = 60
_BREAKS = re.compile(r"-+")


@dataclass(frozen=True)
class MemoryType:
    """A kind of memory file.

    `file` and `title` are format strings over the identity fields; `{year}`, `{month}`, `{day}` stand for the date
    of the conversation (never of processing). `upsert` files gather lines from many archives, an `add_only` file
    belongs to one archive for ever and carries its extraction id in its name (`{extraction}`).
    """

    name: str
    mode: Literal["upsert", "add_only"]
    identity: tuple[str, ...]
    file: str
    title: str
    instruction: str

    def path(self, fields: Mapping[str, str], *, at: datetime, extraction: str) -> str:
        """Path below `memories/` (or below a peer's tree) of the file these identity fields name.

        Raises KeyError when an identity field is missing.
        """
        safe = {name: slug(fields[name]) for name in self.identity}
        return self.file.format(year=f"{at:%Y}", month=f"{at:%m}", day=f"{at:%d}", extraction=extraction, **safe)

    def heading(self, fields: Mapping[str, str], *, at: datetime) -> str:
        """Title of the file these identity fields name. Raises KeyError when one is missing."""
        shown = {name: " ".join(fields[name].split()) for name in self.identity}
        return self.title.format(date=f"{at:%Y-%m-%d}", **shown)


def slug(text: str) -> str:
    """A file name for any text: lower-case words of any script joined by `-`, at most 60 characters.

    Where that loses something that tells two names apart (it was cut, or nothing was left) a hash of the text
    is appended, so different long names stay different files. Never empty, never contains a path separator.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = _BREAKS.sub("-", "".join(c if _in_word(c) else "-" for c in folded)).strip("-_")
    if words and len(words) <= _SLUG_CHARS:
        return words
    digest = hashlib.sha256(folded.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{words[:_SLUG_CHARS].rstrip('-_')}-{digest}".lstrip("-")


def _in_word(c: str) -> bool:
    """Letters, digits and the marks that belong to them, in any script."""
    return c.isalnum() or c == "_" or unicodedata.category(c).startswith("M")
