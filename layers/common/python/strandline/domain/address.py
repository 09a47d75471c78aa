"""viking:// addresses: built, and read as places in a user's own tree.

    viking://user/<user>/memories/<path>                           a memory, or a directory of them
    viking://user/<user>/peers/<peer>/memories/<path>              the same as memories/peers/<peer>/<path>
    viking://user/<user>/sessions/<id>/archives/<archive>/<file>   a text of an archive
    viking://~/…                                                   viking://user/<whoever asks>/…
    viking://session/<id>/…                                        viking://user/<whoever asks>/sessions/<id>/…

An address is taken literally, nothing in it is decoded: no id may contain a `/`.
"""

from urllib.parse import unquote

from strandline.domain.errors import InvalidUri, NotFound

SCHEME = "viking://"
MAX_CHARS = 2048
_OWN = frozenset("memories peers privacy resources sessions skills".split())
_SCOPES = ("user", "session", "~", "resources", "agent")
PLAIN_PARTS = "it has no empty parts, no '.' or '..', no backslash and no control characters"
_CLIMBING = ("", ".", "..")
_NEVER = frozenset("\\\x7f") | frozenset(map(chr, range(32)))

Place = tuple[str, ...]  # the segments below viking://, short forms spelled out


def place_of(uri: str, user_id: str) -> Place:
    """Where an address points: `()`, `("user",)`, `("user", <user>)`, `("user", <user>, "memories", …)` or
    `("user", <user>, "sessions", …)`.

    Raises InvalidUri for what is no address, NotFound for another user's and for what Strandline does not keep.
    """
    scope, *rest = _segments(uri) or [""]
    if scope == "":
        return ()
    if scope not in _SCOPES:
        raise invalid(uri, f"its first part is one of {', '.join(_SCOPES)}")
    if scope == "session":
        return ("user", user_id, "sessions", *rest)
    if scope not in ("user", "~"):
        raise missing(uri)
    own = rest if scope == "~" else _below(uri, rest, user_id)
    return ("user",) if own is None else ("user", user_id, *_canonical(uri, own))


def _segments(uri: str) -> list[str]:
    if not uri.startswith(SCHEME):
        raise invalid(uri, f"it begins with {SCHEME}")
    if len(uri) > MAX_CHARS:
        raise invalid(uri, f"it may have {MAX_CHARS} characters")
    below = uri[len(SCHEME) :].rstrip("/")
    parts = below.split("/") if below else []
    if any(part in _CLIMBING or not _NEVER.isdisjoint(part) for part in parts):
        raise invalid(uri, PLAIN_PARTS)
    return parts


def _below(uri: str, parts: list[str], user_id: str) -> list[str] | None:
    """What stands behind the user; None when no user is named."""
    if not parts:
        return None
    if parts[0] == user_id:
        return parts[1:]
    if parts[0] in _OWN:
        raise invalid(uri, f"name the user: {SCHEME}user/<user>/{parts[0]}, or {SCHEME}~/{parts[0]}")
    raise missing(uri)


def _canonical(uri: str, own: list[str]) -> list[str]:
    if own[:1] == ["peers"]:
        peer, rest = own[1:2], own[2:]
        if rest and rest[0] != "memories":
            raise missing(uri)
        own = ["memories", "peers", *peer, *rest[1:]]
    if own and own[0] not in ("memories", "sessions"):
        raise missing(uri)
    if own[:1] == ["memories"] and any(unquote(unquote(part)) in _CLIMBING for part in own):
        raise invalid(uri, PLAIN_PARTS)
    return own


def invalid(uri: str, reason: str) -> InvalidUri:
    """The refusal of what is no address."""
    return InvalidUri(f"not an address: {uri[:200]!r}; {reason}", uri=uri[:200], reason=reason)


def missing(uri: str) -> NotFound:
    """The refusal of an address where nothing is, or nothing of the caller's."""
    return NotFound(f"there is nothing at {uri[:200]!r}", resource=uri[:200], type="file")


def uri_of(place: Place) -> str:
    """The address of a place."""
    return SCHEME + "/".join(place)


def memory_uri(user_id: str, path: str) -> str:
    return uri_of(("user", user_id, "memories", path))


def is_experience(path: str) -> bool:
    """Whether a memory path is that of what was learnt of a kind of task."""
    return path.startswith("experiences/")


def session_uri(user_id: str, session_id: str) -> str:
    return uri_of(("user", user_id, "sessions", session_id))


def archive_id(number: int) -> str:
    """`archive_001`, growing past 999."""
    return f"archive_{number:03d}"


def archive_uri(user_id: str, session_id: str, number: int) -> str:
    return f"{session_uri(user_id, session_id)}/archives/{archive_id(number)}"


def diff_uri(user_id: str, session_id: str, number: int, *, learnt: bool = False) -> str:
    """What an archive changed in the memories, or what was `learnt` of it changed."""
    return f"{archive_uri(user_id, session_id, number)}/{'learn' if learnt else 'memory'}_diff.json"


def visible(path: str, acting_peer: str | None) -> bool:
    """Whether an acting peer may see a memory path: the user's own and its own, not another peer's. None sees all."""
    parts = path.split("/")
    return acting_peer is None or parts[0] != "peers" or len(parts) < 2 or parts[1] == acting_peer
