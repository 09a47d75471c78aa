"""Going back over HTTP: a memory, a session, everything since a time."""

from typing import Any

import pytest

from strandline.pipeline import rollback
from tests.handlers.service import Client, Service

PATH = "/memories/preferences/music.md"


def content(client: Client) -> Any:
    answer = client.get(PATH)
    return answer.result["content"] if answer.status == 200 else None


def history(client: Client) -> list[tuple[int, str, str | None]]:
    rows = client.get(f"{PATH}/history").result["versions"]
    return [(row["version"], row["by"], row["why"]) for row in rows]


def test_a_memory(alice: Client) -> None:  # B-C14
    for text in ("one\n", "two\n", "three\n"):
        alice.put(PATH, {"content": text})

    dry = alice.post(f"{PATH}/rollback", {"version": 1, "dry_run": True}).result
    assert content(alice) == "three\n"
    wet = alice.post(f"{PATH}/rollback", {"version": 1}).result

    assert content(alice) == "one\n"
    assert dry == {**wet, "dry_run": True}
    assert wet == {
        "path": "preferences/music.md",
        "uri": "viking://user/alice/memories/preferences/music.md",
        "change": "updated",
        "version": 4,
        "sha256": alice.get(PATH).result["sha256"],
        "diff": "--- before\n+++ after\n@@ -1 +1 @@\n-three\n+one",
        "to_version": 1,
        "dry_run": False,
    }
    assert history(alice) == [
        (4, "rollback", "version 1"),
        (3, "owner", None),
        (2, "owner", None),
        (1, "owner", None),
    ]
    again = alice.post(f"{PATH}/rollback", {"version": 1}).result
    assert (again["change"], again["diff"]) == (None, "")
    assert len(history(alice)) == 4


def test_a_deleted_memory_comes_back(alice: Client) -> None:
    alice.put(PATH, {"content": "one\n"})
    alice.delete(PATH)
    assert alice.post(f"{PATH}/rollback", {"version": 1}).result["change"] == "added"
    assert content(alice) == "one\n"
    assert alice.find("one")
    assert alice.post(f"{PATH}/rollback", {"version": 2}).result["change"] == "deleted"
    assert content(alice) is None


def test_a_memory_on_condition(alice: Client) -> None:
    stale = alice.put(PATH, {"content": "one\n"}).headers["etag"]
    current = alice.put(PATH, {"content": "two\n"}).headers["etag"]
    refused = alice.acting(if_match=stale).post(f"{PATH}/rollback", {"version": 1})
    assert refused.refusal == (412, "FAILED_PRECONDITION")
    assert refused.error["details"] == {"sha256": current.strip('"')}
    assert alice.acting(if_match=current).post(f"{PATH}/rollback", {"version": 1}).status == 200


@pytest.mark.parametrize("body", [{}, {"version": 0}, {"version": "x"}, {"version": 1, "dry_run": "maybe"}])
def test_what_is_no_version(alice: Client, body: Any) -> None:
    alice.put(PATH, {"content": "one\n"})
    assert alice.post(f"{PATH}/rollback", body).refusal == (400, "INVALID_ARGUMENT")


def test_what_is_not_there(alice: Client, bob: Client) -> None:
    assert alice.post(f"{PATH}/rollback", {"version": 1}).refusal == (404, "NOT_FOUND")
    alice.put(PATH, {"content": "one\n"})
    assert alice.post(f"{PATH}/rollback", {"version": 7}).refusal == (404, "NOT_FOUND")
    assert bob.post(f"{PATH}/rollback", {"version": 1}).refusal == (404, "NOT_FOUND")
    assert alice.post("/sessions/none/rollback", {}).refusal == (404, "NOT_FOUND")


def test_a_session(service: Service, alice: Client) -> None:  # B-C14
    alice.remember("good", "I love the cello.")
    path = alice.get("/memories").result[0]["path"]
    before = alice.memory(path).result["content"]
    alice.remember("bad", "I love the drums.", "I hate the cello.")
    after = {row["path"]: row["sha256"] for row in alice.get("/memories").result}

    dry = alice.post("/sessions/bad/rollback", {"dry_run": True})
    assert {row["path"]: row["sha256"] for row in alice.get("/memories").result} == after
    wet = alice.post("/sessions/bad/rollback", {})

    assert wet.json["next_cursor"] is None
    assert dry.result == {**wet.result, "dry_run": True}
    assert wet.result["archives"] == ["archive_001"]
    assert wet.result["conflicts"] == []
    assert path in [row["path"] for row in wet.result["changed"]]
    assert alice.memory(path).result["content"] == before
    assert not [hit for hit in alice.find("drums hate") if "bad" in str(hit["sources"])]
    (last, *_) = alice.get(f"/memories/{path}/history").result["versions"]
    assert (last["by"], last["why"]) == ("rollback", "session bad")
    assert alice.post("/sessions/bad/rollback").result["changed"] == []
    (event,) = [e for e in alice.get("/journal").result if e.get("reason") == "rollback"]
    assert event["updated"] or event["deleted"]


def test_conflicts_of_a_session(alice: Client) -> None:  # B-C14
    alice.remember("s", "I love the cello.")
    path = alice.get("/memories").result[0]["path"]
    text = alice.memory(path).result["content"]
    edited = text.replace("cello. <", "old cello. <")
    assert edited != text
    alice.put(f"/memories/{path}", {"content": edited})
    done = alice.post("/sessions/s/rollback", {}).result
    assert done["changed"] == []
    (left,) = done["conflicts"]
    assert (left["path"], left["reason"]) == (path, "edited")
    assert "old cello" in left["text"]
    assert alice.memory(path).result["content"] == edited


def test_everything_since(service: Service, alice: Client) -> None:  # B-C14
    alice.put(PATH, {"content": "one\n"})
    then = alice.get("/memories").json["time"]
    service.world.clock.advance(0.001)
    alice.put(PATH, {"content": "two\n"})
    alice.put("/memories/notes/new.md", {"content": "new\n"})
    service.world.clock.advance(5)
    dry = alice.post("/memories/rollback", {"since": then, "dry_run": True}).result
    assert content(alice) == "two\n"
    wet = alice.post("/memories/rollback", {"since": then}).result
    assert dry == {**wet, "dry_run": True}
    assert [(row["path"], row["change"]) for row in wet["changed"]] == [
        ("notes/new.md", "deleted"),
        ("preferences/music.md", "updated"),
    ]
    assert [row["path"] for row in alice.get("/memories").result] == ["preferences/music.md"]
    assert content(alice) == "one\n"


@pytest.mark.parametrize("since", [None, "", "yesterday", 5, "2027-01-01T00:00:00Z"])
def test_since_what_is_no_time_that_has_been(alice: Client, since: Any) -> None:
    assert alice.post("/memories/rollback", {"since": since}).refusal == (400, "INVALID_ARGUMENT")
    assert alice.post("/memories/rollback", {}).refusal == (400, "INVALID_ARGUMENT")


def test_pages(service: Service, alice: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    then = alice.get("/memories").json["time"]
    service.world.clock.advance(5)
    for n in range(5):
        alice.put(f"/memories/notes/n{n}.md", {"content": "x\n"})
    monkeypatch.setattr(rollback, "MEMORIES_AT_ONCE", 2)
    found: list[str] = []
    body: dict[str, Any] = {"since": then}
    while True:
        answer = alice.post("/memories/rollback", body)
        found += [row["path"] for row in answer.result["changed"]]
        if answer.json["next_cursor"] is None:
            break
        body["cursor"] = answer.json["next_cursor"]
    assert found == [f"notes/n{n}.md" for n in range(5)]
    assert alice.post("/memories/rollback", {**body, "dry_run": True}).refusal == (400, "INVALID_ARGUMENT")


def test_a_peer_rolls_back_what_it_sees(alice: Client) -> None:
    alice.put("/memories/peers/Anna/profile.md", {"content": "one\n"})
    alice.append("s", "hi")
    anna, bert = (alice.acting(x_strandline_actor_peer=name) for name in ("Anna", "Bert"))
    one = "/memories/peers/Anna/profile.md/rollback"
    assert anna.post(one, {"version": 1}).status == 200
    assert bert.post(one, {"version": 1}).refusal == (404, "NOT_FOUND")
    for path, body in (
        ("/sessions/s/rollback", {}),
        ("/memories/rollback", {"since": "2025-01-01T00:00:00Z"}),
    ):
        assert anna.post(path, body).refusal == (403, "PERMISSION_DENIED")


def test_a_misspelt_dry_run_does_nothing(alice: Client) -> None:
    alice.remember("a", "I love the cello.")
    alice.put(PATH, {"content": "one\n"})
    alice.put(PATH, {"content": "two\n"})
    wrong: dict[str, dict[str, Any]] = {
        f"{PATH}/rollback": {"version": 1},
        "/memories/rollback": {"since": "2026-01-01T00:00:00Z"},
        "/sessions/a/rollback": {},
        "/rebuilds": {},
        "/sessions/a/extract": {"dry_run": True},
    }
    for path, body in wrong.items():
        answer = alice.post(path, {**body, "dryrun": True})
        assert answer.refusal == (400, "INVALID_ARGUMENT"), path
        assert [each["field"] for each in answer.error["details"]["validation_errors"]] == ["dryrun"]
    assert content(alice) == "two\n"
    assert alice.find("cello")


def test_telemetry_is_no_unknown_field(alice: Client) -> None:
    alice.remember("a", "I love the cello.")
    told = alice.post("/sessions/a/rollback", {"dry_run": True, "telemetry": True})
    assert told.status == 200
    assert told.json["telemetry"]["requests"]["s3_put"] == 0
