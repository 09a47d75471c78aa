"""A row of an answer's list: what it says when it matches the schema, or why it is dropped. No reason quotes it."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

M = TypeVar("M", bound=BaseModel)


class Useless(Exception):
    """Why a row is dropped."""


def valid(row: Any, kind: type[M]) -> M:
    """The row, checked. Raises Useless."""
    try:
        return kind.model_validate(row)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_context=False, include_input=False)[0]
        field = ".".join(map(str, wrong["loc"])) or "fact"
        raise Useless(f"does not match the schema: {field}: {wrong['type']}") from None


def seqs(row: Any, *names: str) -> tuple[int, ...]:
    """What a dropped row says it cites under these names, where that can be stored; otherwise 1."""
    given = [row.get(name) for name in names] if isinstance(row, Mapping) else [None] * len(names)
    return tuple(n if type(n) is int and 1 <= n < 10**12 else 1 for n in given)
