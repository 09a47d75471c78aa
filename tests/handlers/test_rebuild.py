"""Rebuilds over HTTP: begun, gone on with, compared, promoted; and what an extraction would bring."""

from typing import Any

import pytest

from tests.handlers.service import Client, Service


def ready(service: Service, client: Client, rebuild_id: str) -> Any:
    for _ in range(20):
        at = client.post(f"/rebuilds/{rebuild_id}/continue").result
        if at["status"] == "ready":
            return at
        service.pump()
    raise AssertionError("never ready")


def test_a_rebuild(service: Service, alice: Client) -> None:  # B-C9
    alice.remember("a", "I love the cello.")
    alice.remember("b", "I love the oboe.")
    before = alice.get("/memories", view="full").result
    begun = alice.post("/rebuilds", {"again": True}).result
    name = begun["rebuild_id"]
    assert begun == {
        "rebuild_id": name,
        "status": "finding",
        "again": True,
        "session_id": None,
        "started_at": "2026-01-01T00:00:00.000Z",
        "promoted_at": None,
        "sessions": {"total": 2, "found": 0},
        "archives": {"total": 0, "merged": 0, "failed": 0},
    }
    assert alice.post(f"/rebuilds/{name}/promote", {}).refusal == (412, "FAILED_PRECONDITION")
    at = ready(service, alice, name)
    assert at == alice.get(f"/rebuilds/{name}").result
    assert at["archives"] == {"total": 2, "merged": 2, "failed": 0}
    for body in ({"dry_run": True}, {}):
        done = alice.post(f"/rebuilds/{name}/promote", body)
        assert (done.result["changed"], done.result["conflicts"]) == ([], [])
        assert done.json["next_cursor"] is None
    assert alice.get(f"/rebuilds/{name}").result["status"] == "promoted"
    assert alice.get("/memories", view="full").result == before


def test_a_lost_memory_is_made_again(service: Service, alice: Client) -> None:
    alice.remember("a", "I love the cello.")
    (row,) = alice.get("/memories").result
    (key,) = service.world.stored("alice/memories/")
    service.world.objects.delete(key)
    name = alice.post("/rebuilds").result["rebuild_id"]
    ready(service, alice, name)
    (changed,) = alice.post(f"/rebuilds/{name}/promote").result["changed"]
    assert (changed["path"], changed["change"], changed["sha256"]) == (row["path"], "added", row["sha256"])
    assert alice.memory(row["path"]).result["sha256"] == row["sha256"]
    (step,) = [r for r in alice.get(f"/memories/{row['path']}/history").result["versions"] if r["current"]]
    assert (step["by"], step["why"]) == ("rebuild", f"rebuild {name}")


def test_what_an_extraction_would_bring(service: Service, alice: Client) -> None:
    alice.remember("s", "I love the cello.")
    alice.append("s", "I love the oboe.")
    before = alice.get("/memories").result
    name = alice.post("/sessions/s/extract", {"dry_run": True}).result["rebuild_id"]
    ready(service, alice, name)
    done = alice.post(f"/rebuilds/{name}/promote", {"dry_run": True}).result
    assert alice.get("/memories").result == before
    (changed,) = done["changed"]
    added = [line for line in changed["diff"].split("\n") if line.startswith("+- ")]
    assert len(added) == 1 and "oboe" in added[0]
    assert alice.post(f"/rebuilds/{name}/promote", {}).refusal == (412, "FAILED_PRECONDITION")

    alice.commit("s")
    service.pump()
    assert alice.memory(changed["path"]).result["sha256"] == changed["sha256"]


@pytest.mark.parametrize("body", [None, {}, {"dry_run": False}])
def test_an_extraction_is_only_tried(alice: Client, body: Any) -> None:
    alice.append("s", "I love the cello.")
    assert alice.post("/sessions/s/extract", body).refusal == (400, "INVALID_ARGUMENT")


def test_what_is_not_there_or_not_ones_own(service: Service, alice: Client, bob: Client) -> None:
    name = alice.post("/rebuilds").result["rebuild_id"]
    for answer in (
        alice.get("/rebuilds/none"),
        alice.post("/rebuilds/none/continue"),
        alice.post("/rebuilds/none/promote"),
        bob.get(f"/rebuilds/{name}"),
        bob.post(f"/rebuilds/{name}/continue"),
        alice.post("/rebuilds", {"session_id": "none"}),
        alice.post("/sessions/none/extract", {"dry_run": True}),
    ):
        assert answer.refusal == (404, "NOT_FOUND")
    peer = alice.acting(x_strandline_actor_peer="Anna")
    assert peer.post("/rebuilds").refusal == (403, "PERMISSION_DENIED")


def test_a_user_without_anything(service: Service, alice: Client) -> None:
    name = alice.post("/rebuilds").result["rebuild_id"]
    assert ready(service, alice, name)["archives"]["total"] == 0
    assert alice.post(f"/rebuilds/{name}/promote").result["changed"] == []


def test_nothing_of_a_rebuild_is_left_of_an_erased_user(service: Service, alice: Client) -> None:
    alice.remember("a", "I love the cello.")
    ready(service, alice, alice.post("/rebuilds", {"again": True}).result["rebuild_id"])
    assert service.world.stored("/rebuilds/")
    service.client("root", "acme", "admin").delete("/users/alice")
    for _ in range(3):
        service.pump()
        service.sweep(901)
    assert service.world.stored("/alice/") == []


DISHES = "{mode: upsert, fields: [{name: content}], file: dishes.md, title: Dishes, instruction: x, keywords: [%s]}"


def declare(client: Client, keyword: str) -> None:
    assert client.put("/memory-types/dishes", {"content": DISHES % keyword}).status == 200


def test_extracted_again_it_follows_the_types_of_now(service: Service, alice: Client) -> None:
    declare(alice, "cook")
    alice.remember("a", "I cook pasta every Friday.", "I bake bread on Sundays.")
    assert "cooks" in alice.memory("dishes.md").result["content"]
    declare(alice, "bake")
    name = alice.post("/rebuilds", {"again": True}).result["rebuild_id"]
    ready(service, alice, name)
    alice.post(f"/rebuilds/{name}/promote")
    found = alice.memory("dishes.md").result["content"]
    assert "bakes" in found and "cooks" not in found


def test_a_dry_run_settles_nothing_of_the_extraction_to_come(service: Service, alice: Client) -> None:
    declare(alice, "cook")
    alice.append("a", "I bake bread on Sundays.")
    ready(service, alice, alice.post("/sessions/a/extract", {"dry_run": True}).result["rebuild_id"])
    declare(alice, "bake")
    alice.commit("a")
    service.pump()
    assert "bakes" in alice.memory("dishes.md").result["content"]


def test_what_a_rebuild_found_in_a_session_goes_with_it(service: Service, alice: Client) -> None:  # B-A15
    declare(alice, "cook")
    alice.remember("gone", "I love the cello.")
    alice.append("gone", "I love the oboe.")
    ready(service, alice, alice.post("/rebuilds", {"again": True}).result["rebuild_id"])
    ready(service, alice, alice.post("/sessions/gone/extract", {"dry_run": True}).result["rebuild_id"])
    assert [key for key in service.world.stored("/rebuilds/") if "gone" in key]
    alice.delete("/sessions/gone")
    service.pump()
    left = [key for key in service.world.stored("/alice/") if "gone" in key]
    assert left == [key for key in left if key.endswith("/gone/head.json")]  # its gravestone


def test_a_rebuild_is_among_the_tasks(service: Service, alice: Client, bob: Client) -> None:
    def shown() -> Any:
        (row,) = alice.get("/tasks", task_type="rebuild").result
        return row

    alice.remember("a", "I love the cello.")
    name = alice.post("/rebuilds").result["rebuild_id"]
    begun = shown()
    assert begun == {
        "task_id": begun["task_id"],
        "task_type": "rebuild",
        "resource_id": name,
        "status": "running",
        "stage": "finding",
        "created_at": "2026-01-01T00:00:00.000Z",
        "updated_at": "2026-01-01T00:00:00.000Z",
        "attempts": 0,
        "result": None,
        "error": None,
    }
    ready(service, alice, name)
    assert shown()["result"] == {
        "rebuild_id": name,
        "sessions": {"total": 1, "found": 1},
        "archives": {"total": 1, "merged": 1, "failed": 0},
    }
    alice.post(f"/rebuilds/{name}/promote")
    assert (shown()["status"], shown()["stage"]) == ("completed", "promoted")
    assert alice.get(f"/tasks/{begun['task_id']}").result == shown()
    for verb in ("cancel", "retry"):
        assert alice.post(f"/tasks/{begun['task_id']}/{verb}").refusal == (412, "FAILED_PRECONDITION")
    assert bob.get("/tasks").result == []
