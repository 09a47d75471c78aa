"""What a scrub goes through, page by page: objects and their versions, rows of the table, what follows from a change.

Every page may be repeated. Each answers what it has counted, and where to go on: None when it is through.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any
from urllib.parse import unquote

from strandline.domain.cleaning import Cleaner
from strandline.domain.message import read_line
from strandline.domain.names import encode
from strandline.domain.redaction import MARKER, kinds_in
from strandline.domain.scrub import Scrub
from strandline.pipeline.catalogue import index_messages, reindex
from strandline.pipeline.cleaning import UNREADABLE, clean, clean_memory, cleaned, cleaner_of
from strandline.pipeline.documents import message_documents, message_group
from strandline.pipeline.embedding import forget_vectors
from strandline.pipeline.library import Library
from strandline.pipeline.remains import Allowance, old_layers
from strandline.pipeline.rework import Cause, rework
from strandline.ports import ConditionFailed, Item, Version
from strandline.storage.document import Change
from strandline.storage.index import Catalogue
from strandline.storage.layout import User
from strandline.storage.once import fetch
from strandline.storage.pages import page
from strandline.storage.parsing import archive_range, area, form_of, is_superseded, life_of, memory_path
from strandline.storage.records import partitions

PAGE = 50
UNTOUCHED = ("index", "plain")  # no text of a user's by itself: derived, or ids and numbers
KINDS = ("memories", "messages")
_ROW_NAMES = frozenset("pk sk task_id task_type resource_id incarnation object token".split())

Cursor = tuple[str, ...]
Counted = tuple[Mapping[str, int], Cursor | None]
Part = Callable[[Library, Scrub, Cursor], Counted]

NOTHING: Counted = ({}, None)


def owner(at: Scrub) -> User:
    return User(at.account_id, at.user_id)


def concerns(at: Scrub, key: str) -> bool:
    """Whether an object may quote what the scrub is about: all that a user has, or one session. Of other sessions that
    is what they changed in memories which the session had changed before."""
    if not at.session_id or area(key) != "sessions":
        return True
    own = f"{owner(at).prefix}sessions/{encode(at.session_id)}/"
    return key.startswith(own) or key.endswith("/memory_diff.json")


# ---- objects


def look(services: Library, at: Scrub, after: Cursor) -> Counted:
    """Counts what there is, what would be changed, and the versions that would be erased."""
    found = services.objects.versions_below(owner(at).prefix, after=_place(after), limit=PAGE)
    counts: Counter[str] = Counter()
    for version in found.versions:
        if not version.deleted and concerns(at, version.key):
            counts.update(_present(services, version.key) if version.latest else _past(services, version))
    return counts, found.next


def _place(after: Cursor) -> tuple[str, str] | None:
    return (after[0], after[1]) if after else None


def _present(services: Library, key: str) -> Iterator[str]:
    where = area(key)
    yield f"objects/{where}"
    if kinds_in(unquote(key), services.rules.allowed):
        yield f"names/{where}"
    body = fetch(services.objects, key) if form_of(key) not in UNTOUCHED else None
    if body is None:
        return
    cleaner = cleaner_of(services)
    try:
        if cleaned(services, key, body, cleaner) == body:
            return
    except UNREADABLE:
        yield f"unreadable/{where}"
        return
    yield from (f"changed/{where}", f"versions/{where}")
    yield from (f"findings/{kind}" for kind in cleaner.kinds)


def _past(services: Library, version: Version) -> Iterator[str]:
    if is_tainted(services, version):
        yield f"versions/{area(version.key)}"


def is_tainted(services: Library, version: Version) -> bool:
    """Whether an old version is to go: it holds a secret, or is of use to nobody, so it is not looked into."""
    if is_superseded(version.key):
        return True
    try:
        body = services.objects.get_version(version.key, version.version_id).body
        return cleaned(services, version.key, body, cleaner_of(services)) != body
    except UNREADABLE:  # or gone
        return False


def clean_objects(services: Library, at: Scrub, after: Cursor) -> Counted:
    """Takes the secrets out of a page of objects."""
    keys, following = _keys(services, owner(at).prefix, after)
    memories = {}
    for key in (each for each in keys if concerns(at, each) and form_of(each) not in UNTOUCHED):
        named = memory_path(key)
        if named is None:
            with suppress(*UNREADABLE):
                clean(services, key)
        elif any(part.startswith("changed/") for part in _present(services, key)):
            memories[named[1]] = partial(clean_memory, cleaner=cleaner_of(services))
    if memories:
        rework(services, owner(at), memories, Cause("scrub", f"scrub {at.identity}"))
    return {}, following


def purge(services: Library, at: Scrub, after: Cursor) -> Counted:
    """Erases the old versions of a page. It is looked at until there are none: what was erased is no place to go on
    from."""
    found = services.objects.versions_below(owner(at).prefix, after=_place(after), limit=PAGE)
    old = [version for version in found.versions if not (version.latest or version.deleted)]
    gone = [each for each in old if concerns(at, each.key) and is_tainted(services, each)]
    services.objects.erase(gone)
    return {}, after if gone else found.next


# ---- rows


def rows(kind: str, *, cleaning: bool) -> Part:
    """The user's rows of that kind: looked at, or cleaned."""

    def part(services: Library, at: Scrub, after: Cursor) -> Counted:
        found = page(services.items, partitions(owner(at))[kind], after[0] if after else None, PAGE)
        counts: Counter[str] = Counter()
        for row in found.items:
            cleaner = cleaner_of(services)
            changed = _clean_row(row, cleaner)
            counts.update([f"items/{kind}", *(f"findings/{each}" for each in cleaner.kinds)])
            if changed:
                counts[f"changed/{kind}"] += 1
            if changed and cleaning:
                _write_row(services, row, changed)
        return {} if cleaning else counts, (found.next,) if found.next else None

    return part


def _clean_row(row: Item, cleaner: Cleaner) -> dict[str, Any]:
    """The attributes that hold secrets, without them."""
    clean = {name: _clean_attribute(value, cleaner) for name, value in row.items() if name not in _ROW_NAMES}
    return {name: value for name, value in clean.items() if value != row[name]}


def _clean_attribute(value: Any, cleaner: Cleaner) -> Any:
    return cleaner.answer(value) if isinstance(value, str) else cleaner.value(value)


def _write_row(services: Library, row: Item, changed: Item) -> None:
    with suppress(ConditionFailed):  # it has changed since: the second round looks again
        services.items.update(row["pk"], row["sk"], changed, when={name: row[name] for name in changed})


# ---- what follows


def follow_messages(services: Library, at: Scrub, after: Cursor) -> Counted:
    """The message index, of archives in which there are markers."""
    if not at.changes("sessions"):
        return NOTHING
    whose = owner(at)
    keys, following = _keys(services, f"{whose.prefix}sessions/", after)
    found = services.indexes.read_warm(whose.index("messages"))
    known = set(found.value.index.groups()) if found else set()
    groups = {}
    for key in keys:
        session, span = life_of(key), archive_range(key)
        group = message_group(session.incarnation, span[0]) if session and span else ""
        body = fetch(services.objects, key) if group in known else None
        if session and body and MARKER.encode() in body:
            messages = [read_line(line) for line in body.split(b"\n") if line]
            groups[group] = list(message_documents(group, session.session_id, messages))
    index_messages(services, whose, groups)
    return {}, following


def follow_memories(services: Library, at: Scrub, after: Cursor) -> Counted:
    """The memory index, of memories in which there are markers: a crash may have left it behind them."""
    if not at.changes("memories"):
        return NOTHING
    whose = owner(at)
    base = services.indexes.read(whose.index("memories"))
    keys, following = _keys(services, whose.memories, after)
    marked = [key for key in keys if MARKER.encode() in (fetch(services.objects, key) or b"")]
    paths = [named[1] for named in map(memory_path, marked) if named]
    if paths:
        reindex(services, whose, paths, base=base, known={})
    return {}, following


def _keys(services: Library, prefix: str, after: Cursor) -> tuple[Sequence[str], Cursor | None]:
    keys = list(islice(services.objects.keys(prefix, after=after[0] if after else ""), PAGE))
    return keys, (keys[-1],) if len(keys) == PAGE else None


def compact(services: Library, at: Scrub, _after: Cursor) -> Counted:
    """Nothing of what was replaced stays in an index, in vectors, or in layers that they name no more."""
    if not (at.changes("sessions") or at.changes("memories")):
        return NOTHING
    whose = owner(at)
    for kind in KINDS:
        services.indexes.update(whose.index(kind), _compacted)
        forget_vectors(services, whose, kind)
        for documents, key in (
            (services.indexes, whose.index(kind)),
            (services.vectors, whose.vectors(kind)),
        ):
            old_layers(services, key, documents.read(key), Counter(), Allowance())
    return NOTHING


def _compacted(current: Catalogue | None) -> Change[Catalogue, None]:
    if current is None:
        return Change(None, None)
    compacted = current.index.compacted()
    return Change(None if compacted is current.index else Catalogue(compacted), None)
