"""Vectors beside the search index, where an embedder is configured: made by the merge, asked by the search.

in             a user's index, as the merge has written it; of a search, the query
out            a vector for each text of the index that has none, as far as there is time; how alike texts and query are
commit point   CAS PUT of the user's vectors
on duplicate   no text is without a vector: no model is asked
on crash       what was made and not written is made again by the next merge of the user

They are derived and never waited for. A text whose vector could not be made is found by its words, and the next merge
of the user makes up for it; a query that cannot be embedded is searched by its words.
"""

import logging
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial

from strandline.domain.errors import StrandlineError
from strandline.domain.ranking import Index
from strandline.domain.ranking.likeness import likeness, pack
from strandline.pipeline.library import Library
from strandline.ports import Embedder, StoreError
from strandline.storage.document import Change
from strandline.storage.layout import User
from strandline.storage.vectors import Vectors

BATCH = 32
PATIENCE = timedelta(seconds=30)
"""As long as a batch of merges may spend on vectors, all users together, of the 120 seconds that it has; what is left
is the next one's."""

log = logging.getLogger(__name__)


def embed(services: Library, owner: User, kind: str, until: datetime) -> None:
    """Makes the vectors that the user's index of this kind is short of, as far as it gets until then, and drops those
    that it no longer needs."""
    if services.embedder is None:
        return
    with suppress(StrandlineError):  # the next merge tries again
        _embed(services, services.embedder, owner, kind, until)


def _embed(services: Library, embedder: Embedder, owner: User, kind: str, until: datetime) -> None:
    index = _index(services, owner, kind)
    needed = index.keys()
    stored = _stored(services, embedder, owner, kind)
    texts = index.texts(needed - stored.rows.keys())
    made = _made(services, embedder, {key: texts[key] for key in sorted(texts)}, until)
    gone = stored.rows.keys() - needed
    if stored.with_rows(made, gone) is not stored:
        change = partial(_change, model=embedder.name, made=made, gone=gone)
        services.vectors.update(owner.vectors(kind), change)


def _index(services: Library, owner: User, kind: str) -> Index:
    found = services.indexes.read_warm(owner.index(kind))
    return found.value.index if found else Index()


def forget_vectors(services: Library, owner: User, kind: str) -> None:
    """Drops the vectors of texts that are no longer in the user's index, which needs no model."""
    if services.vectors.read(owner.vectors(kind)) is None:
        return
    needed = _index(services, owner, kind).keys()

    def change(current: Vectors | None) -> Change[Vectors, None]:
        if current is None:
            return Change(None, None)
        kept = current.without(current.rows.keys() - needed)
        return Change(None if kept is current else kept, None)

    services.vectors.update(owner.vectors(kind), change)


def _made(
    services: Library, embedder: Embedder, texts: Mapping[bytes, str], until: datetime
) -> dict[bytes, bytes]:
    """Vectors of these texts, or of as many as there is time for."""
    keys, made = list(texts), dict[bytes, bytes]()
    for start in range(0, len(keys), BATCH):
        some = keys[start : start + BATCH]
        if services.clock.now() > until:
            break
        try:
            vectors = embedder.embed([texts[key] for key in some])
        except StoreError as error:
            log.warning("%d texts are without a vector: %s", len(keys) - start, type(error).__name__)
            break
        made |= {key: pack(vector) for key, vector in zip(some, vectors, strict=True) if any(vector)}
    return made


def _change(
    current: Vectors | None, *, model: str, made: Mapping[bytes, bytes], gone: Collection[bytes]
) -> Change[Vectors, None]:
    kept = current if current and current.model == model else Vectors(model)
    return Change(kept.with_rows(made, gone), None)


def _stored(services: Library, embedder: Embedder, owner: User, kind: str) -> Vectors:
    found = services.vectors.read_warm(owner.vectors(kind))
    return found.value if found and found.value.model == embedder.name else Vectors(embedder.name)


def alike(services: Library, owner: User, kind: str, query: str) -> Mapping[bytes, float]:
    """How alike the texts of the user's index are to the query, by their hash; empty where words must do."""
    if services.embedder is None:
        return {}
    try:
        rows = _stored(services, services.embedder, owner, kind).rows
        vectors: Sequence[Sequence[float]] = services.embedder.embed([query], query=True) if rows else ()
    except (StoreError, StrandlineError) as error:
        log.warning("a query is searched by its words: %s", type(error).__name__)
        return {}
    return likeness(rows, vectors[0]) if vectors else {}
