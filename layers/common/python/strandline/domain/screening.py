"""What a message is looked through for before it is stored: secrets, which are taken out, and instructions to models.

Ids are never changed: what they name would not be found again. One that is a secret is refused instead.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from pydantic import BaseModel

from strandline.domain.errors import InvalidArgument, PayloadTooLarge
from strandline.domain.injection import injected
from strandline.domain.message import MessageIn, ToolPart
from strandline.domain.redaction import Allowed, kinds_in, redact_value

INJECTION = "injection"
_KEPT = frozenset({"id", "peer_id", "tool_id", "role", "type", "created_at", "tool_status"})

MAX_TEXTS = 100_000

M = TypeVar("M", bound=BaseModel)


class Redaction(StrEnum):
    """What happens to a secret: it is taken out, it stays and is flagged, or nobody looks."""

    REDACT = "redact"
    FLAG = "flag"
    OFF = "off"


@dataclass(frozen=True)
class Screened:
    """A message as it may be stored, and what was found in it: `secret:<kind>`, `injection`."""

    message: MessageIn
    flags: tuple[str, ...] = ()


def refuse_many_texts(messages: Sequence[MessageIn]) -> None:
    """Each text and key of free JSON is looked at by itself, and a request must be answered in time. Raises
    PayloadTooLarge over 100,000 of them."""
    free = [part.tool_input for m in messages for part in m.parts or () if isinstance(part, ToolPart)]
    found = _texts_in([*free, *(m.metadata for m in messages)])
    if found > MAX_TEXTS:
        raise PayloadTooLarge(
            f"tool_input and metadata of a request may hold {MAX_TEXTS} texts and keys, these hold {found}:"
            " send fewer messages, or the input as one text"
        )


def _texts_in(value: Any) -> int:
    """How many texts and keys a JSON value has, however deep."""
    found, left = 0, [value]
    while left:
        match left.pop():
            case str():
                found += 1
            case dict() as pairs:
                found += len(pairs)
                left += pairs.values()
            case list() as items:
                left += items
    return found


def screen(message: MessageIn, redaction: Redaction, allowed: Allowed = ()) -> Screened:
    """The message without its secrets, but for what is allowed. Raises InvalidArgument for an id that is one, and for
    what is no JSON."""
    flags = [INJECTION] if any(map(injected, message.texts())) else []
    if redaction is Redaction.OFF:
        return Screened(message, tuple(flags))
    kinds: dict[str, None] = {}
    try:
        clean = _cleaned(message, kinds, allowed)
    except RecursionError as error:
        raise InvalidArgument("a value is nested too deep to be stored") from error
    if redaction is Redaction.REDACT:
        _refuse_secret_ids(message, allowed)
        message = clean
    return Screened(message, (*flags, *(f"secret:{kind}" for kind in kinds)))


def _cleaned(model: M, kinds: dict[str, None], allowed: Allowed) -> M:
    """A copy with markers in place of secrets; lengths are not checked again, a marker may be longer."""
    update = {}
    for name, value in model:
        found: dict[str, None] = {}
        clean = None if value is None or name in _KEPT else _clean(value, found, allowed)
        if found:
            update[name] = clean
            kinds.update(found)
    return model.model_copy(update=update) if update else model


def _clean(value: Any, kinds: dict[str, None], allowed: Allowed) -> Any:
    if isinstance(value, BaseModel):
        return _cleaned(value, kinds, allowed)
    if isinstance(value, list) and value and isinstance(value[0], BaseModel):
        return [_cleaned(part, kinds, allowed) for part in value]
    clean, found = redact_value(value, allowed)
    kinds.update(dict.fromkeys(found))
    return clean


def _refuse_secret_ids(message: MessageIn, allowed: Allowed) -> None:
    refuse_secret("id", message.id, allowed)
    refuse_secret("peer_id", message.peer_id, allowed)
    for part in message.parts or ():
        if isinstance(part, ToolPart):
            refuse_secret("tool_id", part.tool_id, allowed)


def refuse_secret(field: str, value: str | None, allowed: Allowed = ()) -> None:
    """Raises InvalidArgument for an id or a path that is, or holds, a secret."""
    kinds = kinds_in(value, allowed) if value else ()
    if kinds:
        raise InvalidArgument(
            f"{field}: looks like a secret ({kinds[0]}), and ids are stored as they are: take another"
        )
