"""Tasks as their owner sees them: listed, cancelled, tried again."""

from typing import Any

import pytest

from tests.handlers.service import Client, Service
from tests.handlers.test_commits import failing


def committed(client: Client, session: str) -> str:
    client.append(session, f"I like {session}")
    return str(client.commit(session).result["task_id"])


def listed(client: Client, **wanted: Any) -> list[str]:
    return [row["resource_id"] for row in client.get("/tasks", **wanted).result]


@pytest.fixture
def three(alice: Client, service: Service) -> Client:
    """Three commits, an hour apart: a completed one, a failed one, and one that nobody has begun with."""
    committed(alice, "tea")
    service.pump()
    service.world.clock.advance(3600)
    failing(service, 1, final=True)
    committed(alice, "rain")
    service.pump()
    service.world.clock.advance(3600)
    committed(alice, "wool")
    return alice


def test_tasks_are_listed_newest_first(three: Client) -> None:  # B-B18
    rows = three.get("/tasks").result
    assert [(row["resource_id"], row["status"], row["task_type"]) for row in rows] == [
        ("wool", "pending", "session_commit"),
        ("rain", "failed", "session_commit"),
        ("tea", "completed", "session_commit"),
    ]
    assert rows[0] == three.get(f"/tasks/{rows[0]['task_id']}").result


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"status": "failed"}, ["rain"]),
        ({"status": "cancelled"}, []),
        ({"task_type": "session_commit"}, ["wool", "rain", "tea"]),
        ({"task_type": "training"}, []),
        ({"resource_id": "tea"}, ["tea"]),
        ({"resource_id": "tea", "status": "failed"}, []),
    ],
)
def test_lists_are_filtered(three: Client, wanted: dict[str, str], found: list[str]) -> None:  # B-B18
    assert listed(three, **wanted) == found


@pytest.mark.parametrize(
    "wanted", [{"limit": 201}, {"limit": 0}, {"status": "lost"}, {"cursor": "forged"}, {"limit": "x"}]
)
def test_a_list_that_cannot_be_had(alice: Client, wanted: dict[str, Any]) -> None:  # B-B18
    assert alice.get("/tasks", **wanted).refusal == (400, "INVALID_ARGUMENT")


def test_a_list_is_cut_into_pages(three: Client) -> None:  # B-B18
    first = three.get("/tasks", limit=2).json
    assert [row["resource_id"] for row in first["result"]] == ["wool", "rain"]
    rest = three.get("/tasks", limit=2, cursor=first["next_cursor"]).json
    assert ([row["resource_id"] for row in rest["result"]], rest["next_cursor"]) == (["tea"], None)
    other = three.get("/tasks", limit=2, cursor=first["next_cursor"], status="failed")
    assert other.refusal == (400, "INVALID_ARGUMENT")


def test_a_filtered_list_is_cut_into_pages(three: Client, service: Service) -> None:  # B-B18
    service.world.clock.advance(3600)
    committed(three, "silk")
    first = three.get("/tasks", status="pending", limit=1).json
    assert [row["resource_id"] for row in first["result"]] == ["silk"]
    rest = three.get("/tasks", status="pending", limit=1, cursor=first["next_cursor"]).json
    assert ([row["resource_id"] for row in rest["result"]], rest["next_cursor"]) == (["wool"], None)


def test_a_long_list_is_looked_through_in_parts(alice: Client, service: Service) -> None:  # B-B18
    identity = committed(alice, "wool")
    row = service.world.rows("TASKS#")[0]
    service.world.clock.advance(3600)
    for n in range(1001):
        service.world.items.put({**row, "sk": f"3{n:04d}", "task_id": f"3{n:04d}", "resource_id": "silk"})

    first = alice.get("/tasks", resource_id="wool").json
    rest = alice.get("/tasks", resource_id="wool", cursor=first["next_cursor"]).json

    assert first["result"] == []
    assert ([row["task_id"] for row in rest["result"]], rest["next_cursor"]) == ([identity], None)


def test_others_tasks_are_not_seen(three: Client, bob: Client) -> None:  # B-B18 B-A14
    identity = three.get("/tasks").result[0]["task_id"]
    assert listed(bob) == []
    for refused in (
        bob.get(f"/tasks/{identity}"),
        bob.post(f"/tasks/{identity}/cancel", None),
        bob.post(f"/tasks/{identity}/retry", None),
    ):
        assert refused.refusal == (404, "NOT_FOUND")
    assert three.get(f"/tasks/{identity}").result["status"] == "pending"


def test_a_cancelled_commit_gives_no_memories_and_keeps_its_text(alice: Client, service: Service) -> None:
    # B-B18
    identity = committed(alice, "wool")

    cancelled = alice.post(f"/tasks/{identity}/cancel", None).result
    service.pump()

    assert (cancelled["status"], cancelled["error"]) == ("cancelled", "cancelled by its owner")
    assert alice.get(f"/tasks/{identity}").result == cancelled
    assert alice.get("/memories").result == []
    context = alice.get("/sessions/wool/context").result
    assert [message["content"] for message in context["messages"]] == ["I like wool"]
    assert alice.look("wool").result["archives"] == {"pending": 0, "completed": 0, "failed": 1}


def test_a_cancelled_commit_can_be_tried_again(alice: Client, service: Service) -> None:  # B-B18
    identity = committed(alice, "wool")
    alice.post(f"/tasks/{identity}/cancel", None)
    service.pump()

    assert alice.post(f"/tasks/{identity}/retry", None).result["status"] == "pending"
    service.pump()

    assert alice.get(f"/tasks/{identity}").result["status"] == "completed"
    assert alice.get("/memories").result != []


@pytest.mark.parametrize("ended", ["tea", "rain"])
def test_what_has_ended_cannot_be_cancelled(three: Client, ended: str) -> None:  # B-B18
    before = three.get("/tasks", resource_id=ended).result
    answer = three.post(f"/tasks/{before[0]['task_id']}/cancel", None)
    assert answer.refusal == (412, "FAILED_PRECONDITION")
    assert three.get("/tasks", resource_id=ended).result == before


def test_cancelling_twice_is_refused(alice: Client) -> None:  # B-B18
    identity = committed(alice, "wool")
    alice.post(f"/tasks/{identity}/cancel", None)
    assert alice.post(f"/tasks/{identity}/cancel", None).refusal == (412, "FAILED_PRECONDITION")


def test_a_task_that_is_not_there(alice: Client) -> None:  # B-B18
    assert alice.post("/tasks/nothing/cancel", None).refusal == (404, "NOT_FOUND")


def test_the_newest_messages_first(alice: Client) -> None:
    alice.batch("s", *"abcde")
    alice.commit("s", keep_recent_count=2)
    for wanted, seqs in (
        ({"order": "desc", "limit": 3}, [5, 4, 3]),
        ({"order": "desc", "before_seq": 3, "limit": 100}, [2, 1]),
        ({"order": "desc", "after_seq": 3}, [5, 4]),
        ({"before_seq": 3}, [1, 2]),
        ({"after_seq": 1, "before_seq": 5, "limit": 2}, [2, 3]),
        ({"after_seq": 4, "before_seq": 3}, []),
        ({"order": "desc", "after_seq": 9}, []),
    ):
        assert [row["seq"] for row in alice.get("/sessions/s/messages", **wanted).result] == seqs, wanted
    assert alice.get("/sessions/s/messages", order="up").refusal == (400, "INVALID_ARGUMENT")
