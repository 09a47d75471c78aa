"""A store of LangGraph.

    store = StrandlineStore(client)
    graph = builder.compile(store=store)

An item is a memory, a markdown page that a person can read and edit: `langgraph/<label>/…/<key>.md`, the value as a
block of JSON with a line for each key. What labels and keys have that no path takes is spelled out, long ones end in a
hash; the page says them as they are. A search with a query is Strandline's: it finds pages by their lines, best first,
and nothing else.

A time to live counts from the last write: reading extends nothing, whatever `refresh_ttl` says. `index` is ignored.
"""

import asyncio
import logging
import math
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    validate_op_namespace,
)

from strandline_sdk.client import Client
from strandline_sdk.errors import ApiError
from strandline_sdk.frameworks import page
from strandline_sdk.frameworks.names import is_short, legible, spelled_by
from strandline_sdk.model import Memory

MOST_LINES = 200  # of a search: what the service answers at most
_SUFFIX = ".md"
Namespace = tuple[str, ...]
_log = logging.getLogger(__name__)


class StrandlineStore(BaseStore):
    """Items below the directory `root` of the memories of the client's user. Of `ttl` only `default_ttl` (minutes)
    counts; ValueError for one that wants reads to extend it."""

    supports_ttl = True
    __slots__ = ("_client", "_root", "ttl_config")

    def __init__(self, client: Client, *, root: str = "langgraph", ttl: TTLConfig | None = None) -> None:
        if ttl and ttl.get("refresh_on_read"):
            raise ValueError("a time to live counts from the last write: refresh_on_read cannot be True")
        self._client = client
        self._root = legible(root)
        self.ttl_config = {**ttl, "refresh_on_read": False} if ttl else None

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Reads see what was there before the batch; of several writes of one item the last counts."""
        asked = list(ops)
        for op in asked:
            validate_op_namespace(op)
        results = [None if isinstance(op, PutOp) else self._read(op) for op in asked]
        puts = {(op.namespace, op.key): op for op in asked if isinstance(op, PutOp)}
        for put in puts.values():
            self._put(put)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same, in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _read(self, op: Op) -> Result:
        match op:
            case GetOp():
                return self._get(op)
            case SearchOp():
                found = self._found(op) if op.query else self._listed(op)
                wanted = (item for item in found if _fits(item.value, op.filter or {}))
                return list(islice(wanted, op.offset, op.offset + op.limit))
            case ListNamespacesOp():
                return self._namespaces(op)
            case _:
                raise ValueError(f"unknown operation {type(op).__name__}")

    # ---- one item

    def _path(self, namespace: Namespace, key: str) -> str:
        return f"{self._below(namespace)}{legible(key)}{_SUFFIX}"

    def _below(self, namespace: Namespace) -> str:
        """The directory of a namespace, with a slash."""
        return "".join(f"{label}/" for label in (self._root, *map(_label, namespace)))

    def _get(self, op: GetOp) -> Item | None:
        try:
            memory = self._client.memory(self._path(op.namespace, op.key))
        except ApiError as error:
            if error.status == 404:
                return None
            raise
        return _item(memory)

    def _put(self, op: PutOp) -> None:
        path = self._path(op.namespace, op.key)
        if op.value is None:
            self._delete(path)
            return
        content = page.written(op.key, {"namespace": op.namespace, "key": op.key}, op.value)
        ttl = None if op.ttl is None else max(1, math.ceil(op.ttl * 60))
        written = self._client.put_memory(path, content, ttl_seconds=ttl)
        page.read(written.get("content", ""))  # a secret that was taken out of it may have spoilt it

    def _delete(self, path: str) -> None:
        try:
            self._client.delete_memory(path)
        except ApiError as error:
            if error.status != 404:
                raise

    # ---- many

    def _listed(self, op: SearchOp) -> Iterator[SearchItem]:
        """Last written first. Without a filter only the pages that are asked for are read."""
        rows = self._client.memories(self._below(op.namespace_prefix), full=bool(op.filter))
        newest = sorted(rows, key=lambda row: row["updated_at"], reverse=True)
        return _readable(newest if op.filter else self._memories(row["path"] for row in newest))

    def _found(self, op: SearchOp) -> Iterator[SearchItem]:
        """Best first: a page counts as much as its best line."""
        target = f"viking://~/memories/{self._below(op.namespace_prefix)}"
        hits = self._client.find(op.query or "", target_uri=target, limit=MOST_LINES)["memories"]
        scores: dict[str, float] = {}
        for hit in hits:
            scores.setdefault(hit["uri"].partition("/memories/")[2], hit["score"])
        return _readable(self._memories(scores), scores)

    def _memories(self, paths: Iterable[str]) -> Iterator[Memory]:
        for path in paths:
            try:
                yield self._client.memory(path)
            except ApiError as error:
                if error.status != 404:  # gone since it was found
                    raise

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        paths = (row["path"] for row in self._client.memories(f"{self._root}/"))
        found = {path.rpartition("/")[0]: path for path in paths}
        spaces = {self._namespace(directory, path) for directory, path in found.items()}
        conditions = op.match_conditions or ()
        wanted = (space for space in spaces if all(_matches(each, space) for each in conditions))
        cut = sorted({space[: op.max_depth] for space in wanted})
        return cut[op.offset : op.offset + op.limit]

    def _namespace(self, directory: str, path: str) -> Namespace:
        """The namespace of a directory; where a label was too long for it, what a page in it says."""
        labels = directory.split("/")[1:]
        if all(map(is_short, labels)):
            return tuple(map(spelled_by, labels))
        return _item(self._client.memory(path)).namespace


def _label(label: str) -> str:
    """Paths that look like those of an archive are the service's own."""
    return "~73~essions" if label == "sessions" else legible(label)


def _item(memory: Memory, score: float | None = None) -> SearchItem:
    """Raises ValueError for a page that does not say what an item does."""
    about, value = page.read(memory.get("content", ""))
    if not {"namespace", "key"} <= about.keys():
        raise ValueError(f"{memory['path']}: the page does not name its namespace and key")
    return SearchItem(
        namespace=tuple(about["namespace"]),
        key=about["key"],
        value=value,
        created_at=datetime.fromisoformat(memory["created_at"]),
        updated_at=datetime.fromisoformat(memory["updated_at"]),
        score=score,
    )


def _readable(memories: Iterable[Memory], scores: dict[str, float] | None = None) -> Iterator[SearchItem]:
    """The items among them; what somebody has written there by hand and is none is named in the log."""
    for memory in memories:
        try:
            yield _item(memory, (scores or {}).get(memory["path"]))
        except ValueError as error:
            _log.warning("%s is no item: %s", memory["path"], error)


def _matches(condition: MatchCondition, namespace: Namespace) -> bool:
    path = condition.path
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[-len(path) :]
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))


def _fits(value: Any, wanted: Any) -> bool:
    """Whether a value is what a filter wants: equal, or by operators, or an object whose keys are."""
    if isinstance(wanted, dict):
        if any(key.startswith("$") for key in wanted):
            return all(_holds(value, operator, bound) for operator, bound in wanted.items())
        return isinstance(value, dict) and all(_fits(value.get(key), each) for key, each in wanted.items())
    if isinstance(wanted, list | tuple):
        same = isinstance(value, list) and len(value) == len(wanted)
        return same and all(map(_fits, value, wanted))
    return bool(value == wanted)


def _holds(value: Any, operator: str, bound: Any) -> bool:
    match operator:
        case "$eq":
            return bool(value == bound)
        case "$ne":
            return bool(value != bound)
        case "$gt" | "$gte" | "$lt" | "$lte":
            return _ordered(value, operator, bound)
    raise ValueError(f"unknown operator {operator}")


def _ordered(value: Any, operator: str, bound: Any) -> bool:
    """Numbers by size; what is no number is in no order."""
    try:
        left, right = float(value), float(bound)
    except (TypeError, ValueError):
        return False
    return {
        "$gt": left > right,
        "$gte": left >= right,
        "$lt": left < right,
        "$lte": left <= right,
    }[operator]
