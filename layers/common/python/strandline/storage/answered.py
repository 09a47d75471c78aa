"""A store that does not answer, as a use case says it."""

from collections.abc import Iterator
from contextlib import contextmanager

from strandline.domain.errors import Unavailable
from strandline.ports import StoreError


@contextmanager
def answered(otherwise: str = "the table did not answer; repeat the request") -> Iterator[None]:
    """Raises Unavailable with what to say `otherwise`, whatever StoreError comes out of it. A refused condition is one
    too: who expects it, catches it within."""
    try:
        yield
    except StoreError as error:
        raise Unavailable(otherwise) from error
