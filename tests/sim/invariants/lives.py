"""Deleted sessions, and whose is what."""

import json
from collections.abc import Iterator

from strandline.domain.contracts import AppendRequested, Message
from strandline.ports import Item
from strandline.storage.codec import HeadCodec
from strandline.storage.index import IndexCodec
from strandline.storage.layout import User
from strandline.storage.parsing import owner_of, session_of_head
from tests.sim.history import Acked, Deleted, History, NotThere, Queued, Read
from tests.sim.invariants.raw import Raw, life_of

CLOCKS = 10.0
"""Seconds that clocks may be apart, and some."""


def nothing_is_left_of_a_deleted_session(raw: Raw, _: History) -> Iterator[str]:
    """Every object below a session, in any version, is of the life that its head lives."""
    for key, bodies in raw.versions.items():
        incarnation = life_of(key)
        if incarnation is not None and incarnation not in raw.by_life:
            yield f"{key} is there in {len(bodies)} versions, and that life is over"


def no_old_head_quotes_a_deleted_session(raw: Raw, _: History) -> Iterator[str]:
    """Under the key of a head nothing is left of an earlier life but its gravestone."""
    codec = HeadCodec()
    for key, bodies in raw.versions.items():
        if session_of_head(key):
            for body in bodies:
                head = codec.decode(body)[0] if body is not None else None
                if head and not head.buried_at and head.incarnation not in raw.by_life:
                    yield f"{key} has a version of the life {head.incarnation}, which is over"


def no_task_of_a_deleted_session(raw: Raw, _: History) -> Iterator[str]:
    """Every task of a commit, and of a lesson, is of an archive of a living session."""
    for row in raw.partition("TASKS"):
        session = raw.by_life.get(str(row.get("incarnation")))
        number = row["lesson"]["archive"] if "lesson" in row else row.get("archive") or 0
        if session is None or number > session.head.commit_count:
            yield f"{row['pk']} has the task {row['task_id']} of an archive that is not there"


def the_list_shows_living_sessions(raw: Raw, history: History) -> Iterator[str]:
    """Every living session has its line in the list, no deleted one has; after a commit the line agrees with it."""
    lines = {(row["pk"], row["session_id"]): row for row in raw.partition("SESSIONS")}
    for head in raw.heads:
        pk = f"SESSIONS#{User(head.account_id, head.user_id).prefix[3:-1]}"
        line = lines.get((pk, head.session_id))
        if (line is None) != bool(head.buried_at):
            yield f"{pk} {head.session_id}: deleted at {head.buried_at}, its line is {line}"
        elif line and head.commit_count:
            said = (line["incarnation"], line["commit_count"])
            if said != (head.incarnation, head.commit_count):
                yield f"{pk} {head.session_id}: its line says {said}, commits are {head.commit_count}"
    gone = {deleted.incarnation for deleted in history.of(Deleted) if deleted.ended_step is not None}
    yield from (
        f"{pk} lists {name}, deleted" for (pk, name), row in lines.items() if row["incarnation"] in gone
    )


def no_message_of_a_deleted_session_is_found(raw: Raw, _: History) -> Iterator[str]:
    """The message index, in all its versions that are kept, quotes living sessions only."""
    for owner in raw.owners:
        for body in raw.versions.get(owner.index("messages"), ()):
            index = IndexCodec().decode(body)[0].index if body is not None else None
            for group in index.groups() if index else ():
                if group.split("/")[0] not in raw.by_life:
                    yield f"{owner}: the message index finds {group}, of a session that is deleted"


def a_deleted_session_stays_deleted(raw: Raw, history: History) -> Iterator[str]:
    """After the answer to a delete nothing is read from that life or appended to it, and it is not there in the end."""
    for deleted in history.of(Deleted):
        if deleted.ended_step is None:
            continue
        if deleted.incarnation in raw.by_life:
            yield f"{deleted.session_id} was deleted, and {deleted.incarnation} lives"
        for later in (*history.of(Read), *history.of(Acked)):
            started = later.started_step or 0
            if later.incarnation == deleted.incarnation and started > deleted.ended_step:
                yield f"{deleted.session_id} had been deleted, and {later} came after that"


def who_deletes_is_told(raw: Raw, history: History) -> Iterator[str]:
    """A session that lived is not said to be unknown to whoever deletes it, unless somebody else was faster."""
    for told in history.of(NotThere):
        deletes = [d for d in history.of(Deleted) if d.incarnation == told.incarnation]
        if len(deletes) < 2:
            yield f"{told.session_id} lived, and its only delete was told that there is no such session"


def deletions_are_told_of_once(raw: Raw, history: History) -> Iterator[str]:
    """One SessionDeleted for each life that was deleted, none for any other."""
    told: dict[tuple[User, str], int] = {}
    for owner, events in raw.journals.items():
        for event in events:
            if event["type"] == "SessionDeleted":
                told[owner, event["session_id"]] = told.get((owner, event["session_id"]), 0) + 1
    asked: dict[tuple[User, str], dict[str, bool]] = {}
    for deleted in history.of(Deleted):
        lives = asked.setdefault((deleted.owner, deleted.session_id), {})
        lives[deleted.incarnation] = lives.get(deleted.incarnation, False) or deleted.ended_step is not None
    for place in {*told, *asked} if asked else ():
        lives = asked.get(place, {})
        if not sum(lives.values()) <= told.get(place, 0) <= len(lives):
            yield f"{place}: {lives} were deleted (True: answered), told of {told.get(place, 0)} times"


def no_tenants_byte_under_anothers_prefix(raw: Raw, history: History) -> Iterator[str]:
    """No key, no body in any version, no item and no message in a queue holds what only another owner has said."""
    for place, owner, text in _everything(raw) if history.canaries else ():
        if owner not in history.canaries and place.startswith("v1/"):
            yield f"{place} is nobody's"
        for other, canary in history.canaries.items():
            if other != owner and canary.encode() in text:
                yield f"{place} holds what {other} has said"


def _everything(raw: Raw) -> Iterator[tuple[str, User | None, bytes]]:
    """(where, whose, what it says)."""
    for key, bodies in raw.versions.items():
        texts = [key.encode(), *(_plain(key, body) for body in bodies if body is not None)]
        yield key, owner_of(key), b"\n".join(texts)
    for row in raw.rows:
        place = f"{row['pk']} {row['sk']}"
        yield place, _owner_of_row(row), json.dumps(row, ensure_ascii=False).encode()
    for queues in (raw.waiting, raw.dead):
        for name, messages in queues.items():
            for message in messages:
                yield f"a message in {name}", _owner_of_message(message), message.model_dump_json().encode()


def _owner_of_message(message: Message | AppendRequested) -> User:
    whose = message if isinstance(message, AppendRequested) else message.session
    return User(whose.account_id, whose.user_id)


def _plain(key: str, body: bytes) -> bytes:
    """What an object says; an index is packed."""
    if not key.endswith(".idx") or key.endswith(".vectors.idx"):
        return body
    catalogue, _ = IndexCodec().decode(body)
    groups = catalogue.index.groups()
    said = [d.text for group in groups for d in catalogue.index.documents(group)]
    return "\n".join(
        [*groups, *said, *catalogue.index.segment.terms, json.dumps(dict(catalogue.files))]
    ).encode()


def _owner_of_row(row: Item) -> User | None:
    """Whose an item is: by its session, or by its partition."""
    if "session" in row:
        return User(row["session"]["account_id"], row["session"]["user_id"])
    parts = row["pk"].partition("#")[2].split("/")
    return owner_of(f"v1/{parts[0]}/{parts[1]}/") if len(parts) > 1 else None


def appends_do_not_join_an_ended_life(raw: Raw, history: History) -> Iterator[str]:
    """Of messages that were acknowledged in a life that is over, none is in its successor, unless sent again."""
    for deleted in history.of(Deleted):
        if deleted.incarnation in raw.by_life or deleted.ended_step is None:
            continue
        mine = {i for a in history.of(Acked) if a.incarnation == deleted.incarnation for i, _ in a.receipts}
        again = {
            i
            for a in history.records
            if getattr(a, "incarnation", "") != deleted.incarnation
            for i in getattr(a, "batch_ids", ())
        }
        for session in raw.sessions:
            if (session.owner, session.head.session_id) == (deleted.owner, deleted.session_id):
                back = [m.id for m in session.log if m.id in mine - again]
                if back:
                    yield f"{session}: {back} were deleted with an earlier life"


def what_was_queued_before_a_delete_went_with_it(raw: Raw, history: History) -> Iterator[str]:
    """A message that the ingest queue had taken well before a delete was asked for does not begin a new life."""
    for deleted in history.of(Deleted):
        for queued in history.of(Queued) if deleted.ended_step is not None else ():
            place = (queued.owner, queued.session_id)
            if (
                place == (deleted.owner, deleted.session_id)
                and queued.at_seconds + CLOCKS < deleted.at_seconds
            ):
                for session in raw.sessions:
                    back = {m.id for m in session.log} & set(queued.batch_ids)
                    if back and place == (session.owner, session.head.session_id):
                        yield f"{session}: {sorted(back)} were queued before its deletion, and are there"


INVARIANTS = (
    nothing_is_left_of_a_deleted_session,
    no_old_head_quotes_a_deleted_session,
    no_task_of_a_deleted_session,
    the_list_shows_living_sessions,
    no_message_of_a_deleted_session_is_found,
    a_deleted_session_stays_deleted,
    who_deletes_is_told,
    deletions_are_told_of_once,
    no_tenants_byte_under_anothers_prefix,
    appends_do_not_join_an_ended_life,
    what_was_queued_before_a_delete_went_with_it,
)
