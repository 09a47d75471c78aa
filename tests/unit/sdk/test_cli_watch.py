import json

import pytest

from tests.unit.sdk.commands import run
from tests.unit.sdk.fake_service import FakeService, Session, failure

MESSAGES = [
    {"seq": n, "role": "user", "content": f"bowl {n}", "created_at": "2024-03-02T09:30:00.000Z"}
    for n in range(1, 13)
]


@pytest.fixture
def watched(service: FakeService) -> FakeService:
    """A session of twelve messages."""
    service.sessions["self", "talk"] = Session(list(MESSAGES))
    return service


def interrupted_after(service: FakeService, requests: int) -> None:
    """Lets so many requests through."""
    original = service._route

    def route(request: object) -> object:
        if len(service.requests) > requests:
            raise KeyboardInterrupt
        return original(request)  # type: ignore[arg-type]

    service._route = route  # type: ignore[assignment,method-assign]


def test_a_line_a_message_until_ctrl_c(watched: FakeService) -> None:
    interrupted_after(watched, 3)
    result = run(watched, "watch", "talk", "-n", "2", "--interval", "0.1")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "   11  2024-03-02 09:30  user: bowl 11",
        "   12  2024-03-02 09:30  user: bowl 12",
    ]


def test_json_lines(watched: FakeService) -> None:
    interrupted_after(watched, 3)
    result = run(watched, "--json", "watch", "talk", "--interval", "0.1")
    assert [json.loads(line) for line in result.stdout.splitlines()] == MESSAGES[2:]


def test_a_session_that_does_not_exist_yet_is_no_error(service: FakeService) -> None:
    interrupted_after(service, 2)
    result = run(service, "watch", "later", "--interval", "0.1")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "waiting for session later\n")


def test_a_service_that_is_away_is_told_once(watched: FakeService) -> None:
    watched.failures.extend(failure(503, "UNAVAILABLE", retry_after="3600") for _ in range(2))
    interrupted_after(watched, 5)
    result = run(watched, "watch", "talk", "-n", "1", "--interval", "0.1")
    assert result.stdout.endswith("user: bowl 12\n")
    assert result.stderr == "UNAVAILABLE: not now (request r-1); trying again\n"


def test_the_changes_of_memories(service: FakeService) -> None:
    of = {"type": "MemoryChanged", "session_id": "talk", "archive": 1}
    added = {"id": "1", **of, "added": ["viking://a", "viking://b"], "updated": ["viking://c"], "deleted": []}
    service.changes = [added, {"id": "2", "type": "SessionDeleted", "session_id": "talk"}]
    interrupted_after(service, 2)
    assert run(service, "watch", "--journal").stdout.splitlines() == [
        "added    viking://a  talk/1",
        "added    viking://b  talk/1",
        "updated  viking://c  talk/1",
        "SessionDeleted  talk",
    ]
    service.requests.clear()
    lines = run(service, "watch", "--journal", "--json").stdout.splitlines()
    assert [json.loads(line) for line in lines] == service.changes


@pytest.mark.parametrize("arguments", [(), ("talk", "--journal"), ("talk", "--interval", "0")])
def test_what_to_watch_must_be_said(service: FakeService, arguments: tuple[str, ...]) -> None:
    assert run(service, "watch", *arguments).exit_code == 2
    assert service.requests == []
