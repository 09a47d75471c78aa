"""Executions on disk: what was accepted is never forgotten, also when the service is killed.

    <root>/running/<id>.json     accepted, waiting or running: the request
    <root>/completed/<id>.json   with its rollout
    <root>/failed/<id>.json      with its error
    <root>/snapshots/<id>.json   policies that running ones need

A file is written whole beside its place, synced and renamed there. An end is written before `running` is removed, so a
kill leaves at most both; the end counts. What stands in `running` at a start is run again, under the same id.
"""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any, cast

from strandline_sdk.rollouts.model import Counts

ENDS = ("completed", "failed")
STATES = ("running", *ENDS)


class Spool:
    """A directory that one service owns; may be used by several threads."""

    def __init__(self, root: Path) -> None:
        self._root = root
        for state in (*STATES, "snapshots"):
            (root / state).mkdir(parents=True, exist_ok=True)
        self._lock = Lock()
        for half_written in root.glob("*/.*.part"):
            half_written.unlink()

    def accept(self, identity: str, record: dict[str, Any]) -> bool:
        """Stores a new execution. False, and nothing is stored, when there is one of this id."""
        with self._lock:
            if self.find(identity) is not None:
                return False
            write_json(self._path("running", identity), record)
            return True

    def end(self, identity: str, state: str, record: dict[str, Any]) -> None:
        """Stores how an execution has ended."""
        with self._lock:
            write_json(self._path(state, identity), record)
            self._path("running", identity).unlink(missing_ok=True)

    def find(self, identity: str) -> tuple[str, dict[str, Any]] | None:
        """An execution's state and record."""
        for state in (*ENDS, "running", *ENDS):  # it may end between two looks
            with suppress(FileNotFoundError):
                return state, json.loads(self._path(state, identity).read_text("utf-8"))
        return None

    def unfinished(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """What a former process has accepted and not ended, oldest first."""
        found = []
        for path in (self._root / "running").glob("*.json"):
            if any(self._path(state, path.stem).exists() for state in ENDS):
                path.unlink()
            else:
                found.append((path.stem, json.loads(path.read_text("utf-8"))))
        yield from sorted(found, key=lambda each: (each[1].get("created_at", ""), each[0]))

    def forget(self, before: float) -> None:
        """Removes what has ended, and policies that were read, before that time (seconds of the epoch)."""
        needed = {
            record["request"]["execution_context"]["policy_snapshot_id"] for _, record in self.unfinished()
        }
        for state in (*ENDS, "snapshots"):
            for path in (self._root / state).glob("*.json"):
                if path.stat().st_mtime < before and path.stem not in needed:
                    path.unlink()

    def counts(self) -> Counts:
        """How many executions there are in each state."""
        return cast(Counts, {s: sum(1 for _ in (self._root / s).glob("*.json")) for s in STATES})

    def snapshot(self, identity: str) -> dict[str, Any] | None:
        """The policies of a snapshot, if they were read before."""
        with suppress(FileNotFoundError):
            return cast(dict[str, Any], json.loads(self._path("snapshots", identity).read_text("utf-8")))
        return None

    def keep_snapshot(self, identity: str, document: dict[str, Any]) -> None:
        """Stores the policies of a snapshot."""
        write_json(self._path("snapshots", identity), document)

    def _path(self, state: str, identity: str) -> Path:
        if not identity.replace("_", "").replace("-", "").isalnum():
            raise ValueError(f"not an id: {identity!r}")
        return self._root / state / f"{identity}.json"


def write_json(path: Path, document: object, *, sync: bool = True) -> None:
    """Writes a file at once: whoever reads it, also after a kill, finds the old one or the new one; with `sync` also
    after the machine has failed."""
    text = json.dumps(document, ensure_ascii=False, indent=2, sort_keys=True) + "\n"
    write_text(path, text, sync=sync)


def write_text(path: Path, text: str, *, sync: bool = True) -> None:
    """The same for text."""
    with tempfile.NamedTemporaryFile(
        "wb", dir=path.parent, prefix=f".{path.name}.", suffix=".part", delete=False
    ) as file:
        file.write(text.encode("utf-8", "backslashreplace"))
        file.flush()
        if sync:
            os.fsync(file.fileno())
    Path(file.name).replace(path)
