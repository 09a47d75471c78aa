"""`GET /journal`: the change feed (API.md)."""

import pytest

from tests.handlers.service import Client, Service


def test_what_happened_in_order(alice: Client) -> None:
    task = alice.remember("s", "I love the cello.")
    alice.put("/memories/topics/boat.md", {"content": "# Boat\n"})
    alice.delete("/memories/topics/boat.md")
    alice.delete("/sessions/s")
    events = alice.get("/journal").result
    assert [event["type"] for event in events] == [
        "SessionCommitted",
        "MemoryChanged",
        "MemoryChanged",
        "MemoryChanged",
        "SessionDeleted",
    ]
    assert events[0]["task_id"] == events[1]["task_id"] == task
    assert events[3]["deleted"] == ["viking://user/alice/memories/topics/boat.md"]
    ids = [event["id"] for event in events]
    assert ids == sorted(set(ids))


def test_a_feed_is_followed_by_the_last_id(alice: Client) -> None:
    assert alice.get("/journal").result == []
    alice.remember("s", "I love the cello.")
    first, second = alice.get("/journal", limit=1).result, alice.get("/journal").result[1:]
    assert alice.get("/journal", after=first[0]["id"]).result == second
    assert alice.get("/journal", after=second[0]["id"]).result == []


def test_a_task_that_failed_is_told_of(service: Service, alice: Client) -> None:  # B-B15
    alice.append("s", "I love the cello.")
    task = alice.commit("s").result["task_id"]
    (key,) = [key for key in service.world.stored("/archives/") if "messages." in key]
    service.world.objects.delete(key)
    service.pump()
    (_, failed) = alice.get("/journal").result
    assert (failed["type"], failed["task_id"], failed["stage"]) == ("TaskFailed", task, "extract")
    assert alice.get(f"/tasks/{task}").result["status"] == "failed"


def test_another_user_has_another_journal(alice: Client, bob: Client) -> None:  # B-A14
    alice.remember("s", "I love the cello.")
    (event, *_) = alice.get("/journal").result
    assert bob.get("/journal").result == []
    assert bob.get("/journal", after=event["id"]).refusal == (400, "INVALID_ARGUMENT")


@pytest.mark.parametrize(
    "query", [{"after": "x"}, {"after": "y" * 65}, {"limit": 0}, {"limit": 201}, {"limit": "x"}]
)
def test_what_cannot_be_asked(alice: Client, query: dict[str, object]) -> None:
    assert alice.get("/journal", **query).refusal == (400, "INVALID_ARGUMENT")


def test_nobody_reads_a_journal(service: Service) -> None:
    assert service.nobody.get("/journal").refusal == (401, "UNAUTHENTICATED")
