"""Memories as their owner sees them: list, read, write, delete.

A write by the owner and a merge meet at the file's compare-and-set, so neither loses what the other did. The index
follows each of them.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from strandline.domain.address import memory_uri
from strandline.domain.errors import (
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    PayloadTooLarge,
)
from strandline.domain.events import Happening, MemoryChanged, memory_edited, with_links
from strandline.domain.expiry import alive, ends, expired
from strandline.domain.memory import Author, Memory, after, bury, living
from strandline.domain.redaction import scrub
from strandline.domain.screening import Redaction, refuse_secret
from strandline.domain.times import stamp
from strandline.domain.topic import Topic
from strandline.pipeline.announce import tell
from strandline.pipeline.append import refuse_closed
from strandline.pipeline.catalogue import read_file, reindex
from strandline.pipeline.expiry import lasting, watch
from strandline.pipeline.library import Library
from strandline.pipeline.links import AT_ONCE, follow
from strandline.ports import StoreError
from strandline.storage.answered import answered
from strandline.storage.document import Change
from strandline.storage.due import Due
from strandline.storage.index import Catalogue
from strandline.storage.layout import User, segments, user_ref
from strandline.storage.markdown import Edit, edited
from strandline.storage.revisions import written

MAX_CONTENT_BYTES = 1024 * 1024

Guard = Callable[[Memory | None], None]
Amend = Callable[[Memory | None], Edit]
"""What is to be written, made from what is there (None: nothing, or expired). It raises what speaks against it, and may
be asked several times."""


def list_memories(services: Library, owner: User, prefix: str) -> Mapping[str, Mapping[str, Any]]:
    """What there is below `prefix`, by path, in path order, expired memories left out. One request."""
    found = services.indexes.read_warm(owner.index("memories"))
    return unexpired(found.value if found else Catalogue(), stamp(services.clock.now()), prefix)


def unexpired(catalogue: Catalogue, now: str, prefix: str = "") -> Mapping[str, Mapping[str, Any]]:
    """What a catalogue has below `prefix`, by path, in path order."""
    files = catalogue.files
    return {
        path: files[path]
        for path in sorted(files)
        if path.startswith(prefix) and not expired(files[path].get("expires_at"), now)
    }


def read(services: Library, owner: User, path: str) -> Memory:
    """Raises NotFound, also for an expired memory; InvalidArgument for what is no path."""
    memory = alive(read_file(services, owner, checked(path)), stamp(services.clock.now()))
    if memory is None:
        raise no_memory(path)
    return replace(memory, path=path)


def no_memory(path: str) -> NotFound:
    """What a client is told of a memory that is not there, or not for it to see."""
    return NotFound(f"there is no memory {path!r}", type="memory", resource=path)


def checked(path: str) -> str:
    """The path in its plain spelling: what is authorised is what is used. Raises InvalidArgument."""
    plain = "/".join(segments(path))
    if not plain.endswith(".md"):
        raise InvalidArgument(f"a memory is a markdown file, its path ends in .md: {path[:200]!r}")
    return plain


def write(services: Library, owner: User, path: str, content: str | Edit, guard: Guard) -> Memory:
    """Writes a memory: its markdown, as an owner writes it, or what that says. `guard` is given what is there and
    raises what speaks against it."""
    edit = _bounded(edited(content, path) if isinstance(content, str) else content)
    return amend(services, owner, path, lambda _: edit, guard)


def amend(services: Library, owner: User, path: str, change: Amend, guard: Guard) -> Memory:
    """Writes what `change` makes of a memory; when somebody else writes first, what it makes of theirs."""
    plain = checked(path)
    if services.rules.redaction is Redaction.REDACT:
        refuse_secret("path", plain, services.rules.allowed)
    refuse_closed(services, owner)
    notice = _notice(services, owner, plain, "updated")
    base = services.indexes.read(owner.index("memories"))
    now = stamp(services.clock.now())
    tried = False

    def rewrite(current: Memory | None) -> Change[Memory, Memory]:
        nonlocal tried
        there = alive(current, now)
        edit = lasting(services, there, _screened(services, _bounded(change(there))))
        wanted = _rewrite(current, path=plain, edit=edit, guard=guard, now=now)
        tried = tried or wanted.value is not None  # an answer may be lost, then it is there already
        return replace(wanted, meta=written(edit.by, current))

    memory = services.memories.update(owner.memory(plain), rewrite)
    reindex(services, owner, [plain], base=base, known={plain: memory})
    watch(services, owner, {plain: memory}, base)
    seen = _seen(notice.happening, memory) or notice.happening
    _tell(services, replace(notice, happening=seen), changed=tried)
    return memory


def _bounded(edit: Edit) -> Edit:
    """The edit, if it is not too long. Raises PayloadTooLarge."""
    if len(edit.body.encode()) > MAX_CONTENT_BYTES:
        raise PayloadTooLarge(f"a memory may hold {MAX_CONTENT_BYTES} bytes; write several")
    return edit


def _screened(services: Library, edit: Edit) -> Edit:
    """What was written, without its secrets."""
    if services.rules.redaction is not Redaction.REDACT:
        return edit
    clean = partial(scrub, allowed=services.rules.allowed)
    topic = edit.topic and Topic(clean(edit.topic.description), clean(edit.topic.summary))
    return replace(edit, body=clean(edit.body), title=edit.title and clean(edit.title), topic=topic)


@dataclass(frozen=True)
class _Notice:
    """What is about to be done to one memory: what to tell of it, and the marker that makes the sweep look at the
    file's index entry and tell of it, should we not come to it."""

    mark: Due
    happening: Happening


def _notice(services: Library, owner: User, path: str, how: Literal["updated", "deleted"]) -> _Notice:
    now = services.clock.now()
    whose = user_ref(owner)
    uri = memory_uri(owner.user_id, path)
    happening = memory_edited(whose, uri, how, edit=services.ids.new(), at=stamp(now))
    mark = Due(services.due_at(), "reindex", whose, path=path, event=happening.to_dict())
    with answered("the table did not answer; nothing was written, repeat the request"):
        services.due.put(mark)
    return _Notice(mark, happening)


def _tell(services: Library, notice: _Notice, *, changed: bool) -> None:
    """The edit is done; while the bus does not know of it, the marker stays."""
    if not changed or tell(services, notice.happening):
        _unmark(services, notice.mark)


def edit_seen(mark: Due, there: Memory | None) -> Happening | None:
    """The event of an edit that was interrupted, by what there is now."""
    if mark.event is None:
        return None
    return _seen(Happening.read(mark.event), there)


def _seen(happening: Happening, there: Memory | None) -> Happening | None:
    """The edit of one memory as it came out. A first version was added: before it is written, nobody knows."""
    event = happening.event
    if (
        not isinstance(event, MemoryChanged) or event.reason
    ):  # of many memories: planned before they were written
        return happening
    if there is None:  # never written, or deleted since, which has its own event
        return happening if event.deleted else None
    how = "added" if there.is_new else "updated"
    uris = [*event.updated, *event.deleted]
    return replace(happening, event=event.model_copy(update={"updated": [], "deleted": [], how: uris}))


def _unmark(services: Library, mark: Due) -> None:
    with suppress(StoreError):  # then the sweep looks once more, and finds nothing to do
        services.due.remove(mark)


def _rewrite(
    current: Memory | None, *, path: str, edit: Edit, guard: Guard, now: str
) -> Change[Memory, Memory]:
    """A repeat of what is there already changes nothing, whatever the guard: its first answer may have been lost."""
    there = alive(current, now)
    kept = there or after(current, _begun(path, edit.body, now))
    wanted = replace(
        kept,
        body=edit.body,
        patches=kept.patches if edit.body == kept.body else (),  # from now on the text is what counts
        title=edit.title or kept.title,
        type=edit.type or kept.type,
        topic=edit.topic or kept.topic,
        ttl_seconds=edit.ttl_seconds if edit.sets_expiry else kept.ttl_seconds,
        expires_at=(ends(now, edit.ttl_seconds) or edit.expires_at) if edit.sets_expiry else kept.expires_at,
    )
    if wanted == there:
        return Change(None, there)
    guard(there)
    memory = replace(wanted, updated_at=max(kept.updated_at, now), edits=kept.edits + 1)
    return Change(memory, memory)


def _begun(path: str, content: str, now: str) -> Memory:
    return Memory(path, _type_of(path), _title_of(path, content), _peer_of(path), "", now, now)


def _type_of(path: str) -> str:
    parts = path.split("/")
    own = parts[2:] if parts[0] == "peers" and len(parts) > 2 else parts
    return own[0].removesuffix(".md")


def _peer_of(path: str) -> str | None:
    parts = path.split("/")
    return parts[1] if parts[0] == "peers" and len(parts) > 2 else None


def _title_of(path: str, content: str) -> str:
    first = content.split("\n", 1)[0]
    return first[2:].strip() if first.startswith("# ") else path.rsplit("/", 1)[-1].removesuffix(".md")


def matching(sha256: str | None, *, absent: bool) -> Guard:
    """What `If-Match: "<sha256>"` (`*`: any; or None) and `If-None-Match: *` ask for."""

    def guard(current: Memory | None) -> None:
        found = current.sha256 if current else None
        if absent and current is not None:
            raise FailedPrecondition("there is a memory already", sha256=found)
        if sha256 is not None and sha256 != found and not (sha256 == "*" and found):
            raise FailedPrecondition("the memory is not the one you read; read it again", sha256=found)

    return guard


def anything(_current: Memory | None) -> None:
    """A guard that lets everything be written over."""


@dataclass(frozen=True)
class Deletion:
    """Who deletes, and the path of the memory that links to the deleted one lead to from then on, if any."""

    by: Author = "owner"
    replacement: str | None = None


BY_OWNER = Deletion()


def delete(
    services: Library, owner: User, path: str, guard: Guard, *, deletion: Deletion = BY_OWNER
) -> Memory:
    """Deletes a memory and answers what it was. Its gravestone stays, and the bucket keeps its versions. Links to it
    lead to its replacement, or are removed. Raises NotFound, also for a replacement that is not there."""
    plain = checked(path)
    if deletion.replacement is not None:
        read(services, owner, deletion.replacement)
    notice = _notice(services, owner, plain, "deleted")
    gone = _bury(services, owner, plain, guard, deletion)
    many = gone is not None and len(gone.links) > AT_ONCE
    linked = {} if gone is None or not gone.links or many else follow(services, owner, plain)
    base = services.indexes.read(owner.index("memories"))
    reindex(services, owner, [plain, *linked], base=base, known={})
    if not many:
        (happening,) = with_links(notice.happening, [memory_uri(owner.user_id, end) for end in linked])
        _tell(services, replace(notice, happening=happening), changed=gone is not None)
    if gone is None:
        raise no_memory(path)
    return replace(gone, path=plain)


def _bury(services: Library, owner: User, path: str, guard: Guard, deletion: Deletion) -> Memory | None:
    """Writes the gravestone over the memory when the guard lets it; answers what was there, None for nothing."""
    now = stamp(services.clock.now())
    tried: Memory | None = None

    def change(current: Memory | None) -> Change[Memory, Memory | None]:
        nonlocal tried
        there = living(current)
        if there is None:
            return Change(None, tried)  # an answer may be lost, then this is our own gravestone
        guard(there)
        tried = there
        grave = bury(there, now, deletion.replacement)
        return Change(grave, there, written(deletion.by, there))

    return services.memories.update(owner.memory(path), change)
