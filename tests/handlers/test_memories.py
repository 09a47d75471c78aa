"""Memories: markdown that says where it comes from, written by the service and by its owner, found at once."""

import json
from typing import Any

import pytest
import yaml

from tests.handlers.service import Client, Service


def one_memory(client: Client) -> Any:
    (row,) = client.get("/memories").result
    return client.memory(row["path"]).result


def test_a_memory_is_markdown_with_its_sources(service: Service, alice: Client) -> None:  # B-C1
    alice.append("s", "Good morning!", created_at="2023-05-08T13:55:00Z")
    alice.append("s", "I love the cello.", created_at="2023-05-08T13:56:00Z")
    alice.commit("s")
    service.pump()

    memory = one_memory(alice)
    (key,) = service.world.stored("/memories/")
    text = service.world.body(key).decode()
    front, body = text.removeprefix("---\n").split("\n---\n\n", 1)

    assert body == memory["content"]
    assert body.startswith("# ")
    assert "cello" in body
    meta = yaml.safe_load(front)
    assert meta["type"] == "preferences"
    assert meta["title"] == memory["title"]
    assert meta["version"] == memory["version"] == 1
    assert meta["sources"] == [{"session": "s", "archive": 1, "at": "2023-05-08T13:56:00.000Z", "seq": "2"}]
    assert memory["sources"] == meta["sources"]
    assert (meta["created_at"], meta["updated_at"]) == ("2023-05-08T13:56:00.000Z",) * 2


def test_sources_of_several_sessions_and_spans(service: Service, alice: Client) -> None:  # B-C1
    for session in ("a", "b"):
        alice.remember(session, "I love the cello.", "I love the oboe.")
    sources = [
        source
        for row in alice.get("/memories").result
        for source in alice.memory(row["path"]).result["sources"]
    ]
    assert {source["session"] for source in sources} == {"a", "b"}
    assert all(source["archive"] == 1 and source["seq"] in ("1", "2", "1-2") for source in sources)


@pytest.mark.parametrize(
    ("said", "at", "day"),
    [
        ("I went to the doctor yesterday.", "2023-05-08T13:56:00Z", "7 May 2023"),
        ("I went to the doctor yesterday.", "2020-03-01T10:00:00Z", "29 February 2020"),
        ("I went to the doctor yesterday.", "2025-01-01T00:30:00Z", "31 December 2024"),
        ("I am going to the doctor tomorrow.", "2023-12-31T09:00:00Z", "1 January 2024"),
        ("I went to the doctor two days ago.", "2023-05-08T13:56:00Z", "6 May 2023"),
    ],
)
def test_a_relative_date_counts_from_the_message(
    service: Service, alice: Client, said: str, at: str, day: str
) -> None:
    # B-C2: the clock says 2026
    alice.append("s", said, created_at=at)
    alice.commit("s")
    service.pump()
    bodies = [alice.memory(row["path"]).result["content"] for row in alice.get("/memories").result]
    assert any(day in body for body in bodies), bodies
    assert not any("2026" in body for body in bodies)


def test_the_same_words_on_different_days(service: Service, alice: Client) -> None:  # B-C2
    for n, at in enumerate(["2023-05-08T10:00:00Z", "2023-06-08T10:00:00Z"]):
        alice.append("s", "I went to the doctor yesterday.", created_at=at, id=f"m{n}")
    alice.commit("s")
    service.pump()
    bodies = "".join(alice.memory(row["path"]).result["content"] for row in alice.get("/memories").result)
    assert "7 May 2023" in bodies and "7 June 2023" in bodies


def test_what_changes_nothing_makes_no_version(service: Service, alice: Client) -> None:  # B-C7
    alice.remember("s", "I love the cello.")
    memory = one_memory(alice)
    (key,) = service.world.stored("/memories/")

    again = alice.put(f"/memories/{memory['path']}", {"content": memory["content"]}).result
    service.world.merge_queue.send(service.world.merge_queue.sent[0])
    service.pump()

    assert again["version"] == one_memory(alice)["version"] == 1
    assert service.world.writes(key) == 1


def test_a_commit_without_news_updates_nothing(service: Service, alice: Client) -> None:  # B-C7 B-C11
    alice.remember("s", "I love the cello.")
    (key,) = service.world.stored("/memories/")
    alice.remember("s", "Hm.")

    assert service.world.writes(key) == 1
    diff = json.loads(service.world.body(service.world.stored("memory_diff.json")[1]))
    assert diff["operations"] == {"adds": [], "updates": [], "deletes": []}
    assert diff["summary"] == {
        "total_adds": 0,
        "total_updates": 0,
        "total_deletes": 0,
        "by_type": {"total": 0},
    }


def test_a_diff_of_adds_and_updates(service: Service, alice: Client) -> None:  # B-C11
    alice.remember("s", "I love the cello.")
    before = one_memory(alice)
    alice.remember("s", "I love the cello in the evening.")

    first, second = (json.loads(service.world.body(key)) for key in service.world.stored("memory_diff.json"))
    assert [op["after"] for op in first["operations"]["adds"]] == [before["content"]]
    (updated,) = second["operations"]["updates"]
    assert updated["uri"] == before["uri"]
    assert (updated["before"], updated["after"]) == (before["content"], one_memory(alice)["content"])


# ---- the owner's own writes

PATH = "/memories/preferences/music.md"


def test_write_read_delete(alice: Client) -> None:
    written = alice.put(PATH, {"content": "# Music\n\nthe cello\n"})
    memory = written.result
    assert (memory["path"], memory["type"], memory["title"]) == (
        "preferences/music.md",
        "preferences",
        "Music",
    )
    assert memory["uri"] == "viking://user/alice/memories/preferences/music.md"
    assert written.headers["etag"] == f'"{memory["sha256"]}"'
    read = alice.get(PATH)
    assert read.result == memory
    assert read.headers["etag"] == written.headers["etag"]
    whole = alice.get("/content/read", uri=memory["uri"]).result
    assert whole.startswith("---\nid: ") and whole.endswith("\n---\n\n# Music\n\nthe cello\n")
    assert alice.delete(PATH).result["sha256"] == memory["sha256"]
    assert alice.get(PATH).refusal == (404, "NOT_FOUND")
    assert alice.delete(PATH).refusal == (404, "NOT_FOUND")
    assert alice.get("/memories").result == []


def test_the_hash_is_that_of_the_content(alice: Client) -> None:
    import hashlib

    memory = alice.put(PATH, {"content": "é\n"}).result
    assert memory["sha256"] == hashlib.sha256("é\n".encode()).hexdigest()


def test_a_stale_if_match_is_refused_with_the_current_hash(alice: Client) -> None:  # B-C10
    stale = alice.put(PATH, {"content": "one"}).headers["etag"]
    current = alice.put(PATH, {"content": "two"}).result["sha256"]
    for answer in (
        alice.acting(if_match=stale).put(PATH, {"content": "three"}),
        alice.acting(if_match=stale).delete(PATH),
        alice.acting(if_none_match="*").put(PATH, {"content": "three"}),
    ):
        assert answer.refusal == (412, "FAILED_PRECONDITION")
        assert answer.error["details"] == {"sha256": current}
    assert alice.get(PATH).result["content"] == "two"
    assert alice.acting(if_match=f'"{current}"').put(PATH, {"content": "three"}).status == 200


def test_conditions_on_what_is_not_there(alice: Client) -> None:  # B-C10
    assert alice.acting(if_match='"x"').put(PATH, {"content": "one"}).refusal == (412, "FAILED_PRECONDITION")
    assert alice.get(PATH).status == 404
    assert alice.acting(if_none_match="*").put(PATH, {"content": "one"}).status == 200


def test_a_merge_keeps_what_the_owner_wrote(alice: Client) -> None:  # B-C10
    alice.remember("s", "I love the cello.")
    memory = one_memory(alice)
    alice.put(f"/memories/{memory['path']}", {"content": memory["content"] + "\nonly I say this\n"})
    alice.remember("t", "I love the cello in the evening.")
    content = one_memory(alice)["content"]
    assert "only I say this" in content and "evening" in content
    assert content.count("<!--") == 2


@pytest.mark.parametrize(
    "name", ["日本語.md", "a b.md", "100%.md", "a+b.md", "%41.md", "ä/ö/ü.md", "a?b.md", "a#b.md"]
)
def test_a_memory_of_any_name(alice: Client, name: str) -> None:
    from urllib.parse import quote

    target = f"/memories/{quote(name)}"
    assert alice.put(target, {"content": "text"}).result["path"] == name
    assert alice.get(target).result["content"] == "text"
    assert [row["path"] for row in alice.get("/memories").result] == [name]
    assert alice.delete(target).status == 200


@pytest.mark.parametrize("body", [{}, {"content": None}, {"content": 7}, [], "x", None])
def test_a_write_of_nothing(alice: Client, body: Any) -> None:
    assert alice.put(PATH, body).refusal == (400, "INVALID_ARGUMENT")
    assert alice.get(PATH).status == 404


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        pytest.param("PUT", PATH, {"content": "\ud800"}, id="memory"),
        pytest.param("POST", "/search/find", {"query": "\ud800"}, id="query"),
        pytest.param("POST", "/search/find", {"query": "x", "filter": {"peer": "\ud800"}}, id="filter"),
        pytest.param("POST", "/search/find", {"query": "x", "session_id": "\ud800"}, id="session"),
        pytest.param("POST", "/search/find", {"query": "x", "target_uri": "\ud800"}, id="target"),
        pytest.param("POST", "/sessions", {"metadata": {"a": "\ud800"}}, id="metadata"),
        pytest.param("POST", "/sessions", {"session_id": "\ud800"}, id="new session"),
        pytest.param("POST", "/sessions", {"auto_commit_policy": {"\ud800": 1}}, id="policy"),
        pytest.param("POST", "/sessions", {"memory_policy": {"memory_types": ["\ud800"]}}, id="types"),
    ],
)
def test_a_lone_surrogate_anywhere_is_never_an_error_of_ours(
    alice: Client, method: str, path: str, body: Any
) -> None:  # B-A6
    answer = alice.send(method, path, json.dumps(body).encode())
    assert answer.status == 400 or (answer.status == 200 and "filter" in body)
    assert alice.get(PATH).status == 404


@pytest.mark.parametrize("limit", [1, 2, 3, 10])
def test_a_list_in_pages(alice: Client, limit: int) -> None:
    for n in range(5):
        alice.put(f"/memories/preferences/m{n}.md", {"content": f"text {n}"})
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        answer = alice.get("/memories", limit=limit, **cursor)
        found += [row["path"] for row in answer.result]
        if answer.json["next_cursor"] is None:
            break
        cursor = {"cursor": answer.json["next_cursor"]}
    assert found == [f"preferences/m{n}.md" for n in range(5)]


def test_a_list_by_type_and_prefix(alice: Client) -> None:
    for path in ("preferences/a.md", "entities/people/anna.md", "profile.md"):
        alice.put(f"/memories/{path}", {"content": "text"})
    assert [r["path"] for r in alice.get("/memories", type="profile").result] == ["profile.md"]
    assert [r["path"] for r in alice.get("/memories", prefix="entities/").result] == [
        "entities/people/anna.md"
    ]
    assert alice.get("/memories", type="cases").result == []
