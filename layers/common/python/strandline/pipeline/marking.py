"""Memory files that are about to be written, marked: should nobody else, the sweep brings the index in step."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from strandline.domain.memory import Memory
from strandline.pipeline.library import Library
from strandline.ports import StoreError
from strandline.storage.answered import answered
from strandline.storage.due import Due
from strandline.storage.layout import User, user_ref


@contextmanager
def behind_the_files(
    services: Library, owner: User, paths: Sequence[str]
) -> Iterator[dict[str, Memory | None]]:
    """The files as they are written, for the index. A due marker makes the sweep look at all of them, should the index
    not come so far: the request is not repeated for ever, least of all when its session is deleted meanwhile."""
    known: dict[str, Memory | None] = {}
    if not paths:
        yield known
        return
    mark = Due(services.due_at(), "reindex", user_ref(owner), path="\n".join(paths))
    with answered("the table did not answer; no memory was written"):
        services.due.put(mark)
    yield known
    if len(known) == len(paths):  # of the others it is not known whether they have been written
        with suppress(StoreError):
            services.due.remove(mark)
