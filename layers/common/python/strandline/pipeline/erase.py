"""erase: what was deleted is removed for good, in all its versions.

in             EraseRequested: a life of a deleted session; or a user or an account whose erasure is under way; or a
               scrub, which is `scrub.py`'s
out            nothing is left of it, nor among the ingest queue's dead letters (`letters.py`); of a user or an account
               a receipt, as the result of its task
commit point   a session's gravestone, put by its DELETE; for a user or an account the record of its erasure. From then
               on a session is gone, and a user or an account is closed: nothing new is begun there until it is over
on duplicate   what is gone is gone. Two workers at one erasure meet at its record, and one of them goes on
on crash       the message comes again, and the sweep sends another while the erasure is not over. A count is stored
               before anything of what it counts is removed, so the receipt is exact
twice          what was in flight when a user was closed may land later. So a user or an account is gone through a
               second time, `heal_seconds` after the first (a quarter of an hour), before it is over

A call does a bounded part and sends its message again for the rest.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from strandline.domain import erasure
from strandline.domain.contracts import EraseRequested, SessionRef
from strandline.domain.erasure import Erasure
from strandline.domain.errors import Conflict
from strandline.domain.names import encode
from strandline.domain.times import stamp
from strandline.pipeline import letters, scrub
from strandline.pipeline.library import Library
from strandline.pipeline.remains import Allowance, Erased, clear_grave, erase_life
from strandline.ports import ConditionFailed, StoreError
from strandline.storage.answered import answered
from strandline.storage.due import Due
from strandline.storage.holdings import Holding, holdings
from strandline.storage.layout import User, account_prefix, head_key, user_ref
from strandline.storage.lease import LETTERS
from strandline.storage.parsing import owner_of
from strandline.storage.records import RECEIPT_KEPT

STEPS = 40
BUSY = timedelta(seconds=12)

log = logging.getLogger(__name__)


def run_erase(services: Library, request: EraseRequested) -> None:
    """Goes on with what is asked for as far as one call can, and sends for the rest.

    Raises Unavailable when a store did not answer: repeating goes on from there.
    """
    work = _WORK.get(request.scope, _go_on)
    with answered("a store did not answer; the erasure goes on when it does"):
        try:
            if not work(services, request):
                services.erase_queue.send(request)
        except ConditionFailed:
            log.info("somebody else goes on with this erasure")


def _session(services: Library, request: EraseRequested) -> bool:
    whose, done = request.session, Erased()
    found = services.heads.read(head_key(whose))
    if found and found.value.incarnation == whose.incarnation and not found.value.buried_at:
        return True  # it lives: the delete died before it became true
    erase_life(services, whose, Allowance(), done)
    if not done.complete:
        return False
    gone = letters.of_life(services, whose, found.value if found else None)
    if gone:
        clear_grave(services, whose, services.clock.now())
    return gone is not False  # None: another worker looks, and the sweep will send this again


# ---- users and accounts


def begin(services: Library, whose: SessionRef, asked_by: User) -> Erasure:
    """Closes a user, or with an empty user id an account, and has it erased. Answers its erasure, also one of the same
    asker that is going on already.

    Raises Conflict when somebody else has it erased already, Unavailable: repeating is safe.
    """
    now = services.clock.now()
    fresh = _fresh(services, whose, asked_by, now)
    with answered():
        services.due.put(Due(services.due_at(), "erase", whose))
        begun = fresh if services.erasures.open(fresh) else _running(services, whose, fresh)
    with suppress(StoreError):
        _tell(services, begun, status="pending")
    with suppress(StoreError):
        services.erase_queue.send(EraseRequested(scope=begun.scope, session=whose))
    return begun


def _fresh(services: Library, whose: SessionRef, asked_by: User, now: datetime) -> Erasure:
    at = stamp(now)
    return Erasure(
        scope="user" if whose.user_id else "account",
        account_id=whose.account_id,
        user_id=whose.user_id,
        task_id=f"{''.join(c for c in at if c.isdigit())}-{services.ids.new()[:16]}",
        asked_by=(asked_by.account_id, asked_by.user_id),
        opened_at=at,
    )


def _running(services: Library, whose: SessionRef, fresh: Erasure) -> Erasure:
    running = services.erasures.get(whose.account_id, whose.user_id)
    if running is None or running.asked_by != fresh.asked_by:
        raise Conflict("it is being erased already; look again when that is over")
    return running


def task_values(begun: Erasure) -> dict[str, Any]:
    """What its task says at first."""
    return {
        "task_id": begun.task_id,
        "task_type": begun.task_type,
        "status": "pending",
        "stage": begun.stage,
        "resource_id": begun.target,
        "created_at": begun.opened_at,
        "updated_at": begun.opened_at,
        "attempts": 0,
        "result": None,
        "error": None,
    }


def _tell(services: Library, of: Erasure, **values: Any) -> None:
    """Stores the task for the one who asked. A task keeps its receipt: a write with smaller counts may land late."""
    row = {**task_values(of), **values}
    del row["task_id"], row["updated_at"]
    when = None if row["result"] else {"result": None}
    with suppress(ConditionFailed):
        services.tasks.note(user_ref(User(*of.asked_by)), of.task_id, kept=RECEIPT_KEPT, when=when, **row)


def trouble(services: Library, request: EraseRequested, reason: str) -> None:
    """Says in the task that the erasure does not get on. It is tried again all the same."""
    if request.scope == "scrub":
        scrub.trouble(services, request, reason)
    if request.scope in ("session", "scrub"):
        return
    of = services.erasures.get(request.session.account_id, request.session.user_id)
    if of is not None:
        _tell(services, of, status="failed", error=reason)


def _go_on(services: Library, request: EraseRequested) -> bool:
    """Answers whether there is nothing to be done now."""
    started = services.clock.now()
    at = services.erasures.get(request.session.account_id, request.session.user_id)
    if at is None or _waits(at, started):
        return True
    for _ in range(STEPS):
        following = _STEPS[at.phase](services, at)
        if following is None:
            _end(services, at)
            return True
        at = services.erasures.save(following)
        if _waits(at, started) or services.clock.now() - started > BUSY:
            break
    _tell(services, at, status="running")
    return _waits(at, started)


def _waits(at: Erasure, now: datetime) -> bool:
    return at.wait_until > stamp(now)


def _revoke(services: Library, at: Erasure) -> Erasure:
    """The keys of one user after the other. Those of the one at hand have been counted."""
    if at.current:
        services.keys.revoke_all(User(at.account_id, at.current))
    user = _next_holder(services, at)
    if user is None:
        return erasure.revoked(at)
    held = services.keys.held(User(at.account_id, user))
    return erasure.counted(at, {"items/keys": held}, current=user)


def _next_holder(services: Library, at: Erasure) -> str | None:
    if at.scope == "user":
        return None if at.current else at.user_id
    page = services.accounts.users(at.account_id, after=encode(at.current) if at.current else None, limit=1)
    return str(page.items[0]["user_id"]) if page.items else None


def _find(services: Library, at: Erasure) -> Erasure:
    user = _next_user(services, at)
    return replace(at, phase="letters", current="") if user is None else erasure.found(at, user)


def _next_user(services: Library, at: Erasure) -> str | None:
    """Of an account the first that is still registered, then the first who still has anything in the bucket."""
    if at.scope == "user":
        return None if at.current else at.user_id
    registered = services.accounts.users(at.account_id, after=None, limit=1).items
    if registered:
        return str(registered[0]["user_id"])
    stored = services.objects.versions_below(account_prefix(at.account_id), limit=1).versions
    return owner_of(stored[0].key).user_id if stored else None


def _parts(services: Library) -> Sequence[Holding]:
    return holdings(services.objects, services.items, services.accounts)


def _count(services: Library, at: Erasure) -> Erasure:
    parts = _parts(services)
    held = parts[at.part].page(User(at.account_id, at.current), at.after)
    if held.next is not None:
        return erasure.counted(at, held.counts, after=held.next)
    if at.part + 1 < len(parts):
        return erasure.counted(at, held.counts, part=at.part + 1, after=())
    return erasure.counted(at, held.counts, phase="erase", part=0, after=())


def _erase(services: Library, at: Erasure) -> Erasure:
    parts = _parts(services)
    following = parts[at.part].remove(User(at.account_id, at.current), at.after)
    if following is not None:
        return replace(at, after=following)
    if at.part + 1 < len(parts):
        return replace(at, part=at.part + 1, after=())
    return erasure.emptied(at)


def _letters(services: Library, at: Erasure) -> Erasure:
    """As many dead letters as can be taken at once. What is counted is stored before it is removed."""
    token = services.ids.new()
    if not letters.take_turn(services, token):
        return replace(at, wait_until=stamp(services.clock.now() + LETTERS))
    seen = letters.look(services.dead_letters, partial(letters.is_of, at))
    if seen.wanted:
        at = services.erasures.save(erasure.lettered(at, [letter.id for letter in seen.wanted]))
    letters.settle(services.dead_letters, seen)
    letters.end_turn(services, token)
    at = replace(
        at, wait_until="", letters=(), counts={**at.counts, "dead_letters/unreadable": seen.unreadable}
    )
    return erasure.gone_through(at, services.due_at()) if seen.complete else at


def _done(_services: Library, _at: Erasure) -> None:
    """All is gone: what remains is the receipt."""


def _resume(_services: Library, at: Erasure) -> Erasure:
    return erasure.resumed(at)


_WORK: Mapping[str, Callable[[Library, EraseRequested], bool]] = {"session": _session, "scrub": scrub.go_on}
_STEPS: Mapping[str, Callable[[Library, Erasure], Erasure | None]] = {
    "revoke": _revoke,
    "find": _find,
    "count": _count,
    "erase": _erase,
    "letters": _letters,
    "wait": _resume,
    "done": _done,
}


def _end(services: Library, at: Erasure) -> None:
    """The receipt first, then the user or account is open again."""
    if at.scope == "account":
        services.accounts.remove(at.account_id)
    _tell(services, at, status="completed", stage="done", result=erasure.receipt(at))
    services.erasures.close(at)
