"""The routes as methods."""

from collections.abc import Callable
from typing import Any

import pytest

from strandline_sdk import ApiError, Client
from tests.unit.sdk.fake_service import MEMORY, FakeService, body


def test_a_session_is_created_read_and_deleted(client: Client, service: FakeService) -> None:
    created = client.create_session("a", auto_commit_policy=None, metadata={"x": 1})
    assert created["session_id"] == "a"
    assert body(service.requests[0]) == {"session_id": "a", "auto_commit_policy": None, "metadata": {"x": 1}}
    assert client.session("a")["total_message_count"] == 0
    assert client.delete_session("a")["erased"] == {"objects": 2, "tasks": 1}
    with pytest.raises(ApiError, match="NOT_FOUND"):
        client.session("a")


def test_a_session_without_id_or_settings_sends_an_empty_object(client: Client, service: FakeService) -> None:
    assert client.create_session()["session_id"] == "generated"
    assert body(service.requests[0]) == {}


def test_session_ids_are_one_path_segment(client: Client, service: FakeService) -> None:
    client.append("a/b ü?", {"role": "user", "content": "hello"})
    assert service.requests[0].url.raw_path == b"/api/v1/sessions/a%2Fb%20%C3%BC%3F/messages"
    assert client.session("a/b ü?")["message_count"] == 1


def test_a_list_is_read_page_by_page_and_only_as_far_as_asked(client: Client, service: FakeService) -> None:
    service.page = 2
    for name in "abcde":
        client.create_session(name)
    sessions = client.sessions(page_size=2)
    assert next(sessions)["session_id"] == "e"
    assert service.paths("GET") == ["/api/v1/sessions"]
    assert [session["session_id"] for session in sessions] == ["d", "c", "b", "a"]
    assert len(service.paths("GET")) == 3


def test_the_log_is_read_to_its_end(client: Client) -> None:
    client.append_batch("a", [{"role": "user", "content": str(n)} for n in range(7)])
    assert [message["content"] for message in client.messages("a", page_size=3)] == list("0123456")
    assert [message["seq"] for message in client.messages("a", after_seq=5)] == [6, 7]


def test_the_log_is_read_backwards_to_its_beginning(client: Client, service: FakeService) -> None:
    client.append_batch("a", [{"role": "user", "content": str(n)} for n in range(7)])
    service.requests.clear()
    assert [message["content"] for message in client.newest_messages("a", page_size=3)] == list("6543210")
    assert len(service.requests) == 3
    newest = client.newest_messages("a", page_size=3)
    assert [next(newest)["seq"], next(newest)["seq"]] == [7, 6]
    assert len(service.requests) == 4


def test_an_append_that_was_overtaken_is_for_the_caller_to_repeat(
    client: Client, service: FakeService, pauses: list[float]
) -> None:
    client.append("a", {"role": "user", "content": "x"}, expected_last_seq=0)
    with pytest.raises(ApiError, match="ABORTED") as caught:
        client.append("a", {"role": "user", "content": "y"}, expected_last_seq=0)
    assert (caught.value.overtaken, caught.value.details) == (True, {"last_seq": 1})
    assert (len(service.requests), pauses) == (2, [])
    assert client.append("a", {"role": "user", "content": "y"}, expected_last_seq=1)["seq"] == 2


def test_as_whom_the_service_takes_it(client: Client) -> None:
    assert client.acting_user() == "self"
    assert client.acting_for("ann").acting_user() == "ann"


def test_a_lifetime_is_sent_as_it_is_given(client: Client, service: FakeService) -> None:
    client.put_memory("a.md", "x", ttl_seconds=60)
    client.put_memory("a.md", "x", ttl_seconds=None)
    client.put_memory("a.md", "x")
    assert [body(request) for request in service.requests] == [
        {"content": "x", "ttl_seconds": 60},
        {"content": "x", "ttl_seconds": None},
        {"content": "x"},
    ]


def test_the_newest_messages_are_read_in_order(client: Client, service: FakeService) -> None:
    client.append_batch("a", [{"role": "user", "content": str(n)} for n in range(7)])
    service.requests.clear()
    assert [message["content"] for message in client.last_messages("a", 2)] == ["5", "6"]
    assert len(service.requests) == 1


@pytest.mark.parametrize(
    ("ask", "path", "params"),
    [
        (lambda c: c.context("a b", token_budget=0), "/sessions/a b/context", {"token_budget": "0"}),
        (lambda c: c.context("a"), "/sessions/a/context", {}),
        (lambda c: c.archive("a", "archive_001"), "/sessions/a/archives/archive_001", {}),
        (lambda c: list(c.tool_results("a")), "/sessions/a/tool-results", {}),
        (
            lambda c: c.tool_result("a", "tr_1", offset=20_000, limit=5),
            "/sessions/a/tool-results/tr_1",
            {"offset": "20000", "limit": "5"},
        ),
        (
            lambda c: c.search_tool_result("a", "tr_1", "boom", limit=3),
            "/sessions/a/tool-results/tr_1/search",
            {"q": "boom", "limit": "3"},
        ),
    ],
)
def test_reads_ask_for_what_they_are_told(
    client: Client, ask: Callable[[Client], Any], path: str, params: dict[str, str]
) -> None:
    (asked,) = ask(client)
    assert (asked["path"], asked["params"]) == ("/api/v1" + path, params)


def test_uses_are_counted_by_uri(client: Client) -> None:
    assert client.used("a", ["viking://x"])[0]["body"] == {"contexts": ["viking://x"]}
    assert client.used("a", skill="pottery")[0]["body"] == {"skill": "pottery"}


def test_the_journal_is_read_to_its_end(client: Client, service: FakeService) -> None:
    service.changes = [{"id": f"{n:03d}", "type": "MemoryChanged"} for n in range(7)]
    assert [change["id"] for change in client.journal(page_size=3)] == [f"{n:03d}" for n in range(7)]
    assert [change["id"] for change in client.journal(after="004")] == ["005", "006"]


def test_tasks_are_listed_narrowed_called_off_and_started_again(client: Client, service: FakeService) -> None:
    service.polls, service.page = 1_000_000, 2
    for name in "abc":
        client.append(name, {"role": "user", "content": "x"})
        client.commit(name)
    assert [task["resource_id"] for task in client.tasks()] == ["c", "b", "a"]
    assert client.cancel_task("task-2")["status"] == "cancelled"
    assert [task["task_id"] for task in client.tasks(status="cancelled")] == ["task-2"]
    assert [task["task_id"] for task in client.tasks(resource_id="a", task_type="session_commit")] == [
        "task-1"
    ]
    with pytest.raises(ApiError, match="FAILED_PRECONDITION"):
        client.cancel_task("task-2")
    assert client.retry_task("task-2")["status"] == "running"


def test_archives_are_listed(client: Client) -> None:
    client.append("a", {"role": "user", "content": "x"})
    assert client.archives("a") == []
    client.commit("a")
    assert [archive["archive_id"] for archive in client.archives("a")] == ["archive_001"]


def test_memories_are_listed_read_written_and_deleted(client: Client, service: FakeService) -> None:
    assert [memory["path"] for memory in client.memories("events/", memory_type="events")] == [MEMORY["path"]]
    assert list(client.memories("profile")) == []
    assert client.memory(str(MEMORY["path"]))["content"] == MEMORY["content"]
    client.put_memory("entities/a b.md", "text", new=True)
    assert service.requests[-1].headers["If-None-Match"] == "*"
    client.put_memory("entities/a b.md", "other", if_match=str(MEMORY["sha256"]))
    assert service.requests[-1].headers["If-Match"] == f'"{MEMORY["sha256"]}"'
    assert client.memory("/entities/a b.md")["content"] == "other"
    client.delete_memory("entities/a b.md")
    with pytest.raises(ApiError, match="no such memory"):
        client.memory("entities/a b.md")


def test_find_leaves_out_what_is_not_given(client: Client, service: FakeService) -> None:
    found = client.find("bowl", limit=3, since=None, session_id=None)
    assert found["memories"][0]["category"] == "events"
    assert body(service.requests[0]) == {"query": "bowl", "limit": 3}


def test_health_needs_no_key(service: FakeService) -> None:
    assert Client("http://test", "", transport=service).health()["version"] == "0.0.0"


def test_tasks_are_waited_for_in_order(client: Client, service: FakeService, pauses: list[float]) -> None:
    service.polls = 3
    tasks = []
    for name in "ab":
        client.append(name, {"role": "user", "content": "x"})
        tasks.append(client.commit(name)["task_id"] or "")
    ended = list(client.wait_for_tasks(tasks))
    assert [(task["resource_id"], task["status"]) for task in ended] == [
        ("a", "completed"),
        ("b", "completed"),
    ]
    assert len(pauses) == 4


def test_waiting_ends_with_the_timeout(client: Client, service: FakeService) -> None:
    service.polls = 1_000_000
    client.append("a", {"role": "user", "content": "x"})
    task_id = client.commit("a")["task_id"]
    with pytest.raises(TimeoutError, match="task-1 is still running after 0 s"):
        client.wait_for_task(task_id or "", timeout=0)


def test_archives_are_waited_for(client: Client, service: FakeService, pauses: list[float]) -> None:
    client.append("a", {"role": "user", "content": "x"})
    service.sessions["self", "a"].pending_polls = 3
    assert client.wait_for_archives("a")["archives"]["pending"] == 0
    assert len(pauses) == 2
    service.sessions["self", "a"].pending_polls = 1_000_000
    with pytest.raises(TimeoutError, match="session a has pending archives after 0 s"):
        client.wait_for_archives("a", timeout=0)
