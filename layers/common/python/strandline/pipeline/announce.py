"""announce: an event goes into the user's journal, then onto the bus.

in             a Happening: an event without an id, and a name by which a repeat of it is recognised
out            a record in the journal, which gives the event its id; the event on the bus
commit point   CAS PUT of the journal
on duplicate   the journal knows it: nothing is published again by the caller. The sweep always publishes
on crash       a due marker is written first and removed when the bus has taken the event; until then the sweep
               publishes it again. So the bus gets it at least once, and a bus that is down holds up nothing
"""

import logging
from contextlib import suppress

from strandline.domain.events import Event, Happening, read_event
from strandline.pipeline.services import Services
from strandline.ports import StoreError
from strandline.storage.answered import answered
from strandline.storage.due import Due
from strandline.storage.layout import User, user_ref

log = logging.getLogger(__name__)


def announce(services: Services, happening: Happening) -> None:
    """Tells of an event, whatever becomes of this process. Raises Unavailable, Aborted: the caller has to repeat."""
    mark = _marker(services, happening)
    with answered():
        services.due.put(mark)
    if tell(services, happening):
        with suppress(StoreError):  # then the sweep publishes it once more
            services.due.remove(mark)


def tell(services: Services, happening: Happening, *, again: bool = False) -> bool:
    """Writes the event down and publishes it when it is new, or `again`. False when the bus did not take it: a due
    marker of the caller's must see to that. Raises Unavailable, Aborted."""
    event = happening.event
    owner = User(event.account_id, event.user_id)
    identity, new = services.journals.add(owner, happening.digest, event.model_dump(exclude_none=True))
    if not new:  # told again, it is what was written down: more may have been known then
        return tell_what_is_known(services, happening) if again else True
    return _publish(services, event.model_copy(update={"id": identity}))


def tell_what_is_known(services: Services, happening: Happening) -> bool:
    """Publishes the event as it was written down, if it was; nothing is written. False when the bus did not take it.
    Raises Unavailable."""
    event = happening.event
    record = services.journals.find(User(event.account_id, event.user_id), happening.digest)
    return record is None or _publish(services, read_event(record))


def _publish(services: Services, event: Event) -> bool:
    try:
        services.bus.put(event)
    except StoreError as error:
        log.warning("the bus did not take %s %s: %s", event.type, event.id, type(error).__name__)
        return False
    return True


def _marker(services: Services, happening: Happening) -> Due:
    event = happening.event
    whose = user_ref(User(event.account_id, event.user_id))
    # of this attempt alone: another's, which may have died before the bus had the event, must outlive ours
    return Due(
        services.due_at(), "announce", whose, event={**happening.to_dict(), "attempt": services.ids.new()}
    )
