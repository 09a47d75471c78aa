"""`ports.Bus`, on every backend; and what the adapter makes of a bus that fails."""

from typing import Any

import pytest
from botocore.config import Config
from botocore.exceptions import ConnectTimeoutError
from botocore.stub import Stubber

from strandline.adapters import events as adapter
from strandline.adapters.events import EventBus
from strandline.domain.contracts import SessionRef
from strandline.domain.events import MemoryChanged, SessionDeleted, session_deleted
from strandline.ports import Ambiguous
from tests.contract.conftest import Backend, aws_session

pytestmark = pytest.mark.contract

ODD = "名前 \x1f\x7f\u2028😀<&>\"'"


def deleted(session: str) -> SessionDeleted:
    whose = SessionRef(account_id="a", user_id="u", session_id=session, incarnation="0" * 32)
    event = session_deleted(whose, at="2026-01-01T00:00:00.000Z").event
    assert isinstance(event, SessionDeleted)
    return event.model_copy(update={"id": "000000000001-0123456789abcdef"})


@pytest.mark.parametrize("session", ["plain", ODD], ids=["plain", "odd"])
def test_an_event_arrives_as_it_was_put(backend: Backend, session: str) -> None:
    bus, caught = backend.bus()
    bus.put(deleted(session))
    assert caught() == [deleted(session).model_dump(exclude_none=True)]


def test_the_largest_event_arrives(backend: Backend) -> None:
    """100 uris of the longest paths that S3 takes: under the 256 KiB that an entry may have."""
    uris = [f"viking://user/u/memories/{n:03d}{'x' * 1000}.md" for n in range(100)]
    event = MemoryChanged(id="1", at="2026-01-01T00:00:00.000Z", account_id="a", user_id="u", added=uris)
    bus, caught = backend.bus()
    bus.put(event)
    assert caught() == [event.model_dump(exclude_none=True)]
    assert len(event.model_dump_json()) < 200 * 1024


class Failing:
    """A client whose next answers are given; counts the calls."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.calls = 0

    def __call__(self, _config: Config) -> Any:
        return self

    def put_events(self, **_request: Any) -> Any:
        self.calls += 1
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


OK = {"FailedEntryCount": 0, "Entries": [{"EventId": "1"}]}
REFUSED = {"FailedEntryCount": 1, "Entries": [{"ErrorCode": "ThrottlingException", "ErrorMessage": "…"}]}


@pytest.mark.parametrize("failure", [REFUSED, ConnectTimeoutError(endpoint_url="https://bus")])
def test_an_entry_that_was_not_taken_is_an_error(failure: Any) -> None:
    with pytest.raises(Ambiguous):
        EventBus("b", Failing(failure)).put(deleted("s"))


@pytest.mark.parametrize("code", ["ResourceNotFoundException", "AccessDeniedException", "InternalException"])
def test_no_error_of_the_service_is_more_than_a_bus_that_is_down(code: str) -> None:
    client = aws_session().create_client("events", "us-east-1")
    with Stubber(client) as stub:
        stub.add_client_error("put_events", code, http_status_code=400)
        with pytest.raises(Ambiguous, match=code):
            EventBus("b", lambda _: client).put(deleted("s"))


def test_after_a_failure_nobody_waits_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(adapter.time, "monotonic", lambda: now[0])
    client = Failing(REFUSED, OK)
    bus = EventBus("b", client)
    for _ in range(3):
        with pytest.raises(Ambiguous):
            bus.put(deleted("s"))
    assert client.calls == 1
    now[0] += adapter.PAUSE_SECONDS
    bus.put(deleted("s"))
    assert client.calls == 2
