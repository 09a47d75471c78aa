"""What memories were: versions with who brought them, and lists, reads and searches as of an earlier time."""

from typing import Any

import pytest

from strandline.storage.layout import User
from tests.handlers.service import Client, Service

PATH = "/memories/preferences/music.md"
ALICE = User("acme", "alice")


def one_path(client: Client) -> str:
    (row,) = client.get("/memories").result
    return str(row["path"])


def history(client: Client, path: str = "preferences/music.md", **query: Any) -> Any:
    return client.get(f"/memories/{path}/history", **query).result


def test_each_version_says_when_by_whom_and_from_where(service: Service, alice: Client) -> None:  # B-C14
    service.world.clock.advance(0.123)
    alice.append("s", "Good morning!", created_at="2023-05-08T13:55:00Z")
    alice.append("s", "I love the cello.", created_at="2023-05-08T13:56:00Z")
    alice.commit("s")
    service.pump()
    path = one_path(alice)
    service.world.clock.advance(3600)
    written = alice.put(f"/memories/{path}", {"content": "# Music\n\nonly mine\n"}).result
    service.world.clock.advance(3600)
    alice.delete(f"/memories/{path}")

    found = history(alice, path)

    assert (found["path"], found["uri"]) == (path, f"viking://user/alice/memories/{path}")
    assert found["not_kept"] is None
    deleted, updated, created = found["versions"]
    assert created == {
        "version": 1,
        "at": "2026-01-01T00:00:00.123Z",
        "by": "merge",
        "why": None,
        "change": "created",
        "current": False,
        "title": created["title"],
        "sha256": created["sha256"],
        "lines": {"added": 1, "removed": 0, "ended": 0, "own_text": True},
        "sources": [{"session": "s", "archive": 1, "at": "2023-05-08T13:56:00.000Z", "seq": "2"}],
    }
    assert updated == {
        "version": 2,
        "at": "2026-01-01T01:00:00.123Z",
        "by": "owner",
        "why": None,
        "change": "updated",
        "current": False,
        "title": created["title"],
        "sha256": written["sha256"],
        "lines": {"added": 0, "removed": 1, "ended": 0, "own_text": True},
        "sources": [],
    }
    assert deleted == {
        "version": 3,
        "at": "2026-01-01T02:00:00.123Z",
        "by": "owner",
        "why": None,
        "change": "deleted",
        "current": True,
        "title": None,
        "sha256": None,
        "lines": {"added": 0, "removed": 0, "ended": 0, "own_text": True},
        "sources": [],
    }


def test_several_sessions_in_one_version(service: Service, alice: Client) -> None:  # B-C14
    for session in ("a", "b"):
        alice.append(session, "I love the cello.", created_at="2023-05-08T13:56:00Z")
        alice.commit(session)
        service.deliver("ExtractQueue", service.world.extract_queue)
    service.pump()
    (only,) = history(alice, one_path(alice))["versions"]
    assert (only["version"], only["lines"]["added"]) == (2, 2)
    assert [source["session"] for source in only["sources"]] == ["a", "b"]


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 100])
def test_a_history_in_pages(alice: Client, limit: int) -> None:
    for n in range(5):
        alice.put(PATH, {"content": f"{n}\n"})
    found: list[Any] = []
    cursor: dict[str, str] = {}
    while True:
        answer = alice.get(f"{PATH}/history", limit=limit, **cursor)
        found += answer.result["versions"]
        if answer.json["next_cursor"] is None:
            break
        cursor = {"cursor": answer.json["next_cursor"]}
    assert [row["version"] for row in found] == [5, 4, 3, 2, 1]
    assert [row["current"] for row in found] == [True, False, False, False, False]
    assert [row["change"] for row in found] == ["updated"] * 4 + ["created"]
    assert all(row["lines"] is not None for row in found)


def test_what_is_not_kept_any_more(service: Service, alice: Client) -> None:  # B-C14
    for n in range(4):
        alice.put(PATH, {"content": f"{n}\n"})
    objects = service.world.objects
    objects.erase(objects.versions_below(ALICE.memory("preferences/music.md")).versions[2:])
    found = history(alice)
    assert found["not_kept"] == 2
    assert [(row["version"], row["lines"] is None) for row in found["versions"]] == [(4, False), (3, True)]
    assert history(alice, limit=1)["not_kept"] is None


def test_a_memory_that_is_deleted_and_begun_anew(alice: Client) -> None:
    alice.put(PATH, {"content": "one\n"})
    alice.delete(PATH)
    alice.put(PATH, {"content": "two\n"})
    assert [(row["version"], row["change"]) for row in history(alice)["versions"]] == [
        (3, "created"),
        (2, "deleted"),
        (1, "created"),
    ]


def test_a_delete_marker_of_the_bucket_s_own(service: Service, alice: Client) -> None:
    alice.put(PATH, {"content": "one\n"})
    service.world.objects.delete(ALICE.memory("preferences/music.md"))
    marker, _ = history(alice)["versions"]
    assert (marker["version"], marker["by"], marker["change"]) == (None, None, "deleted")


def test_of_what_has_never_been_there_is_no_history(alice: Client, bob: Client) -> None:
    assert alice.get(f"{PATH}/history").refusal == (404, "NOT_FOUND")
    alice.put(PATH, {"content": "one\n"})
    assert bob.get(f"{PATH}/history").refusal == (404, "NOT_FOUND")
    assert alice.get("/memories/preferences/music/history").refusal == (400, "INVALID_ARGUMENT")
    assert alice.get(f"{PATH}/history", cursor="nonsense").refusal == (400, "INVALID_ARGUMENT")
    assert alice.get(f"{PATH}/history", limit=0).refusal == (400, "INVALID_ARGUMENT")


def test_another_peer_s_history_is_out_of_view(alice: Client) -> None:
    alice.put("/memories/peers/Anna/profile.md", {"content": "one\n"})
    acting = alice.acting(x_strandline_actor_peer="Bert")
    assert acting.get("/memories/peers/Anna/profile.md/history").refusal == (404, "NOT_FOUND")
    acting = alice.acting(x_strandline_actor_peer="Anna")
    assert acting.get("/memories/peers/Anna/profile.md/history").status == 200


# ---- as_of


def timeline(service: Service, client: Client) -> list[str]:
    """Three states of one memory, a millisecond apart: first, second, gone. Answers their times."""
    times = []
    for content in ("about the cello\n", "about the oboe\n", None):
        service.world.clock.advance(0.001)
        if content is None:
            client.delete(PATH)
        else:
            client.put(PATH, {"content": content})
        times.append(str(client.get("/memories").json["time"]))
    service.world.clock.advance(60)
    return times


def test_list_read_and_search_as_of(service: Service, alice: Client) -> None:  # B-C14
    first, second, gone = timeline(service, alice)
    for at, word, other in ((first, "cello", "oboe"), (second, "oboe", "cello")):
        listed = alice.get("/memories", as_of=at)
        assert [row["path"] for row in listed.result] == ["preferences/music.md"]
        assert listed.json["not_kept"] == 0
        (whole,) = alice.get("/memories", as_of=at, view="full").result
        read = alice.get(PATH, as_of=at)
        assert read.result["content"] == whole["content"] == f"about the {word}\n"
        assert read.headers["etag"] == f'"{read.result["sha256"]}"' == f'"{listed.result[0]["sha256"]}"'
        answer = alice.post("/search/find", {"query": word, "as_of": at, "read_content": True}).result
        assert [hit["content"] for hit in answer["memories"]] == [f"about the {word}\n"]
        assert answer["not_kept"] == 0
        assert alice.find(other, as_of=at) == []
    assert alice.get("/memories", as_of=gone).result == []
    assert alice.get(PATH, as_of=gone).refusal == (404, "NOT_FOUND")
    assert alice.find("cello oboe", as_of=gone) == []
    assert alice.get("/memories", as_of="2025-12-31T23:59:59.999Z").result == []


def test_the_tree_as_of(service: Service, alice: Client) -> None:  # B-C14
    first, second, gone = timeline(service, alice)
    uri = "viking://user/alice/memories/preferences/music.md"
    for at, word in ((first, "cello"), (second, "oboe")):
        assert alice.get("/content/read", uri=uri, as_of=at).result.endswith(f"\n\nabout the {word}\n")
        assert alice.get("/content/abstract", uri=uri, as_of=at).result == f"about the {word}"
        assert alice.get("/content/overview", uri=uri, as_of=at).result.startswith(f"about the {word}")
        assert alice.get("/content/download", uri=uri, as_of=at).text.endswith(f"about the {word}\n")
        assert alice.get("/fs/stat", uri=uri, as_of=at).result["isDir"] is False
        (entry,) = alice.get("/fs/ls", uri="viking://~/memories", as_of=at).result
        assert entry["name"] == "preferences"
        assert len(alice.get("/fs/tree", uri="viking://~/memories", as_of=at).result) == 2
    assert alice.get("/content/read", uri=uri, as_of=gone).refusal == (404, "NOT_FOUND")
    assert alice.get("/fs/ls", uri="viking://~/memories", as_of=gone).result == []
    alice.append("s", "hi")
    for where in ("viking://session/s", "viking://~/sessions"):
        assert alice.get("/fs/ls", uri=where, as_of=gone).refusal == (400, "INVALID_ARGUMENT")


@pytest.mark.parametrize("at", ["2027-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z"])
def test_a_time_to_come_is_the_present(alice: Client, at: str) -> None:  # B-C14
    alice.put(PATH, {"content": "about the cello\n"})
    assert alice.get(PATH, as_of=at).result == alice.get(PATH).result
    assert alice.get("/memories", as_of=at).result == alice.get("/memories").result
    assert alice.find("cello", as_of=at) == alice.find("cello")


@pytest.mark.parametrize("at", ["", "yesterday", "2026-13-01T00:00:00Z", "7d", "0", "1e400"])
def test_what_is_no_time(alice: Client, at: str) -> None:  # B-C14
    alice.put(PATH, {"content": "about the cello\n"})
    uri = "viking://user/alice/memories/preferences/music.md"
    for answer in (
        alice.get(PATH, as_of=at),
        alice.get("/memories", as_of=at),
        alice.get("/content/read", uri=uri, as_of=at),
        alice.get("/fs/stat", uri=uri, as_of=at),
        alice.post("/search/find", {"query": "cello", "as_of": at}),
    ):
        assert answer.refusal == (400, "INVALID_ARGUMENT")
        assert answer.error["details"]["validation_errors"][0]["field"] == "as_of"


def test_any_offset(service: Service, alice: Client) -> None:
    alice.put(PATH, {"content": "one\n"})
    service.world.clock.advance(3600)
    alice.put(PATH, {"content": "two\n"})
    service.world.clock.advance(60)
    assert alice.get(PATH, as_of="2026-01-01T02:30:00+02:00").result["content"] == "one\n"
    assert alice.get(PATH, as_of="2025-12-31T20:30:00-05:00").result["content"] == "two\n"


def test_messages_as_of(service: Service, alice: Client) -> None:
    asked = {"query": "cello", "context_type": "message", "as_of": "2025-01-01T00:00:00Z"}
    assert alice.post("/search/find", asked).refusal == (400, "INVALID_ARGUMENT")


def test_a_version_by_its_number(alice: Client) -> None:
    alice.put(PATH, {"content": "one\n"})
    alice.put(PATH, {"content": "two\n"})
    assert alice.get(PATH, version=1).result["content"] == "one\n"
    assert alice.get(PATH, version=2).result["content"] == "two\n"
    assert alice.get(PATH, version=3).refusal == (404, "NOT_FOUND")
    assert alice.get(PATH, version=0).refusal == (400, "INVALID_ARGUMENT")
    assert alice.get(PATH, version=1, as_of="2026-01-01T00:00:00Z").refusal == (400, "INVALID_ARGUMENT")
