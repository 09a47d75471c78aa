"""Documents that are too large for one object: a head, and layers that never change (`domain/layers`).

    write   the layers that are new ──▶ the head by compare-and-set: it names all of its layers ──▶ done
    read    the head ──▶ the layers that it names, but for those in memory; is one gone, the head has changed: again

A layer is written before the head that names it, under a name made of that head's revision and the layer's own hash.
So a head's layers are there, a crash leaves at most layers that no head names, and these can be told from those that
somebody is about to name: a layer of revision r or below that the head of revision r does not name will never be named.
Whoever has changed layers removes such (`tidy`); a reader who still has an older head reads it again.
"""

from collections.abc import Collection, Iterable, Sequence
from hashlib import blake2b
from typing import Any, Generic, Protocol, TypeVar

from strandline.domain.errors import Corrupt, Unavailable
from strandline.domain.layers import Layer
from strandline.ports import Clock, Ids, ObjectStore, Stored
from strandline.storage import layout, parsing
from strandline.storage.answered import answered
from strandline.storage.cache import Cache
from strandline.storage.document import Codec, Documents, Stamp, Versioned

P = TypeVar("P")
L = TypeVar("L", bound="Layered[Any]")

WARM_BYTES = 256 * 1024 * 1024
"""Memory in which a function keeps the indexes that it used last; and as much for vectors."""

REREADS = 5
_ENTRY_BYTES = 64 * 1024
_HASH_BYTES = 8


class Layered(Protocol[P]):
    """A value with layers. `memory` is about how many bytes of memory it takes."""

    @property
    def layers(self) -> Sequence[Layer[P]]: ...

    @property
    def memory(self) -> int: ...

    def settled(self: L) -> L:
        """The same, with a head that is not too heavy."""

    def with_layers(self: L, layers: Sequence[Layer[P]]) -> L:
        """The same head over these layers."""


class LayeredCodec(Codec[L], Protocol[L, P]):
    """How a head and its layers become bytes and come back. A head is decoded with layers that are names only."""

    def encode_layer(self, part: P, /) -> bytes: ...

    def decode_layer(self, body: bytes, /) -> P: ...


class LayeredDocuments(Documents[L], Generic[L, P]):
    """The layered documents of one kind. As many as `WARM_BYTES` hold are kept warm, at least one."""

    def __init__(self, store: ObjectStore, codec: LayeredCodec[L, P], clock: Clock, ids: Ids) -> None:
        super().__init__(store, codec, clock, ids)
        self._cache = Cache(WARM_BYTES, _memory)
        self._layer_codec = codec
        self._untidy: set[str] = set()

    def tidy(self, key: str) -> None:
        """Removes the layers that are no document's any more, if writes by this one have left any. Raises StoreError;
        what is left then is removed when the next is."""
        found = self._cache.get(key)
        if found is None or key not in self._untidy:
            return
        for unused in unnamed(self._store.keys(layout.layers_of(key)), found):
            self._store.delete(unused)
        self._untidy.discard(key)

    # ---- writing

    def _prepared(self, key: str, base: Versioned[L] | None, value: L, stamp: Stamp) -> L:
        settled = value.settled()
        layers: Sequence[Layer[P]] = settled.layers
        stored = settled.with_layers([self._kept(key, layer, stamp) for layer in layers])
        if base and {layer.name for layer in base.value.layers} - {layer.name for layer in stored.layers}:
            self._untidy.add(key)
        return stored

    def _kept(self, key: str, layer: Layer[P], stamp: Stamp) -> Layer[P]:
        if layer.name:
            return layer
        body = self._layer_codec.encode_layer(layer.part)
        name = layout.layer_name(stamp.revision, blake2b(body, digest_size=_HASH_BYTES).hexdigest())
        self._store.put(layout.layer(key, name), body)
        return Layer(layer.part, name)

    # ---- reading

    def _decoded(self, key: str, stored: Stored) -> Versioned[L]:
        parts = self._warm_layers(key)
        for _ in range(REREADS):
            head = super()._decoded(key, stored)
            names = [str(layer.name) for layer in head.value.layers]
            parts |= self._read_layers(key, [name for name in names if name not in parts])
            if all(name in parts for name in names):
                value = head.value.with_layers([parts[name] for name in names])
                return Versioned(value, head.stamp, head.etag)
            stored = self._newer(key, stored)
        raise Unavailable("the index is changed by many at once; repeat the request")

    def _warm_layers(self, key: str) -> dict[str, Layer[P]]:
        known = self._cache.get(key)
        return {str(layer.name): layer for layer in known.value.layers} if known else {}

    def _read_layers(self, key: str, names: Iterable[str]) -> dict[str, Layer[P]]:
        """Those that are there."""
        found = {}
        for name in names:
            with answered("the store did not answer; repeat the request"):
                stored = self._store.get(layout.layer(key, name))
            if stored is not None:
                found[name] = Layer(self._part(stored.body), name)
        return found

    def _part(self, body: bytes) -> P:
        try:
            return self._layer_codec.decode_layer(body)
        except (ValueError, KeyError, TypeError) as error:
            raise Corrupt("a stored object cannot be read by this version of the service") from error

    def _newer(self, key: str, stored: Stored) -> Stored:
        """The head as it is now, which has changed: one of its layers is gone. Raises Corrupt when it has not."""
        with answered("the store did not answer; repeat the request"):
            again = self._store.get(key)
        if again is None:
            raise Unavailable("the index was removed while it was read; repeat the request")
        if again.etag == stored.etag:
            raise Corrupt("a layer of the index is gone; it can be made again by a restore")
        return again


def _memory(entry: Versioned[L]) -> int:
    return _ENTRY_BYTES + entry.value.memory


def unnamed(keys: Iterable[str], found: Versioned[L]) -> Collection[str]:
    """Of these keys the layers that no document will ever name, by any state of it."""
    named = {layer.name for layer in found.value.layers}
    return [
        key
        for key in keys
        if (layer := parsing.layer_of(key)) and layer[0] not in named and layer[1] <= found.stamp.revision
    ]
