"""What a key says: whose it is, and what stands there. The other side of `layout.py`."""

import re
from collections.abc import Mapping
from typing import Literal

from strandline.domain.contracts import SessionRef
from strandline.domain.names import decode
from strandline.storage.layout import INDEX, ROOT, User


def layer_of(key: str) -> tuple[str, int] | None:
    """(name, revision) of a layer's key; None for any other key."""
    match = _LAYER.match(key)
    return (match[1], int(match[2])) if match else None


_ARCHIVE_MESSAGES = re.compile(
    rf"{ROOT}/[^/]+/[^/]+/sessions/[^/]+/[^/]+/archives/(\d{{12}})/messages\.(\d{{12}})-(\d{{12}})\.jsonl",
    re.ASCII,
)


_TOOL_RESULT = re.compile(rf"{ROOT}/[^/]+/[^/]+/sessions/[^/]+/[^/]+/tool-results/([^/]+)")


_LAYER = re.compile(rf"^{ROOT}/[^/]+/[^/]+/index/[^/]+\.layers/((\d{{12,}})-[0-9a-f]+)\.idx$", re.ASCII)


_REPLAY = re.compile(rf"^{ROOT}/[^/]+/[^/]+/replays/[^/]+$")


_HEAD = re.compile(rf"^{ROOT}/([^/]+)/([^/]+)/sessions/([^/]+)/head\.json$")


_TYPE = re.compile(rf"{ROOT}/[^/]+/[^/]+/types/([^/]+)\.(yaml|json|md)")


_SHADOW = re.compile(rf"^{ROOT}/[^/]+/[^/]+/rebuilds/[^/]+/(?:memories|base)/(.+)$")


_REBUILD = re.compile(rf"^{ROOT}/[^/]+/[^/]+/rebuilds/[^/]+/(?:state\.json$|memories/|base/)")


_MEMORY = re.compile(rf"^{ROOT}/([^/]+)/([^/]+)/memories/(.+)$")


def tool_result_id(key: str) -> str | None:
    """The id in the key of a tool output; None for any other key."""
    match = _TOOL_RESULT.fullmatch(key)
    return decode(match[1]) if match else None


def is_superseded(key: str) -> bool:
    """Whether old versions of this key are of use to nobody: each new head, index, usage or context says all that the
    last did.

    The bucket keeps versions of everything; a lifecycle rule clears those of such keys away after a day.
    """
    return key.endswith(("/head.json", "/used.json", "/context.json", INDEX)) and memory_path(key) is None


def is_passing(key: str) -> bool:
    """Whether nobody asks for this key a day after it was written; a lifecycle rule clears such objects away."""
    return _REPLAY.match(key) is not None


def is_rebuilt(key: str) -> bool:
    """Whether a key is a rebuild's state or shadow tree, which is compared and promoted within days: a lifecycle rule
    clears it away after a month."""
    return _REBUILD.match(key) is not None


def archive_range(key: str) -> tuple[int, int, int] | None:
    """(number, first, last) of an archive's messages key; None for any other key."""
    match = _ARCHIVE_MESSAGES.fullmatch(key)
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def session_of_head(key: str) -> SessionRef | None:
    """Whose head a key is (without incarnation); None for any other key."""
    match = _HEAD.match(key)
    if match is None:
        return None
    account, user, session = map(decode, match.groups())
    return SessionRef(account_id=account, user_id=user, session_id=session)


def working_through(key: str) -> int:
    """The seq in the key of a working memory that was made ahead."""
    return int(key.rpartition("/")[2].removesuffix(".md"))


def owner_of(key: str) -> User:
    """Whose a key is. Raises ValueError for a key of nobody's."""
    _, account, user, _ = key.split("/", 3)
    return User(decode(account), decode(user))


def area(key: str) -> str:
    """`sessions`, `memories`, `index`, `journal`, `used.json` …: what a key of a user's is part of."""
    return key.split("/", 4)[3]


def memory_path(key: str) -> tuple[User, str] | None:
    """The owner and the path of a memory key; None for any other key."""
    match = _MEMORY.match(key)
    if match is None:
        return None
    return User(decode(match[1]), decode(match[2])), "/".join(map(decode, match[3].split("/")))


def life_of(key: str) -> SessionRef | None:
    """Which life of which session an object below one is part of; None for any other key."""
    match = _IN_LIFE.match(key)
    if match is None:
        return None
    account, user, session, incarnation = map(decode, match.groups())
    return SessionRef(account_id=account, user_id=user, session_id=session, incarnation=incarnation)


def candidates_of(key: str) -> tuple[SessionRef, int] | None:
    """Whose candidates, of which archive; also those of a rebuild. None for any other key."""
    match = _CANDIDATES.fullmatch(key)
    if match is None:
        return None
    account, user, session, incarnation, number = map(decode, match.groups())
    whose = SessionRef(account_id=account, user_id=user, session_id=session, incarnation=incarnation)
    return whose, int(number)


_IN_LIFE = re.compile(rf"{ROOT}/([^/]+)/([^/]+)/sessions/([^/]+)/([^/]+)/")


_CANDIDATES = re.compile(
    rf"{ROOT}/([^/]+)/([^/]+)/sessions/([^/]+)/([^/]+)/(?:archives|rebuilds/[^/]+)/(\d{{12}})/candidates\.json",
    re.ASCII,
)


def declared_type(key: str) -> tuple[str, str] | None:
    """Name and form of the declaration of a memory type; None for any other key."""
    match = _TYPE.fullmatch(key)
    return (decode(match[1]), match[2]) if match else None


def shadow_path(key: str) -> str:
    """The path of a memory in the key of a shadow tree."""
    match = _SHADOW.match(key)
    return "/".join(map(decode, match[1].split("/"))) if match else ""


Form = Literal[
    "head",
    "context",
    "messages",
    "output",
    "candidates",
    "memory",
    "shadow",
    "journal",
    "lines",
    "json",
    "answer",
    "text",
    "summary",
    "index",
    "plain",
]


def form_of(key: str) -> Form:
    """What stands in an object of a user's: what a scrub must know of it."""
    where = area(key)
    if where in _FORMS:
        return _FORMS[where]
    if shadow_path(key):
        return "shadow"
    if candidates_of(key):
        return "candidates"
    if where == "journal":
        return "journal" if key.endswith("/head.json") else "lines"
    return _form_in_session(key) if where == "sessions" else "plain"


def _form_in_session(key: str) -> Form:
    if _HEAD.match(key):
        return "head"
    if _TOOL_RESULT.fullmatch(key):
        return "output"
    match = _IN_LIFE.match(key)
    folder, _, name = key[match.end() :].partition("/") if match else ("", "", "")
    if folder == "context.json":
        return "context"
    return _ENDINGS.get(name.rpartition(".")[2], "plain")


_FORMS: Mapping[str, Form] = {"memories": "memory", "types": "text", "index": "index", "replays": "answer"}


_ENDINGS: Mapping[str, Form] = {"jsonl": "messages", "json": "json", "md": "summary"}
