"""files: what a user has, as a tree of addresses: list, look, read.

    viking://user/<user>/memories/…                        from the catalogue: one request, however many memories
    viking://user/<user>/sessions                          from the session list, newest first
    viking://user/<user>/sessions/<id>/archives/<archive>  from the session's head and one listing

A listing from above does not go into sessions: each would cost requests of its own.
"""

from datetime import datetime
from functools import cached_property

from strandline.domain import tree
from strandline.domain.address import Place, archive_id, missing, place_of, uri_of, visible
from strandline.domain.errors import InvalidArgument, NotFound
from strandline.domain.memory import Memory, read_lines
from strandline.domain.times import stamp
from strandline.domain.tree import Node
from strandline.pipeline import archive, memory
from strandline.pipeline.commit import load_head
from strandline.pipeline.library import Library
from strandline.pipeline.past import catalogue_at, read_at
from strandline.pipeline.session import page
from strandline.storage.index import Catalogue
from strandline.storage.layout import User
from strandline.storage.markdown import render

TEXTS = ("abstract.md", "memory_diff.json", "overview.md")
READABLE = (*TEXTS, "learn_diff.json")
"""The last of few archives alone, so that a listing does not look for it."""

SESSIONS_A_REQUEST = 200


class Files:
    """The tree as one request sees it: that of a user, perhaps acting as one of its peers, whose view leaves other
    peers' memories out, or as its memories were at a time. Every method that takes an address raises InvalidUri and
    NotFound, and InvalidArgument for a session's at another time."""

    def __init__(
        self,
        services: Library,
        owner: User,
        acting_peer: str | None = None,
        as_of: datetime | None = None,
    ) -> None:
        self._services = services
        self._owner = owner
        self._peer = acting_peer
        self._as_of = as_of

    @cached_property
    def _catalogue(self) -> Catalogue:
        if self._as_of:
            return catalogue_at(self._services, self._owner, self._as_of).catalogue
        found = self._services.indexes.read_warm(self._owner.index("memories"))
        return found.value if found else Catalogue()

    @cached_property
    def rows(self) -> tree.Rows:
        """What a list shows of each memory in view, by path."""
        alive = memory.unexpired(self._catalogue, stamp(self._as_of or self._services.clock.now()))
        return {path: row for path, row in alive.items() if visible(path, self._peer)}

    def place(self, uri: str) -> Place:
        """Where an address points."""
        found = place_of(uri, self._owner.user_id)
        if found[2:3] == ("memories",) and not visible("/".join(found[3:]), self._peer):
            raise missing(uri)
        if self._as_of and found[2:3] == ("sessions",):
            raise InvalidArgument("as_of: only memories are shown as they were")
        return found

    # ---- list and look

    def contents(self, uri: str, limit: int) -> list[Node]:
        """Everything below a directory, a directory before what is in it; of sessions the newest `limit`.

        Raises InvalidArgument for a file.
        """
        place = self.place(uri)
        if place[2:] == ("sessions",):
            return self._sessions(limit)
        whole, path = self._around(place)
        if path and not _found(whole, path, uri).is_dir:
            raise _unfit(uri, expected="directory")
        return [node.below(path) for node in whole if not path or node.path.startswith(f"{path}/")]

    def look(self, uri: str) -> Node:
        """One file or directory."""
        place = self.place(uri)
        whole, path = self._around(place)
        if path:
            return _found(whole, path, uri)
        return tree.directory(place[-1] if place else "", {} if "sessions" in place[2:3] else self.rows)

    def _around(self, place: Place) -> tuple[list[Node], str]:
        """The whole of the tree that a place lies in, and its path there."""
        if place[2:3] == ("memories",):
            return tree.nodes(self.rows), "/".join(place[3:])
        if len(place) > 3:
            return self._session(place[3]), "/".join(place[4:])
        return self._above(place), ""

    def _above(self, place: Place) -> list[Node]:
        """What is below the root, `user` and the user's own directory, but for the sessions."""
        own = ("user", self._owner.user_id)
        if len(place) > len(own):
            return []
        way = ["/".join(own[len(place) : n]) for n in range(len(place) + 1, len(own) + 1)]
        top = f"{way[-1]}/" if way else ""
        rows = {f"{top}memories/{path}": row for path, row in self.rows.items()}
        return tree.nodes(rows, [*way, f"{top}memories", f"{top}sessions"])

    def _sessions(self, limit: int) -> list[Node]:
        found: list[Node] = []
        after: str | None = None
        while len(found) < limit:
            wanted = min(SESSIONS_A_REQUEST, limit - len(found))
            rows = page(self._services, self._owner, after=after, limit=wanted)
            found += [Node(item["session_id"], is_dir=True, at=item["updated_at"]) for item in rows.items]
            after = rows.next
            if after is None:
                break
        return found

    def _session(self, session_id: str) -> list[Node]:
        """A session's archives, and the texts of those that are done."""
        head = load_head(self._services, self._owner, session_id)
        found = [Node("archives", is_dir=True)]
        for number, _, _ in self._services.log.archives(head):
            name = f"archives/{archive_id(number)}"
            texts = TEXTS if archive.status(head, number) == "completed" else ()
            found.append(Node(name, is_dir=True))
            found += [Node(f"{name}/{text}", is_dir=False) for text in texts]
        return found

    # ---- read

    def read(self, uri: str) -> str:
        """A file's whole text: a memory with its front matter, or a text of an archive.

        Raises InvalidArgument for a directory.
        """
        match self.place(uri)[2:]:
            case ("memories", *parts) if parts and parts[-1].endswith(".md"):
                return render(self._memory(parts))
            case ("sessions", session_id, "archives", name, text) if text in READABLE:
                return archive.read_file(self._services, self._owner, session_id, name, text)
        raise _unfit(uri, expected="file") if self.look(uri).is_dir else missing(uri)

    def _memory(self, parts: list[str]) -> Memory:
        path = "/".join(parts)
        if self._as_of:
            return read_at(self._services, self._owner, path, self._as_of)
        return memory.read(self._services, self._owner, path)

    def abstract(self, uri: str) -> str:
        """A sentence or two: of a memory its first line, of an archive (or a session's newest) what extraction said of
        it, of any other directory what can be counted."""
        place = self.place(uri)
        if place[2:3] == ("sessions",):
            return self._said(uri, list(place[3:]), "abstract.md")
        node = self.look(uri)
        return tree.abstract(node.rows) if node.is_dir else self._first_line("/".join(place[3:]))

    def listed_abstract(self, uri: str, node: Node) -> str:
        """The abstract of what a listing of `uri` has found, where it costs no request more; "" in sessions."""
        if node.is_dir:
            return tree.abstract(node.rows) if node.rows else ""
        place = (*self.place(uri), *node.path.split("/"))
        return self._first_line("/".join(place[3:])) if place[2] == "memories" else ""

    def _first_line(self, path: str) -> str:
        """What a memory says first, as the index has it; its title when it says nothing."""
        documents = self._catalogue.index.documents(path)
        return documents[0].text if documents else str(self.rows.get(path, {}).get("title", ""))

    def overview(self, uri: str) -> str:
        """More than the abstract: of a memory its lines, of an archive (or a session's newest) its working memory, of
        any other directory a line for each memory in it."""
        place = self.place(uri)
        if place[2:3] == ("sessions",):
            return self._said(uri, list(place[3:]), "overview.md")
        node = self.look(uri)
        if node.is_dir:
            return tree.overview(node.rows, "/".join(place[2:]) or uri_of(place))
        return _plain(self._memory(list(place[3:])))

    def _said(self, uri: str, parts: list[str], text: str) -> str:
        """A text of the archive that is named, or of the session's newest that is done; "" where there is none."""
        match parts:
            case []:
                return ""
            case [session_id]:
                head = load_head(self._services, self._owner, session_id)
                name = archive_id(head.latest_done)
            case [session_id, "archives", *rest] if len(rest) <= 1:
                name = "".join(rest)
            case _:
                raise missing(uri)
        try:
            return archive.read_file(self._services, self._owner, session_id, name, text)
        except NotFound:
            self.look(uri)
            return ""


def _found(whole: list[Node], path: str, uri: str) -> Node:
    for node in whole:
        if node.path == path:
            return node
    raise missing(uri)


def _plain(found: Memory) -> str:
    """A memory without its sources."""
    lines, others = read_lines(found.body)
    own = "\n".join(others).strip()
    return "\n\n".join(filter(None, [own, "\n".join(f"- {line.text}" for line in lines)])) + "\n"


def _unfit(uri: str, *, expected: str) -> InvalidArgument:
    actual = "directory" if expected == "file" else "file"
    return InvalidArgument(
        f"{uri[:200]!r} is a {actual}", expected=expected, actual=actual, resource=uri[:200]
    )
