"""What a memory type declares, and how its declaration becomes a path and a title."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from strandline.domain.names import slug


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
        return self.file.format(
            year=f"{at:%Y}", month=f"{at:%m}", day=f"{at:%d}", extraction=extraction, **safe
        )

    def heading(self, fields: Mapping[str, str], *, at: datetime) -> str:
        """Title of the file these identity fields name. Raises KeyError when one is missing."""
        shown = {name: " ".join(fields[name].split()) for name in self.identity}
        return self.title.format(date=f"{at:%Y-%m-%d}", **shown)
