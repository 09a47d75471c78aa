"""Erasure of users and accounts: for root keys, and for the admin keys of the account."""

from typing import Any

from strandline.domain.contracts import SessionRef
from strandline.domain.errors import Conflict
from strandline.entry.answers import answers
from strandline.entry.http import ok
from strandline.entry.identity import administer, identifier
from strandline.entry.results.tasks import Task
from strandline.entry.routes.asking import account, asker, new_router, path_of
from strandline.entry.wiring import library
from strandline.pipeline import erase
from strandline.storage.layout import User, user_ref

router = new_router()


@router.delete("/api/v1/users/<user_id>")
@answers(Task, Conflict)
def erase_user(user_id: str) -> dict[str, Any]:
    """Closes the user and erases everything it has, memories too; the receipt is the result of the task."""
    named = identifier(path_of(user_id), "user_id")
    return _erase(user_ref(User(account(router), named)))


@router.delete("/api/v1/accounts/<account_id>")
@answers(Task, Conflict)
def erase_account(account_id: str) -> dict[str, Any]:
    """Closes the account and erases everything of all its users; the receipt is the result of the task."""
    named = identifier(path_of(account_id), "account_id")
    return _erase(user_ref(User(named, "")))


def _erase(whose: SessionRef) -> dict[str, Any]:
    administer(router.current_event.raw_event, whose.account_id)
    known = library()
    return ok(erase.task_values(erase.begin(known, whose, asker(router))), known.clock)
