"""Whole tool outputs as objects: a line of JSON that says what it is, then the output itself in UTF-8.

The line is short, so a list reads the beginnings only.
"""

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from strandline.domain.contracts import SessionRef
from strandline.domain.errors import Corrupt
from strandline.domain.tool_output import ToolOutput
from strandline.ports import ObjectStore
from strandline.storage.answered import answered
from strandline.storage.layout import Life
from strandline.storage.once import Reads, fetch, write_once
from strandline.storage.parsing import tool_result_id

HEADER_BYTES = 8 * 1024  # three ids of at most 256 characters each, escaped at worst, and change
_SHOWN = ("id", "tool_id", "tool_name", "message_id", "total_chars", "sha256")


class ToolResults:
    """Reads and writes the tool outputs of sessions. They are read by `reads`, which may remember them."""

    def __init__(self, store: ObjectStore, reads: Reads | None = None) -> None:
        self._store = store
        self._reads = reads or store

    def put(self, whose: SessionRef, output: ToolOutput) -> None:
        """Writes an output, once. Whoever writes it writes the same. Raises Unavailable."""
        write_once(self._store, Life(whose).tool_result(output.id), encode_output(output))

    def read(self, whose: SessionRef, identity: str) -> ToolOutput | None:
        """The whole output, or None. Raises Unavailable, Corrupt."""
        body = fetch(self._reads, Life(whose).tool_result(identity))
        return None if body is None else decode_output(body)

    def page(
        self, whose: SessionRef, *, after: str, limit: int
    ) -> tuple[list[Mapping[str, Any]], str | None]:
        """What there is behind the id `after`, in order of ids, and where to go on. One list request, and a small
        read for each. Raises Unavailable, Corrupt."""
        with answered("the store did not answer; repeat the request"):
            found = list(islice(self._ids(whose, after), limit + 1))
            starts = [self._store.get_start(Life(whose).tool_result(i), HEADER_BYTES) for i in found[:limit]]
        rows = [_parsed(start.partition(b"\n")[0]) for start in starts if start is not None]
        return rows, found[limit - 1] if len(found) > limit else None

    def _ids(self, whose: SessionRef, after: str) -> Iterator[str]:
        life = Life(whose)
        keys = self._store.keys(life.tool_results, after=life.tool_result(after) if after else "")
        return (identity for identity in map(tool_result_id, keys) if identity is not None)


def encode_output(output: ToolOutput) -> bytes:
    header = json.dumps({name: getattr(output, name) for name in _SHOWN}, ensure_ascii=False)
    return f"{header}\n{output.content}".encode()


def decode_output(body: bytes) -> ToolOutput:
    """Raises Corrupt."""
    header, _, content = body.partition(b"\n")
    fields = _parsed(header)
    named = {name: fields[name] for name in _SHOWN if name != "total_chars"}
    return ToolOutput(content=content.decode(), **named)


def _parsed(header: bytes) -> Mapping[str, Any]:
    try:
        fields = json.loads(header)
        return {name: fields[name] for name in _SHOWN}
    except (ValueError, KeyError, TypeError) as error:
        raise Corrupt("a tool output in the bucket cannot be read") from error
