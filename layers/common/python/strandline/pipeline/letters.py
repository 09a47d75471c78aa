"""The ingest queue's dead letters: the only ones that hold what was said. Those of whom is erased go.

in             a life of a deleted session, or the erasure of a user or an account
out            no dead letter names it; others are where they were, to be looked at and sent back
commit point   the removal of each; for a user or an account their count is stored before
on duplicate   what is gone is gone
on crash       what was taken shows itself again after `LETTERS_HIDDEN`, before anybody else looks: one does at a time,
               by a lease that lasts longer. The erasure comes again and looks through them all

A letter is of whom its body names, also one that can never be stored. What names nobody is left and counted. On a FIFO
queue a group waits behind what is taken of it, so after a removal everything is given back and looked through again.
What stands behind ten of others in one group is not seen, and cannot be: a receive takes ten at most, and SQS gives no
more of a group before what was taken of it is deleted or visible again, when the same ten come first (developer guide,
"FIFO delivery logic"). Where groups are sessions, as they should be, all of a group go together, ten by ten.
Of more than `LOOK` letters some stay hidden between two looks. Another's look meanwhile misses them, and has its second
round, or for a session its second day.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from strandline.domain.contracts import SessionRef
from strandline.domain.erasure import Erasure
from strandline.domain.gravestone import deleted_at
from strandline.domain.session import Head
from strandline.domain.times import parse
from strandline.pipeline.services import Services
from strandline.ports import DeadLetters, Letter

LOOK = 200  # of the largest it takes ten seconds
TRIES = 5

_ALL = SessionRef(account_id="!", user_id="!", session_id="!")  # whose turn it is, one for the deployment

Body = Mapping[str, Any]
Wanted = Callable[[Body, Letter], bool]


@dataclass
class Seen:
    """What one look has taken, without the bodies. `at_end` when there was no more to be taken."""

    wanted: list[Letter] = field(default_factory=list)
    others: list[Letter] = field(default_factory=list)
    unreadable: int = 0
    at_end: bool = False

    @property
    def complete(self) -> bool:
        """Nothing wanted is left: the last look found all, and none of it."""
        return self.at_end and not self.wanted


def take_turn(services: Services, token: str) -> bool:
    """Waits a few seconds for another worker that looks; answers whether it is our turn. Raises Ambiguous."""
    for _ in range(TRIES):
        if services.leases.take(_ALL, "letters", token):
            return True
        services.clock.sleep(1 + services.ids.fraction())
    return False


def look(letters: DeadLetters, wanted: Wanted) -> Seen:
    """Takes `LOOK` letters, or all. Raises Ambiguous."""
    seen = Seen()
    while not seen.at_end and len(seen.wanted) + len(seen.others) < LOOK:
        taken = letters.take()
        seen.at_end = not taken
        for letter in taken:
            _sort(letter, wanted, seen)
    return seen


def _sort(letter: Letter, wanted: Wanted, into: Seen) -> None:
    body = _read(letter.body)
    into.unreadable += body is None
    kept = into.wanted if body is not None and wanted(body, letter) else into.others
    kept.append(replace(letter, body=""))


def _read(text: str) -> Body | None:
    """The body, if it says whose it is."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return None
    named = isinstance(body, dict) and all(
        isinstance(body.get(name), str) for name in ("account_id", "user_id")
    )
    return body if named else None


def settle(letters: DeadLetters, seen: Seen) -> None:
    """Removes what was wanted. The others are given back, unless there are more to be seen behind them: those come back
    by themselves. Raises Ambiguous: what was taken comes back."""
    letters.remove(seen.wanted)
    if seen.wanted or seen.at_end:
        letters.give_back(seen.others)


def end_turn(services: Services, token: str) -> None:
    """Another may look. Not to be called while something is hidden that should not be: the turn ends by itself."""
    services.leases.let_go(_ALL, "letters", token)


# ---- whose


def is_of(erasure: Erasure, body: Body, _letter: Letter) -> bool:
    """Whether it is of the user, or of anybody of the account."""
    mine = body["account_id"] == erasure.account_id
    return mine and (erasure.scope == "account" or body["user_id"] == erasure.user_id)


def of_life(services: Services, whose: SessionRef, head: Head | None) -> bool | None:
    """Removes those of a deleted session, whose gravestone or successor is `head`. Answers whether none is left: False
    when there is more to be looked through, None while somebody else looks. Raises Ambiguous.
    """
    deleted = deleted_at(head)
    if head is None or deleted is None:
        return True
    token = services.ids.new()
    if not take_turn(services, token):
        return None
    seen = look(services.dead_letters, partial(_is_of_life, whose, _until(services, head, deleted)))
    settle(services.dead_letters, seen)
    end_turn(services, token)
    return seen.complete


def _until(services: Services, head: Head, deleted: str) -> datetime:
    """What was sent before the deletion may have become a dead letter since, which is all the time that a FIFO queue
    tells. What is there since a successor began is the successor's."""
    late = parse(deleted) + timedelta(seconds=services.rules.heal_seconds)
    return late if head.buried_at else min(late, parse(head.created_at))


def _is_of_life(whose: SessionRef, until: datetime, body: Body, letter: Letter) -> bool:
    named = (body["account_id"], body["user_id"], body.get("session_id"))
    return named == (whose.account_id, whose.user_id, whose.session_id) and letter.sent_at < until
