"""Names of a framework's (any text) as names of Strandline's: ids of sessions and users, segments of paths. Different
names stay different."""

import hashlib
from urllib.parse import quote

_PLAIN = frozenset("-_.@")
_NEVER = frozenset("/\\?\x7f") | frozenset(map(chr, range(32)))
_KEPT_UNENCODED = "-_.~@"
MAX_CHARS, MAX_BYTES = 128, 192  # of an id, as it is and percent-encoded
LONG = 56  # two of them and what is around them are an id
ESCAPED = "~"


def session_name(session_id: str) -> str:
    """The session's id as it is, where Strandline takes it; otherwise spelled out behind a `~`."""
    return session_id if _may_be(session_id) else ESCAPED + legible(session_id)


def user_name(*names: str) -> str:
    """One user id of several names, in ASCII: it travels in a header."""
    return "!".join(legible(name, ascii_only=True) for name in names)


def legible(name: str, *, ascii_only: bool = False) -> str:
    """Letters, digits and `-_.@` as they are, everything else as `~<hex>~`. Where that is long its end is a hash. Never
    empty, and never with a `!`, a `+` of its own, a slash or a percent sign."""
    spelled = "".join(
        c if (c.isalnum() or c in _PLAIN) and (c.isascii() or not ascii_only) else f"~{ord(c):x}~"
        for c in name
    )
    if spelled in (".", ".."):
        spelled = spelled.replace(".", "~2e~")
    if len(spelled.encode()) <= LONG and spelled:
        return spelled
    return f"{spelled[: LONG // 4]}+{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


def is_short(segment: str) -> bool:
    """Whether `legible` kept the whole name, so that `spelled_by` gives it back."""
    return "+" not in segment


def spelled_by(segment: str) -> str:
    """The name that `legible` spelled out in full."""
    pieces = segment.split("~")
    return "".join(chr(int(piece, 16)) if n % 2 else piece for n, piece in enumerate(pieces))


def _may_be(session_id: str) -> bool:
    if not 0 < len(session_id) <= MAX_CHARS or session_id.startswith(ESCAPED) or session_id in (".", ".."):
        return False
    if not _NEVER.isdisjoint(session_id) or any("\ud800" <= c <= "\udfff" for c in session_id):
        return False
    sizes = (len((c if c.isalnum() else quote(c, safe=_KEPT_UNENCODED)).encode()) for c in session_id)
    return sum(sizes) <= MAX_BYTES
