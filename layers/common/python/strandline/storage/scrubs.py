"""Scrubs that are going on, or over: each as far as it has come.

pk                            sk              what
SCRUBS#<account>/<user>       <scrub id>      gone 30 days after its last step
"""

from dataclasses import asdict, fields, replace
from datetime import timedelta

from strandline.domain.scrub import Scrub
from strandline.ports import Clock, Items
from strandline.storage.layout import User
from strandline.storage.records import scrubs

KEPT = timedelta(days=30)


class Scrubs:
    """Raises StoreError when the table does not answer."""

    def __init__(self, items: Items, clock: Clock) -> None:
        self._items = items
        self._clock = clock

    def open(self, scrub: Scrub) -> None:
        """Notes a scrub that begins. Raises ConditionFailed when there is one of that id."""
        self._items.put(self._row(scrub), when={"identity": None})

    def get(self, user: User, identity: str) -> Scrub | None:
        row = self._items.get(scrubs(user), identity)
        if row is None or row["expires_at"] <= self._clock.now().timestamp():
            return None
        values = {each.name: row[each.name] for each in fields(Scrub)}
        return Scrub(**{**values, "after": tuple(row["after"])})

    def save(self, before: Scrub, now: Scrub) -> Scrub:
        """The next step. Raises ConditionFailed when somebody else has taken it, or the scrub is gone."""
        saved = replace(now, step=before.step + 1)
        self._items.put(self._row(saved), when={"step": before.step})
        return saved

    def _row(self, scrub: Scrub) -> dict[str, object]:
        owner = User(scrub.account_id, scrub.user_id)
        expires = int((self._clock.now() + KEPT).timestamp())
        values = {**asdict(scrub), "after": list(scrub.after)}
        return {"pk": scrubs(owner), "sk": scrub.identity, **values, "expires_at": expires}
