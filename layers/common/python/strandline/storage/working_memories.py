"""The versions of a session's working memory: one an archive, of its end, and those made ahead of the next one.

    archives/<n>/overview.md     the document of all messages up to the archive's last
    working/<through>.md         the document of all messages up to that seq

Each is written once. What a language model has cost since the archive before stands beside the body, in its metadata.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

from strandline.domain.extraction import Usage
from strandline.ports import ObjectStore
from strandline.storage.answered import answered
from strandline.storage.layout import Life
from strandline.storage.once import write_once
from strandline.storage.parsing import working_through

OVERVIEW = "overview.md"


@dataclass(frozen=True)
class Kept:
    """A version as it is stored: its markdown, and what it has cost since the archive before."""

    text: str
    usage: Usage


class WorkingMemories:
    """Reads and writes versions; those of archives and those made ahead alike."""

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects

    def read(self, key: str) -> Kept | None:
        """The version at `key`, or None. Raises Unavailable."""
        with answered("the store did not answer; repeat the request"):
            stored = self._objects.get(key)
        return None if stored is None else Kept(stored.body.decode(errors="replace"), _usage(stored.meta))

    def write(self, key: str, version: Kept) -> Kept:
        """Sees to it that there is a version at `key`; answers the one that is. Raises Unavailable."""
        if write_once(self._objects, key, version.text.encode(), _meta(version.usage)):
            return version
        return self.read(key) or version

    def newest(self, life: Life, after: int, last: int) -> int | None:
        """The greatest seq in (after, last] up to which there is a version made ahead: a list request."""
        found = None
        with answered("the store did not answer; repeat the request"):
            for key in self._objects.keys(life.working, after=life.working_memory(after)):
                through = working_through(key)
                if through > last:
                    break
                found = through
        return found


def _meta(usage: Usage) -> Mapping[str, str] | None:
    """A few short ASCII texts; none when nothing was spent."""
    if not usage.calls:
        return None
    return {
        "models": ",".join(quote(name, safe="/:.") for name in usage.models),
        "calls": str(usage.calls),
        "input-tokens": str(usage.input_tokens),
        "output-tokens": str(usage.output_tokens),
    }


def _usage(meta: Mapping[str, str]) -> Usage:
    try:
        return Usage(
            models=tuple(map(unquote, filter(None, meta.get("models", "").split(",")))),
            calls=int(meta.get("calls", "0")),
            input_tokens=int(meta.get("input-tokens", "0")),
            output_tokens=int(meta.get("output-tokens", "0")),
        )
    except ValueError:  # somebody has edited it
        return Usage()
