"""Automatic commits as a client sees them: over HTTP, over the ingest queue, and by the schedule."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from strandline.ports import Ambiguous
from tests.handlers.service import Client, Service

POLICY = {"message_count_threshold": 3, "keep_recent_count": 1, "pending_token_threshold": 0}


def say(alice: Client, *texts: str, session: str = "s") -> Any:
    rows = [{"role": "user", "content": text} for text in texts]
    return alice.post(f"/sessions/{session}/messages/batch", {"messages": rows}).result


def test_a_write_over_the_threshold_answers_with_the_task_of_its_commit(
    service: Service, alice: Client
) -> None:  # B-B6
    alice.create("s", auto_commit_policy=POLICY)
    assert "auto_commit" not in say(alice, "I like tea.", "b", "c")
    answer = alice.post("/sessions/s/messages", {"role": "user", "content": "d"}).result
    task_id = answer["auto_commit"]["task_id"]
    assert answer["message_count"] == 4
    waiting = alice.get(f"/tasks/{task_id}").result
    assert (waiting["status"], waiting["stage"], waiting["resource_id"]) == ("pending", "commit", "s")

    service.pump()

    assert alice.get(f"/tasks/{task_id}").result["status"] == "completed"
    look = alice.look("s").result
    assert (look["message_count"], look["total_message_count"], look["commit_count"]) == (1, 4, 1)
    assert look["last_auto_commit_at"] == look["last_commit_at"] is not None
    assert [task["task_id"] for task in alice.get("/tasks").result] == [task_id]


def test_tokens_are_counted_too(service: Service, alice: Client) -> None:  # B-B6
    alice.create("s", auto_commit_policy={"pending_token_threshold": 4, "keep_recent_count": 0})
    assert "auto_commit" not in say(alice, "one two three four")
    assert "auto_commit" in say(alice, "five")


def test_the_ingest_queue_sets_commits_going_too(service: Service, alice: Client) -> None:
    alice.create("s", auto_commit_policy=POLICY)
    bodies = [
        json.dumps(
            {
                "type": "AppendRequested",
                "version": 1,
                "account_id": "acme",
                "user_id": "alice",
                "session_id": "s",
                "messages": [{"role": "user", "content": f"text {n}"}],
            }
        )
        for n in range(5)
    ]
    assert service.send_batch("IngestQueue", [(body, 1) for body in bodies]) == set()
    service.pump()
    assert alice.look("s").result["commit_count"] == 1
    assert [row["content"] for row in alice.get("/sessions/s/messages").result] == [
        f"text {n}" for n in range(5)
    ]


def test_a_silent_session_is_committed_by_the_schedule(service: Service) -> None:  # B-B9
    service.configure(SESSION_AUTO_COMMIT_IDLE_ENABLED="true")
    alice = service.client()
    alice.create("s", auto_commit_policy={"idle_timeout_seconds": 600})
    say(alice, "I like tea.")
    assert service.sweep(599)["due"] == 0
    say(alice, "And coffee.")
    assert service.sweep(2) == {"due": 1, "committed": 0, "moved": 1, "healed": 0, "failed": 0}
    assert service.sweep(600)["committed"] == 1
    service.pump()
    look = alice.look("s").result
    assert (look["message_count"], look["commit_count"]) == (0, 1)
    assert look["auto_commit_policy"]["keep_recent_count"] == 2


def test_a_deployment_without_idle_commits_keeps_to_the_greatest_age(service: Service) -> None:
    service.configure(SESSION_AUTO_COMMIT_MAX_AGE_SECONDS="3600")
    alice = service.client()
    alice.create("s", auto_commit_policy={"idle_timeout_seconds": 600})
    say(alice, "I like tea.")
    assert service.sweep(3_599)["due"] == 0
    assert service.sweep(1)["committed"] == 1


@pytest.mark.parametrize("store", ["items", "commit_queue"])
def test_a_failure_is_no_error_of_the_write_and_is_shown(
    service: Service, alice: Client, store: str
) -> None:  # B-B12
    alice.create("s", auto_commit_policy=POLICY)
    say(alice, "a", "b", "c")
    operation = {"items": "update", "commit_queue": "send"}[store]
    error = Ambiguous("Bearer sk-proj-0123456789abcdefghijklmnop")
    getattr(service.world, store).faults.before(operation, error)
    assert say(alice, "d")["message_count"] == 4
    look = alice.look("s").result
    assert look["auto_commit_last_error"] == "the commit could not be asked for: Ambiguous"
    assert look["auto_commit_last_error_at"] is not None

    service.world.clock.advance(121)
    say(alice, "e")
    service.pump()

    look = alice.look("s").result
    assert (look["auto_commit_last_error"], look["auto_commit_last_error_at"]) == (None, None)
    assert look["last_auto_commit_at"] is not None


def without_archives(put: Callable[..., str]) -> Callable[..., str]:
    """A store that answers for everything but archives."""

    def refusing(key: str, body: bytes, **when: Any) -> str:
        if "/archives/" in key:
            raise Ambiguous("no answer")
        return put(key, body, **when)

    return refusing


def test_a_commit_that_fails_for_good(service: Service, alice: Client) -> None:  # B-B12
    alice.create("s", auto_commit_policy=POLICY)
    task_id = say(alice, "a", "b", "c", "d")["auto_commit"]["task_id"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(service.world.objects, "put", without_archives(service.world.objects.put))
        for _ in range(5):
            service.deliver("CommitQueue", service.world.commit_queue)
    assert service.dead == []
    task = alice.get(f"/tasks/{task_id}").result
    assert task["status"] == "failed" and "did not answer" in task["error"]
    assert "did not answer" in alice.look("s").result["auto_commit_last_error"]
    assert [text for _, text in alice.log("s")] == ["a", "b", "c", "d"]

    assert alice.post(f"/tasks/{task_id}/retry", {}).result["status"] == "pending"
    service.pump()
    assert alice.get(f"/tasks/{task_id}").result["status"] == "completed"
    assert alice.look("s").result["auto_commit_last_error"] is None


def test_no_route_changes_a_policy(alice: Client) -> None:
    alice.create("s", auto_commit_policy=POLICY)
    assert alice.create("s", auto_commit_policy=None).refusal == (409, "ALREADY_EXISTS")
    assert alice.look("s").result["auto_commit_policy"]["message_count_threshold"] == 3


def test_another_s_task_is_not_found(service: Service, alice: Client) -> None:  # B-A14
    alice.create("s", auto_commit_policy=POLICY)
    task_id = say(alice, "a", "b", "c", "d")["auto_commit"]["task_id"]
    assert service.client("bob").get(f"/tasks/{task_id}").refusal == (404, "NOT_FOUND")
    assert service.client("bob").post(f"/tasks/{task_id}/cancel", {}).refusal == (404, "NOT_FOUND")
