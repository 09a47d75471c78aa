"""Every key, built here and nowhere else, and parsed in `parsing.py` beside it.

    v1/<account>/<user>/sessions/<session>/head.json                                   CAS document
    v1/<account>/<user>/sessions/<session>/<incarnation>/segments/<first>-<last>.jsonl immutable
    v1/<account>/<user>/sessions/<session>/<incarnation>/archives/<n>/<file>           immutable
    v1/<account>/<user>/sessions/<session>/<incarnation>/rebuilds/<id>/<n>/<file>      immutable
    v1/<account>/<user>/sessions/<session>/<incarnation>/tool-results/<id>             immutable
    v1/<account>/<user>/sessions/<session>/<incarnation>/used.json                     CAS document
    v1/<account>/<user>/sessions/<session>/<incarnation>/context.json                  CAS document
    v1/<account>/<user>/used.json                                                      CAS document
    v1/<account>/<user>/memories/<path>                                                CAS documents
    v1/<account>/<user>/types/<name>.<yaml|json|md>                                    a user's own, written by hand too
    v1/<account>/<user>/index/<kind>.idx                                               CAS documents, derived
    v1/<account>/<user>/index/<kind>.vectors.idx                                       CAS documents, derived
    v1/<account>/<user>/index/<either of them>.layers/<revision>-<hash>.idx            immutable, derived
    v1/<account>/<user>/journal/head.json                                              CAS document
    v1/<account>/<user>/journal/<incarnation>/<first>.jsonl                            immutable
    v1/<account>/<user>/rebuilds/promoted.json                                         CAS document
    v1/<account>/<user>/rebuilds/<id>/state.json                                       CAS document
    v1/<account>/<user>/rebuilds/<id>/{memories,base}/<path>                           CAS documents: shadow trees
    v1/<account>/<user>/replays/<name>.json                                            immutable, gone after a day

Everything of one life of a session lies under its incarnation, so a late write meant for a deleted session cannot
land in its successor. An id from outside becomes exactly one path segment: letters and digits of any script stay
readable, everything else is percent-encoded.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from strandline.domain.contracts import SessionRef
from strandline.domain.errors import InvalidArgument
from strandline.domain.names import encode

ROOT = "v1"


MAX_KEY_BYTES = 1024


_NEVER = frozenset("/\\\x7f") | frozenset(map(chr, range(32)))


_DIGITS = 12


@dataclass(frozen=True)
class User:
    """Whose data: the prefix that every other key starts with."""

    account_id: str
    user_id: str

    @property
    def prefix(self) -> str:
        return f"{ROOT}/{encode(self.account_id)}/{encode(self.user_id)}/"

    def memory(self, path: str) -> str:
        """Key of a memory by its path below `memories/`. Raises InvalidArgument when S3 would not take it."""
        key = f"{self.memories}{'/'.join(map(encode, path.split('/')))}"
        if _LIKE_AN_ARCHIVE.search(key):
            raise InvalidArgument("the path looks like one of a session; choose another name")
        if len(key.encode()) > MAX_KEY_BYTES:
            raise InvalidArgument(f"the path is too long: its key would have more than {MAX_KEY_BYTES} bytes")
        return key

    @property
    def memories(self) -> str:
        return f"{self.prefix}memories/"

    @property
    def types(self) -> str:
        """Prefix of the memory types that the user has declared."""
        return f"{self.prefix}types/"

    def memory_type(self, name: str, form: str) -> str:
        return f"{self.types}{encode(name)}.{form}"

    def index(self, kind: str) -> str:
        return f"{self.prefix}index/{kind}{INDEX}"

    def vectors(self, kind: str) -> str:
        return f"{self.prefix}index/{kind}.vectors{INDEX}"

    @property
    def journal_head(self) -> str:
        return f"{self.prefix}journal/head.json"

    def journal_run(self, incarnation: str, first: int) -> str:
        """Key of the journal's records from the number `first` on."""
        return f"{self.prefix}journal/{encode(incarnation)}/{first:0{_DIGITS}d}.jsonl"

    def replay(self, name: str) -> str:
        return f"{self.prefix}replays/{encode(name)}.json"

    @property
    def promoted(self) -> str:
        """Key of what says which rebuild was promoted last."""
        return f"{self.prefix}rebuilds/promoted.json"

    @property
    def usage(self) -> str:
        """Key of the totals: how often each memory was used."""
        return f"{self.prefix}used.json"

    def head(self, session_id: str) -> str:
        return f"{self.prefix}sessions/{encode(session_id)}/head.json"


def layers_of(index: str) -> str:
    """Prefix of the layers of an index or of vectors, from the key of its head."""
    return f"{index.removesuffix(INDEX)}.layers/"


def layer(index: str, name: str) -> str:
    """Key of one layer, by the name that `layer_name` made."""
    return f"{layers_of(index)}{name}{INDEX}"


def layer_name(revision: int, content: str) -> str:
    """What a layer is called: by the revision of the head that was to be the first with it, and its content's hash."""
    return f"{revision:0{_DIGITS}d}-{content}"


def user_of(session: SessionRef) -> User:
    return User(session.account_id, session.user_id)


def head_key(session: SessionRef) -> str:
    """Key of the session's head, whichever of its lives is meant."""
    return user_of(session).head(session.session_id)


def user_ref(owner: User) -> SessionRef:
    """The user itself, as messages and markers name it: none of its sessions."""
    return SessionRef(account_id=owner.account_id, user_id=owner.user_id, session_id="")


@dataclass(frozen=True)
class Life:
    """One incarnation of one session."""

    session: SessionRef

    @property
    def prefix(self) -> str:
        owner = user_of(self.session).prefix
        return f"{owner}sessions/{encode(self.session.session_id)}/{encode(self.session.incarnation)}/"

    @property
    def usage(self) -> str:
        """Key of what this session said it used."""
        return f"{self.prefix}used.json"

    @property
    def context(self) -> str:
        """Key of what has been decided of this session's context."""
        return f"{self.prefix}context.json"

    def segment(self, first: int, last: int) -> str:
        return f"{self.prefix}segments/{_range(first, last)}.jsonl"

    @property
    def tool_results(self) -> str:
        """Prefix of the tool outputs that are too long for a message."""
        return f"{self.prefix}tool-results/"

    def tool_result(self, identity: str) -> str:
        return f"{self.tool_results}{encode(identity)}"

    def archive(self, number: int) -> str:
        """Prefix of one archive."""
        return f"{self.archives}{number:0{_DIGITS}d}/"

    @property
    def archives(self) -> str:
        return f"{self.prefix}archives/"

    def messages(self, number: int, first: int, last: int) -> str:
        return f"{self.archive(number)}messages.{_range(first, last)}.jsonl"

    def part(self, number: int, first: int, last: int) -> str:
        """What a language model answered about these messages of a long archive."""
        return f"{self.archive(number)}part.{_range(first, last)}.json"

    def settlement(self, number: int, name: str) -> str:
        """What a language model said of a memory on which this archive met others."""
        return f"{self.archive(number)}settled.{encode(name)}.json"

    @property
    def working(self) -> str:
        """Prefix of the working memories that were made ahead of an archive."""
        return f"{self.prefix}working/"

    def working_memory(self, through: int) -> str:
        """The working memory of the messages up to that seq."""
        return f"{self.working}{through:0{_DIGITS}d}.md"

    def archive_file(self, number: int, name: str) -> str:
        """`types.json`, `learning.json`, `candidates.json`, `abstract.md`, `overview.md`, `memory_diff.json`,
        `learned.json`, `learn_diff.json`, `done.json` or `failed.json`."""
        return f"{self.archive(number)}{name}"


@dataclass(frozen=True)
class Rebuild:
    """One rebuild of a user's memories. What it finds in an archive lies with the session, and goes with it."""

    owner: User
    identity: str

    @property
    def prefix(self) -> str:
        return f"{self.owner.prefix}rebuilds/{encode(self.identity)}/"

    @property
    def state(self) -> str:
        return f"{self.prefix}state.json"

    @property
    def memories(self) -> str:
        return f"{self.prefix}memories/"

    @property
    def bases(self) -> str:
        return f"{self.prefix}base/"

    def memory(self, path: str) -> str:
        """Key of a memory as it was rebuilt."""
        return f"{self.memories}{'/'.join(map(encode, path.split('/')))}"

    def base(self, path: str) -> str:
        """Key of a memory as the extractions made it that were there before."""
        return f"{self.bases}{'/'.join(map(encode, path.split('/')))}"

    def candidates(self, session: SessionRef, number: int) -> str:
        """Key of what an archive says when it is extracted again."""
        return f"{self._archive(session, number)}candidates.json"

    def failed(self, session: SessionRef, number: int) -> str:
        """Key of why it could not be."""
        return f"{self._archive(session, number)}failed.json"

    def types(self, session: SessionRef, number: int) -> str:
        """Key of the user's own memory types as that found them."""
        return f"{self._archive(session, number)}types.json"

    def part(self, session: SessionRef, number: int, first: int, last: int) -> str:
        return f"{self._archive(session, number)}part.{_range(first, last)}.json"

    def _archive(self, session: SessionRef, number: int) -> str:
        return f"{Life(session).prefix}rebuilds/{encode(self.identity)}/{number:0{_DIGITS}d}/"


def _range(first: int, last: int) -> str:
    return f"{first:0{_DIGITS}d}-{last:0{_DIGITS}d}"


_LIKE_AN_ARCHIVE = re.compile(
    r"/sessions/.*/(archives/.{12}/(abstract|overview)\.md$|tool-results/)", re.DOTALL
)


INDEX = ".idx"


def account_prefix(account_id: str) -> str:
    """What every key of an account starts with."""
    return f"{ROOT}/{encode(account_id)}/"


def segments(path: str) -> Iterator[str]:
    """The segments of a memory path given by a client, as they are.

    Raises InvalidArgument for an empty segment, `.`, `..`, a backslash or a control character, percent-encoded or not.
    """
    for part in path.split("/"):
        plain = unquote(unquote(part))
        if plain in ("", ".", "..") or set(plain) & _NEVER:
            raise InvalidArgument(
                f"not a memory path: {path[:200]!r}; use names joined by '/', without '.' or '..'"
            )
        yield part
