"""The derived search index of a user, kept in step with the memory files.

The files are the truth, the index follows. Its update is one optimistic transaction: the index is read first, then
the files, then the index is written over exactly what was read; when somebody else was faster, everything is read
again. So the last index written has seen every file as it was after the index before it, and every change of a file
is followed by an update of its own: nothing deleted comes back, nothing new stays hidden.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from strandline.domain.errors import Unavailable
from strandline.domain.memory import Memory, living, read_lines
from strandline.domain.memory_types.trajectories import TRAJECTORIES
from strandline.domain.ranking import Document
from strandline.pipeline.documents import memory_documents
from strandline.pipeline.library import Library
from strandline.ports import StoreError
from strandline.storage.document import Change, Versioned
from strandline.storage.index import Catalogue
from strandline.storage.layout import User

ATTEMPTS = 10

Files = Mapping[str, Memory | None]


def reindex(
    services: Library, owner: User, paths: Iterable[str], *, base: Versioned[Catalogue] | None, known: Files
) -> None:
    """Brings the index in step with these files. `known` are files read after `base` was; the others are read here.

    Raises Unavailable after too many lost races, or when the store does not answer: the files stay, and repeating is
    safe.
    """
    wanted = sorted(paths)
    files = dict(known)
    for attempt in range(ATTEMPTS):
        if attempt:
            services.clock.sleep(0.05 * attempt * services.ids.fraction())
            base, files = services.indexes.read(owner.index("memories")), {}
        for path in wanted:
            if path not in files:
                files[path] = read_file(services, owner, path)
        try:
            _write(services, owner, base, files)
        except StoreError:
            continue
        return
    raise Unavailable("the index is changed by many at once; the files are written, repeat the request")


def read_file(services: Library, owner: User, path: str) -> Memory | None:
    """The memory as it is now; None where there is none, or one that was deleted."""
    found = services.memories.read(owner.memory(path))
    return living(found.value if found else None)


def _write(services: Library, owner: User, base: Versioned[Catalogue] | None, files: Files) -> None:
    wanted = changed(base.value if base else Catalogue(), files)
    if base is None and not wanted.files:
        return  # nothing was there and nothing is: no index of nothing, least of all of an erased user
    services.indexes.write(owner.index("memories"), base, wanted, services.ids.new())


def changed(catalogue: Catalogue, files: Files) -> Catalogue:
    """The catalogue with these files as they are; None takes one out."""
    rows = {path: row(memory) for path, memory in files.items() if memory is not None}
    groups = {path: list(memory_documents(path, memory)) for path, memory in files.items()}
    return Catalogue(catalogue.index.replace_groups(groups, rows))


def row(memory: Memory) -> dict[str, Any]:
    """What a list shows of a memory."""
    lines, _ = read_lines(memory.body)
    return {
        "type": memory.type,
        "title": memory.title,
        "peer": memory.peer,
        "version": memory.version,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "expires_at": memory.expires_at,
        "sha256": memory.sha256,
        "lines": len(lines),
        "size": len(memory.body.encode()),
        **_told(memory),
    }


def _told(memory: Memory) -> dict[str, Any]:
    """What only some memories have to tell of."""
    told: dict[str, Any] = {"flags": memory.flags} if memory.flags else {}
    if memory.type == TRAJECTORIES.name:
        told["lineage"] = [{"type": link.type, "path": link.path} for link in memory.links]
    return told | (asdict(memory.topic) if memory.topic else {})


def lineage(catalogue: Catalogue, path: str) -> set[tuple[str, str]]:
    """The trajectories of the case or experience at that path, linked there or not: (path, type of the link)."""
    return {
        (trajectory, link["type"])
        for trajectory, found in catalogue.files.items()
        for link in found.get("lineage", ())
        if link["path"] == path
    }


def index_messages(services: Library, owner: User, groups: Mapping[str, Iterable[Document]]) -> None:
    """Puts archived messages into the message index; an empty group is taken out of it."""

    def change(current: Catalogue | None) -> Change[Catalogue, None]:
        catalogue = current or Catalogue()
        return Change(Catalogue(catalogue.index.replace_groups(groups)), None)

    if groups:
        services.indexes.update(owner.index("messages"), change)


def forget_messages(services: Library, owner: User, incarnation: str) -> None:
    """Takes every message of one life of a session out of the message index, and out of all of its layers."""

    def change(current: Catalogue | None) -> Change[Catalogue, None]:
        index = (current or Catalogue()).index
        kept = index.without(f"{incarnation}/")
        return Change(None if kept is index else Catalogue(kept), None)

    services.indexes.update(owner.index("messages"), change)


def tidy(services: Library, owner: User, kind: str) -> None:
    """Removes what the writes before this left of the index and its vectors. It may wait: see `storage/layered`."""
    with suppress(StoreError):
        services.indexes.tidy(owner.index(kind))
        services.vectors.tidy(owner.vectors(kind))
