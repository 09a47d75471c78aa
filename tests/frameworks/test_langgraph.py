"""A store of LangGraph: what its BaseStore promises, beside its own InMemoryStore; and in a graph that is compiled."""

import asyncio
import logging
import operator
from typing import Annotated, Any, TypedDict

import pytest

from strandline_sdk import ApiError, Client

pytest.importorskip("langgraph", reason="`make frameworks` has the frameworks' packages")

from langgraph.graph import END, START, StateGraph
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from strandline_sdk.frameworks.langgraph import StrandlineStore

VALUE: dict[str, Any] = {
    "food": "pizza",
    "n": 1,
    "rate": 1.0,
    "big": 2**60,
    "yes": True,
    "none": None,
    "deep": {"list": [1, {"x": [None, "a`b```c"]}], "empty": {}},
    "text": 'two\nlines "quoted" \\ 我住在奥斯陆 🌊 </script> <!-- a/1#1 -->\u2028end',
    "": "no name",
}


@pytest.fixture
def store(client: Client) -> StrandlineStore:
    return StrandlineStore(client)


def keys(found: list[Any]) -> list[str]:
    return [item.key for item in found]


# ---- one item


def test_a_value_comes_back_as_it_was(store: StrandlineStore) -> None:
    store.put(("users", "ana"), "prefs", VALUE)
    found = store.get(("users", "ana"), "prefs")
    assert found is not None
    assert (found.namespace, found.key, found.value) == (("users", "ana"), "prefs", VALUE)
    assert [type(found.value[name]) for name in ("n", "rate", "yes")] == [int, float, bool]
    assert found.created_at == found.updated_at
    assert found.created_at.tzinfo is not None


def test_a_person_can_read_and_edit_it(store: StrandlineStore, client: Client) -> None:
    store.put(("users", "ana"), "prefs", {"food": "pizza", "langs": ["pt", "no"]})
    memory = client.memory("langgraph/users/ana/prefs.md")
    assert memory["content"] == (
        '# prefs\n\nnamespace: `["users", "ana"]`\nkey: `"prefs"`\n\n'
        '```json\n{\n  "food": "pizza",\n  "langs": ["pt", "no"]\n}\n```\n'
    )
    client.put_memory(memory["path"], memory["content"].replace('"pizza"', '"sushi"'))
    found = store.get(("users", "ana"), "prefs")
    assert found is not None
    assert found.value == {"food": "sushi", "langs": ["pt", "no"]}


def test_a_write_over_it_keeps_when_it_began(store: StrandlineStore) -> None:
    store.put(("a",), "k", {"v": 1})
    first = store.get(("a",), "k")
    store.put(("a",), "k", {"w": 2})
    second = store.get(("a",), "k")
    assert first and second
    assert second.value == {"w": 2}
    assert (second.created_at, second.updated_at > first.updated_at) == (first.created_at, True)


def test_what_is_deleted_or_never_was_is_none(store: StrandlineStore) -> None:
    store.put(("a",), "k", {"v": 1})
    store.delete(("a",), "k")
    store.delete(("a",), "k")
    assert store.get(("a",), "k") is None
    assert store.get(("b",), "k") is None
    assert store.search(("a",)) == []
    assert store.search(("a",), query="v 1") == []
    assert store.list_namespaces() == []
    store.put(("a",), "k", {"v": 2})
    assert keys(store.search(("a",))) == ["k"]


NAMES = [
    "a/b",
    "a%2Fb",
    "a%252Fb",
    "~",
    "~a~2f~b",
    "..",
    ".",
    "A",
    "a",
    "用户",
    "用户/甲",
    "x" * 300,
    "x" * 301,
]
NAMES += [
    " ",
    "\n",
    "\x07",
    "a+b",
    "a!b",
    "é",
    "e\u0301",
    "sessions",
    "tool-results",
    "index",
    "state.md",
    "x](y):z",
]
NAMES += ["550e8400-e29b-41d4-a716-446655440000", "*", "ana@example.com", "\U0001f30a" * 40, ""]
LABELS = ["a/b", "a%2Fb", "~a~2f~b", "A", "a", "用户/甲", "x" * 300, "x" * 301, "\n", "sessions", "*"]


def test_keys_of_any_text_are_apart(store: StrandlineStore) -> None:
    for name in NAMES:
        store.put(("keys",), name, {"of": name})
    assert [
        found and (found.key, found.value) for found in (store.get(("keys",), name) for name in NAMES)
    ] == [(name, {"of": name}) for name in NAMES]
    assert sorted(keys(store.search(("keys",), limit=1000))) == sorted(NAMES)


def test_labels_of_any_text_are_apart(store: StrandlineStore) -> None:
    for label in LABELS:
        store.put(("spaces", label), "k", {"of": label})
        store.put(("spaces", label, "sessions", "tool-results"), "k", {"below": label})
    for label in LABELS:
        assert [item.value for item in store.search(("spaces", label), filter={"of": label})] == [
            {"of": label}
        ]
    expected = sorted([("spaces", label) for label in LABELS])
    assert store.list_namespaces(prefix=("spaces",), max_depth=2) == expected
    assert len(store.list_namespaces(prefix=("spaces",), suffix=("sessions", "tool-results"))) == len(LABELS)


def test_namespaces_that_are_none_are_refused(store: StrandlineStore) -> None:
    for namespace in ((), ("a.b",), ("",), ("langgraph",)):
        with pytest.raises(InvalidNamespaceError):
            store.put(namespace, "k", {})
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(("a.b",), "k", {})])


def test_what_json_cannot_hold_is_refused_and_nothing_written(store: StrandlineStore) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        store.put(("a",), "k", {"v": float("nan")})
    with pytest.raises(TypeError, match="not JSON serializable"):
        store.put(("a",), "k", {"v": {1, 2}})
    assert store.get(("a",), "k") is None


def test_secrets_are_taken_out_as_everywhere(store: StrandlineStore) -> None:
    store.put(("a",), "k", {"password": "hunter2", "pin": {"password": 4711}, "note": "green"})
    found = store.get(("a",), "k")
    assert found is not None
    mark = "[redacted:password]"
    assert found.value == {"password": mark, "pin": {"password": mark}, "note": "green"}


# ---- time to live: from the last write


def test_a_time_to_live_in_minutes(store: StrandlineStore, client: Client) -> None:
    store.put(("a",), "short", {"v": 1}, ttl=0.02)
    store.put(("a",), "long", {"v": 1}, ttl=10)
    assert client.memory("langgraph/a/long.md").get("ttl_seconds") == 600
    assert client.memory("langgraph/a/short.md").get("ttl_seconds") == 2


def test_reading_does_not_extend_it(store: StrandlineStore, client: Client) -> None:
    store.put(("a",), "k", {"v": 1}, ttl=10)
    before = client.memory("langgraph/a/k.md").get("expires_at")
    store.get(("a",), "k", refresh_ttl=True)
    store.search(("a",), refresh_ttl=True)
    assert client.memory("langgraph/a/k.md").get("expires_at") == before


def test_an_item_of_one_namespace_does_not_keep_another_alive(store: StrandlineStore, client: Client) -> None:
    store.put(("a",), "k", {"v": 1}, ttl=10)
    before = client.memory("langgraph/a/k.md").get("expires_at")
    store.put(("a",), "other", {"v": 1}, ttl=20)
    assert client.memory("langgraph/a/k.md").get("expires_at") == before


def test_a_write_without_one_takes_it_away(store: StrandlineStore, client: Client) -> None:
    store.put(("a",), "k", {"v": 1}, ttl=10)
    store.put(("a",), "k", {"v": 1})
    assert client.memory("langgraph/a/k.md").get("expires_at") is None


def test_a_default_time_to_live(client: Client) -> None:
    store = StrandlineStore(client, ttl={"default_ttl": 5})
    store.put(("a",), "k", {"v": 1})
    store.put(("a",), "kept", {"v": 1}, ttl=None)
    assert client.memory("langgraph/a/k.md").get("ttl_seconds") == 300
    assert client.memory("langgraph/a/kept.md").get("ttl_seconds") is None
    with pytest.raises(ValueError, match="refresh_on_read"):
        StrandlineStore(client, ttl={"refresh_on_read": True})


# ---- many


PLACES = [
    (("docs",), "1", {"kind": "note", "score": 1, "tags": ["a"], "by": {"name": "ana", "age": 3}}),
    (("docs",), "2", {"kind": "note", "score": 2.5, "tags": ["a", "b"], "by": {"name": "bob"}}),
    (("docs", "old"), "3", {"kind": "memo", "score": 3}),
    (("docs2",), "4", {"kind": "note", "score": 4}),
]
FILTERS: list[Any] = [
    {},
    {"kind": "note"},
    {"kind": "note", "score": {"$gt": 1}},
    {"score": {"$gte": 2.5}},
    {"score": {"$lt": 3, "$gte": 1}},
    {"score": {"$lte": 2.5}},
    {"kind": {"$ne": "note"}},
    {"kind": {"$eq": "memo"}},
    {"by": {"name": "ana"}},
    {"tags": ["a"]},
    {"missing": 1},
    {"kind": None},
]


@pytest.mark.parametrize("wanted", FILTERS, ids=str)
def test_filters_find_what_the_frameworks_own_store_finds(store: StrandlineStore, wanted: Any) -> None:
    own = InMemoryStore()
    for namespace, key, value in PLACES:
        store.put(namespace, key, value)
        own.put(namespace, key, value)
    for prefix in ((), ("docs",), ("docs", "old"), ("doc",)):
        assert sorted(keys(store.search(prefix, filter=wanted))) == sorted(
            keys(own.search(prefix, filter=wanted))
        )


def test_numbers_are_compared_only_with_numbers(store: StrandlineStore) -> None:
    store.put(("a",), "k", {"v": "text"})
    assert store.search(("a",), filter={"v": {"$gt": 1}}) == []
    with pytest.raises(ValueError, match=r"\$near"):
        store.search(("a",), filter={"v": {"$near": 1}})


def test_pages_are_newest_first_and_whole(store: StrandlineStore) -> None:
    for n in range(5):
        store.put(("a",), str(n), {"n": n, "even": n % 2 == 0})
    assert keys(store.search(("a",), limit=2)) == ["4", "3"]
    assert keys(store.search(("a",), limit=2, offset=2)) == ["2", "1"]
    assert keys(store.search(("a",), limit=2, offset=1, filter={"even": True})) == ["2", "0"]
    assert keys(store.search(("a",), limit=9, offset=9)) == []


def test_a_query_finds_the_best_first(store: StrandlineStore) -> None:
    for n in range(12):
        store.put(("notes", "ana"), f"other-{n}", {"text": f"number {n} has nothing to do with it"})
    store.put(("notes", "ana"), "boat", {"text": "The sailing boat is green.", "kind": "thing"})
    store.put(("notes", "bob"), "boat", {"text": "Another boat, a boat of Bob's.", "kind": "thing"})
    store.put(
        ("notes", "ana"), "lake", {"text": "The lake has a boat house and much water.", "kind": "place"}
    )
    found = store.search(("notes", "ana"), query="green sailing boat")
    assert keys(found) == ["boat", "lake"]
    assert (found[0].value["text"], found[0].namespace) == ("The sailing boat is green.", ("notes", "ana"))
    assert found[0].score > found[1].score > 0
    assert keys(store.search(("notes", "ana"), query="boat", filter={"kind": "place"})) == ["lake"]
    assert keys(store.search(("notes", "ana"), query="green sailing boat", offset=1)) == ["lake"]
    assert {item.namespace for item in store.search(("notes",), query="boat")} == {
        ("notes", "ana"),
        ("notes", "bob"),
    }
    assert store.search(("notes", "cid"), query="boat") == []


def test_namespaces_are_listed_as_by_the_frameworks_own_store(store: StrandlineStore) -> None:
    own = InMemoryStore()
    for namespace in (("a", "b", "c"), ("a", "b", "d"), ("a", "x"), ("b", "c"), ("a",), ("b", "y", "c")):
        store.put(namespace, "k", {})
        own.put(namespace, "k", {})
    for asked in (
        {},
        {"prefix": ("a",)},
        {"prefix": ("a", "*", "c")},
        {"suffix": ("c",)},
        {"prefix": ("b",), "suffix": ("*", "c")},
        {"max_depth": 2},
        {"prefix": ("a", "b"), "max_depth": 1},
        {"limit": 2, "offset": 1},
        {"prefix": ("nothing",)},
    ):
        assert store.list_namespaces(**asked) == own.list_namespaces(**asked), asked  # type: ignore[arg-type]


def test_a_batch_reads_what_was_there_and_writes_the_last(store: StrandlineStore) -> None:
    store.put(("a",), "k", {"v": 1})
    done = store.batch(
        [
            PutOp(("a",), "k", {"v": 2}),
            GetOp(("a",), "k"),
            PutOp(("a",), "k", {"v": 3}),
            PutOp(("b",), "gone", {"v": 1}),
            PutOp(("b",), "gone", None),
            SearchOp(("a",)),
            ListNamespacesOp((MatchCondition("prefix", ("a",)),)),
        ]
    )
    assert [done[0], done[2], done[3], done[4]] == [None] * 4
    assert (done[1].value, done[5][0].value, done[6]) == ({"v": 1}, {"v": 1}, [("a",)])  # type: ignore[union-attr, index]
    found = store.get(("a",), "k")
    assert found is not None
    assert found.value == {"v": 3}
    assert store.get(("b",), "gone") is None


def test_asynchronously_the_same(store: StrandlineStore) -> None:
    async def through() -> Any:
        await store.aput(("a",), "k", {"v": 1}, ttl=5)
        found = await store.aget(("a",), "k")
        listed = await store.alist_namespaces()
        searched = await store.asearch(("a",), query="v 1")
        await store.adelete(("a",), "k")
        return found and found.value, listed, keys(searched), await store.aget(("a",), "k")

    assert asyncio.run(through()) == ({"v": 1}, [("a",)], ["k"], None)


def test_a_page_that_somebody_spoilt_hides_no_other(
    store: StrandlineStore, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    store.put(("a",), "good", {"v": 1})
    client.put_memory("langgraph/a/bad.md", "# bad\n\nby hand")
    with caplog.at_level(logging.WARNING):
        assert keys(store.search(("a",), filter={"v": 1})) == ["good"]
    assert "langgraph/a/bad.md is no item" in caplog.text
    with pytest.raises(ValueError, match="no block of JSON"):
        store.get(("a",), "bad")


def test_what_is_found_here_is_found_there(store: StrandlineStore, client: Client) -> None:
    store.put(("notes",), "boat", {"text": "The sailing boat is green."})
    (hit,) = client.find("sailing boat", limit=1)["memories"]
    assert hit["uri"].endswith("/memories/langgraph/notes/boat.md")


def test_a_store_of_another_user_has_nothing_of_it(store: StrandlineStore, client: Client) -> None:
    store.put(("a",), "k", {"v": 1})
    other = StrandlineStore(client.acting_for(f"{client.user}-other"))
    assert (other.get(("a",), "k"), other.search(()), other.list_namespaces()) == (None, [], [])


def test_a_refused_write_is_an_error(store: StrandlineStore) -> None:
    with pytest.raises(ApiError, match="PAYLOAD_TOO_LARGE"):
        store.put(("a",), "k", {"v": "x" * 1_100_000})


# ---- in a graph


class Talk(TypedDict):
    said: Annotated[list[str], operator.add]


def listens(state: Talk, *, store: BaseStore) -> Any:
    store.put(("users", "ana"), f"fact-{len(state['said'])}", {"text": state["said"][-1]})
    return {}


async def answers(state: Talk, *, store: BaseStore) -> Any:
    found = await store.asearch(("users", "ana"), query="where is the boat")
    return {"said": [f"You said: {found[0].value['text']}" if found else "I do not know."]}


def test_a_compiled_graph_remembers_over_its_runs(client: Client) -> None:
    def graph() -> Any:
        builder = StateGraph(Talk)
        builder.add_node("listen", listens)
        builder.add_node("answer", answers)
        builder.add_edge(START, "listen")
        builder.add_edge("listen", "answer")
        builder.add_edge("answer", END)
        return builder.compile(store=StrandlineStore(client))

    asyncio.run(graph().ainvoke({"said": ["The boat lies in Bergen."]}))
    state = asyncio.run(graph().ainvoke({"said": ["a", "What do I know?"]}))
    assert state["said"][-1] == "You said: The boat lies in Bergen."
