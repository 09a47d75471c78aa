"""Commit, its task, its archive and the context, as a client sees them."""

import re
from typing import Any

import pytest

from strandline.entry.wiring import RuleModel
from tests.handlers.service import Client, Service
from tests.pipeline.models import Refusing

PROSE = "the answer is prose: 'Sure, I can help with that'"


def failing(service: Service, times: int, *, final: bool = False) -> None:
    service.world.model = Refusing(times=times, final=final)
    service.cold()


@pytest.mark.parametrize("keep", [0, 1, 10_000])
def test_nothing_to_commit(alice: Client, keep: int) -> None:  # B-B1
    alice.create("s")
    assert alice.commit("s", keep_recent_count=keep).result == {
        "session_id": "s",
        "status": "skipped",
        "archived": False,
        "task_id": None,
        "reason": "no_messages",
    }


@pytest.mark.parametrize("keep", [2, 3, 10_000])
def test_everything_in_the_keep_window(alice: Client, keep: int) -> None:  # B-B1
    alice.batch("s", "a", "b")
    result = alice.commit("s", keep_recent_count=keep).result
    assert (result["status"], result["archived"], result["task_id"]) == ("skipped", False, None)
    assert result["reason"] == "all_within_keep_window"
    assert alice.look("s").result["message_count"] == 2


def tool(name: str, output: str | None = None) -> dict[str, Any]:
    part = {"type": "tool", "tool_id": name, "tool_name": "look"}
    done = {"tool_output": output} if output is not None else {"tool_status": "pending"}
    return {"role": "assistant" if output is None else "tool", "parts": [{**part, **done}]}


@pytest.mark.parametrize(("keep", "live"), [(1, 1), (2, 3), (3, 3), (4, 4)])
def test_a_call_is_not_parted_from_its_result(alice: Client, keep: int, live: int) -> None:  # B-B5
    said = [{"role": "user", "content": text} for text in ("a", "b", "c")]
    alice.post("/sessions/s/messages/batch", {"messages": [*said[:2], tool("t1"), tool("t1", "7"), said[2]]})
    would = alice.commit("s", keep_recent_count=keep, dry_run=True).result
    done = alice.commit("s", keep_recent_count=keep).result
    assert (done["first_seq"], done["last_seq"]) == (1, 5 - live)
    assert would["last_seq"] == 5 - live
    assert alice.look("s").result["message_count"] == live


def test_a_call_that_begins_the_session_keeps_everything(alice: Client) -> None:  # B-B5
    alice.post("/sessions/s/messages/batch", {"messages": [tool("t1"), tool("t1", "7")]})
    result = alice.commit("s", keep_recent_count=1).result
    assert (result["status"], result["reason"]) == ("skipped", "all_within_keep_window")
    assert alice.commit("s").result["last_seq"] == 2


@pytest.mark.parametrize("body", [None, {}, {"keep_recent_count": 0}, {"unknown": 1}])
def test_a_commit(alice: Client, body: Any) -> None:  # B-B1
    alice.batch("s", "a", "b", "c")
    result = alice.post("/sessions/s/commit", body).result
    assert result["session_id"] == "s"
    assert (result["status"], result["archived"]) == ("accepted", True)
    assert result["archive_uri"] == "viking://user/alice/sessions/s/archives/archive_001"
    assert (result["first_seq"], result["last_seq"]) == (1, 3)
    assert re.fullmatch(r"20260101000000000-[0-9a-f]{16}", result["task_id"])


@pytest.mark.parametrize("keep", [-1, 10_001, "x", 1.5, None, True])
def test_a_keep_window_that_is_none(alice: Client, keep: Any) -> None:  # B-B1
    alice.append("s", "a")
    answer = alice.commit("s", keep_recent_count=keep)
    if keep is True:
        assert answer.status in (200, 400)  # JSON true may count as 1
        return
    assert answer.refusal == (400, "INVALID_ARGUMENT")
    assert alice.look("s").result["message_count"] == 1


def test_a_dry_run_changes_nothing(alice: Client) -> None:
    alice.batch("s", "a", "b", "c")
    result = alice.commit("s", keep_recent_count=1, dry_run=True).result
    assert (result["archived"], result["first_seq"], result["last_seq"]) == (False, 1, 2)
    assert alice.look("s").result["commit_count"] == 0


def test_right_after_a_commit(service: Service, alice: Client) -> None:  # B-B2
    alice.batch("s", "one two", "three", "four")
    service.world.clock.advance(5)
    task = alice.commit("s").result["task_id"]

    shown = alice.look("s").result
    assert (shown["message_count"], shown["total_message_count"], shown["commit_count"]) == (0, 3, 1)
    assert (shown["pending_tokens"], shown["last_commit_at"]) == (0, "2026-01-01T00:00:05.000Z")
    assert shown["archives"] == {"pending": 1, "completed": 0, "failed": 0}
    assert alice.get(f"/tasks/{task}").result["status"] == "pending"

    alice.append("s", "five")
    shown = alice.look("s").result
    assert (shown["message_count"], shown["total_message_count"], shown["commit_count"]) == (1, 4, 1)


def test_a_second_commit_finds_nothing(service: Service, alice: Client) -> None:  # B-B3
    alice.batch("s", "a", "b")
    assert alice.commit("s").result["archived"] is True
    assert alice.commit("s").result["reason"] == "no_messages"
    service.pump()
    assert alice.log("s") == [(1, "a"), (2, "b")]
    assert alice.look("s").result["commit_count"] == 1


def test_what_comes_while_the_archive_is_extracted_is_live(service: Service, alice: Client) -> None:  # B-B4
    alice.append("s", "before")
    alice.commit("s")
    alice.append("s", "meanwhile")
    service.pump()
    assert alice.look("s").result["message_count"] == 1
    assert [m["content"] for m in alice.context("s").result["messages"]] == ["meanwhile"]


def test_a_task_on_its_way(service: Service, alice: Client) -> None:  # B-B2
    alice.append("s", "I love the cello.")
    task = alice.commit("s").result["task_id"]
    shown = alice.get(f"/tasks/{task}").result
    assert {k: shown[k] for k in ("task_id", "task_type", "status", "stage", "resource_id", "error")} == {
        "task_id": task,
        "task_type": "session_commit",
        "status": "pending",
        "stage": "commit",
        "resource_id": "s",
        "error": None,
    }
    service.deliver("ExtractQueue", service.world.extract_queue)
    assert alice.get(f"/tasks/{task}").result["status"] == "running"
    service.pump()
    shown = alice.get(f"/tasks/{task}").result
    assert (shown["status"], shown["error"]) == ("completed", None)
    assert shown["result"]["session_id"] == "s"
    assert shown["result"]["memories_extracted"]["total"] == 1


def test_a_task_says_why_its_last_attempt_came_to_nothing(service: Service, alice: Client) -> None:  # B-B15
    failing(service, 1)
    alice.append("s", "I love the cello.")
    task = alice.commit("s").result["task_id"]
    service.deliver("ExtractQueue", service.world.extract_queue)
    shown = alice.get(f"/tasks/{task}").result
    assert (shown["status"], shown["error"]) == ("running", PROSE)
    service.pump()
    shown = alice.get(f"/tasks/{task}").result
    assert (shown["status"], shown["error"]) == ("completed", None)


@pytest.mark.parametrize("task", ["nothing", "..", "%2e%2e", "a%2Fb", "\u4f60"])
def test_a_task_that_is_not_there(alice: Client, task: str) -> None:  # B-A14
    from urllib.parse import quote

    assert alice.get(f"/tasks/{quote(task, safe='%')}").status == 404


def test_an_archive_as_it_comes_along(service: Service, alice: Client) -> None:  # B-D1
    alice.batch("s", "I love the cello.", "So do I.")
    alice.commit("s")
    shown = alice.get("/sessions/s/archives/archive_001").result
    assert (shown["archive_id"], shown["status"], shown["abstract"]) == ("archive_001", "pending", "")
    assert [m["content"] for m in shown["messages"]] == ["I love the cello.", "So do I."]
    assert (shown["first_seq"], shown["last_seq"]) == (1, 2)
    service.pump()
    shown = alice.get("/sessions/s/archives/archive_001").result
    assert shown["status"] == "completed"
    assert shown["abstract"] and shown["overview"]


@pytest.mark.parametrize(
    "name",
    ["archive_002", "archive_000", "archive_1", "archive_-01", "1", "archive_٠٠١", "archive_999999999"],
)
def test_an_archive_that_is_not_there(alice: Client, name: str) -> None:
    from urllib.parse import quote

    alice.remember("s", "I love the cello.")
    assert alice.get(f"/sessions/s/archives/{quote(name)}").refusal == (404, "NOT_FOUND")


# ---- failure and retry


@pytest.mark.parametrize("final", [True, False])
def test_an_extraction_that_fails_for_good(service: Service, alice: Client, final: bool) -> None:  # B-B15
    failing(service, 99, final=final)
    task = alice.remember("s", "I love the cello.")

    shown = alice.get(f"/tasks/{task}").result
    assert (shown["status"], shown["stage"], shown["error"]) == ("failed", "extract", PROSE)
    assert service.world.model.refused == (1 if final else 5)  # type: ignore[attr-defined]
    assert alice.get("/sessions/s/archives/archive_001").result["status"] == "failed"
    assert alice.look("s").result["archives"] == {"pending": 0, "completed": 0, "failed": 1}
    assert service.dead == []
    assert alice.get("/memories").result == []


def test_the_session_goes_on_and_the_retry_completes(service: Service, alice: Client) -> None:  # B-B15
    failing(service, 5)
    task = alice.remember("s", "cello: I love it")
    alice.remember("s", "oboe: I love it")
    assert alice.look("s").result["archives"] == {"pending": 0, "completed": 1, "failed": 1}

    assert alice.post(f"/tasks/{task}/retry").result["status"] == "pending"
    service.pump()

    assert alice.get(f"/tasks/{task}").result["status"] == "completed"
    assert alice.look("s").result["archives"] == {"pending": 0, "completed": 2, "failed": 0}
    assert [row["path"] for row in alice.get("/memories").result] == [
        "preferences/cello.md",
        "preferences/oboe.md",
    ]
    assert alice.context("s").result["messages"] == []


def test_a_completed_task_is_not_retried(alice: Client) -> None:  # B-B15
    task = alice.remember("s", "I love the cello.")
    assert alice.post(f"/tasks/{task}/retry").refusal == (412, "FAILED_PRECONDITION")


def test_an_archive_that_vanished(service: Service, alice: Client) -> None:  # B-B15
    alice.append("s", "I love the cello.")
    task = alice.commit("s").result["task_id"]
    (key,) = service.world.stored("/messages.")
    service.world.objects.delete(key)
    service.pump()

    shown = alice.get(f"/tasks/{task}").result
    assert (shown["status"], shown["error"]) == ("failed", "the archive's messages are not in the bucket")
    alice.append("s", "still here")
    assert alice.context("s").status == 200
    assert alice.get("/sessions/s/messages").status == 200
    alice.remember("s", "I love the oboe.")
    assert len(alice.find("oboe")) == 1
    assert alice.post(f"/tasks/{task}/retry").result["status"] == "pending"
    service.pump()
    assert alice.get(f"/tasks/{task}").result["status"] == "failed"


@pytest.mark.parametrize("model", [RuleModel, lambda: Refusing(times=0)])
def test_every_message_delivered_again(service: Service, alice: Client, model: Any) -> None:  # B-B16
    service.world.model = model()
    service.cold()
    task = alice.remember("s", "cello: I love the cello.")
    before = (
        {key: (service.world.writes(key), service.world.body(key)) for key in service.world.stored()},
        alice.look("s").result,
        alice.get(f"/tasks/{task}").result["result"],
    )

    service.world.extract_queue.send(service.world.extract_queue.sent[0])
    service.world.merge_queue.send(service.world.merge_queue.sent[0])
    service.cold()
    service.pump()

    assert before == (
        {key: (service.world.writes(key), service.world.body(key)) for key in service.world.stored()},
        alice.look("s").result,
        alice.get(f"/tasks/{task}").result["result"],
    )


def test_archives_are_listed_in_order_with_their_status(service: Service, alice: Client) -> None:
    alice.remember("s", "a", "b")
    alice.append("s", "c")
    alice.commit("s")

    listed = alice.get("/sessions/s/archives").result

    assert [(row["archive_id"], row["status"], row["first_seq"], row["last_seq"]) for row in listed] == [
        ("archive_001", "completed", 1, 2),
        ("archive_002", "pending", 3, 3),
    ]
    assert listed[0]["uri"] == "viking://user/alice/sessions/s/archives/archive_001"
    assert alice.get("/sessions/nobody/archives").refusal == (404, "NOT_FOUND")
