import itertools
import json
from collections.abc import Iterator

import httpx
import pytest

from strandline_sdk import ApiError, Client, Retry
from strandline_sdk.importers import ImportedSession
from strandline_sdk.model import Message
from strandline_sdk.upload import MAX_BATCH_BYTES, Uploaded, Uploader, batches
from tests.unit.sdk.fake_service import FakeService


def messages(count: int, text: str = "x") -> list[Message]:
    return [{"id": f"m{n}", "role": "user", "content": text} for n in range(count)]


def session(name: str, count: int = 3, text: str = "x") -> ImportedSession:
    return ImportedSession(name, "talk", messages(count, text))


@pytest.fixture
def client(service: FakeService) -> Client:
    return Client("http://test", "good", transport=service, retry=Retry(attempts=1))


def upload(
    client: Client, *sessions: ImportedSession, jobs: int = 2, commit: bool = True
) -> dict[str, Uploaded]:
    uploader = Uploader(lambda _: client, commit=commit)
    return {done.session_id: done for done in uploader.upload(sessions, jobs)}


def test_sessions_are_stored_in_order_and_committed_once(client: Client, service: FakeService) -> None:
    done = upload(client, session("a", 250), session("b", 1))
    stored = service.sessions["self", "a"].messages
    assert [message["id"] for message in stored] == [f"m{n}" for n in range(250)]
    assert (done["a"].stored, done["a"].duplicates, done["b"].stored) == (250, 0, 1)
    assert service.paths("POST").count("/api/v1/sessions/a/messages/batch") == 3
    assert service.paths("POST").count("/api/v1/sessions/a/commit") == 1
    assert {done["a"].task_id, done["b"].task_id} == {"task-1", "task-2"}


def test_a_repeated_upload_stores_and_commits_nothing(client: Client, service: FakeService) -> None:
    upload(client, session("a", 120))
    again = upload(client, session("a", 120))["a"]
    assert (again.stored, again.duplicates, again.task_id, again.error) == (0, 120, None, None)
    assert len(service.sessions["self", "a"].messages) == 120


def test_a_repeated_upload_of_more_than_the_service_recognises_stores_nothing(
    client: Client, service: FakeService
) -> None:
    upload(client, session("a", 2300))
    again = upload(client, session("a", 2301))["a"]
    assert (again.stored, again.duplicates) == (1, 2300)
    assert len(service.sessions["self", "a"].messages) == 2301


def test_an_interrupted_upload_goes_on_where_it_ended(client: Client, service: FakeService) -> None:
    upload(client, session("a", 40), commit=False)
    done = upload(client, session("a", 130))["a"]
    assert (done.stored, done.duplicates) == (90, 40)
    assert service.sessions["self", "a"].committed == 130


def test_progress_counts_every_message_once(client: Client) -> None:
    steps: list[int] = []
    for _ in range(2):
        list(Uploader(lambda _: client, on_messages=steps.append).upload([session("a", 1100)], jobs=1))
    assert sum(steps) == 2200


def test_a_refused_session_does_not_stop_the_others(client: Client, service: FakeService) -> None:
    done = upload(client, session("bad", text="refuse me"), *(session(f"s{n}") for n in range(6)))
    assert "messages.0.content: refused" in (done["bad"].error or "")
    assert sum(result.stored for result in done.values()) == 18
    assert len(service.tasks) == 6


def test_a_failure_that_every_session_would_meet_ends_the_upload(service: FakeService) -> None:
    stranger = Client("http://test", "wrong", transport=service, retry=Retry(attempts=1))
    with pytest.raises(ApiError, match="UNAUTHENTICATED"):
        upload(stranger, *(session(f"s{n}") for n in range(100)))
    assert len(service.requests) < 20


def test_an_unreachable_service_ends_the_upload(client: Client, service: FakeService) -> None:
    service.failures.extend(httpx.ConnectError("refused") for _ in range(1000))
    with pytest.raises(ApiError, match="UNAVAILABLE"):
        upload(client, *(session(f"s{n}") for n in range(100)))


def test_sessions_are_taken_only_as_they_are_needed(client: Client) -> None:
    taken = itertools.count()

    def endless() -> Iterator[ImportedSession]:
        for n in taken:
            yield session(f"s{n}", 1)

    done = Uploader(lambda _: client).upload(endless(), jobs=2)
    next(done)
    done.close()  # type: ignore[attr-defined]
    assert next(taken) <= 9


def test_batches_hold_at_most_100_messages() -> None:
    assert [len(batch) for batch in batches(messages(250))] == [100, 100, 50]
    assert list(batches([])) == []


def test_batches_hold_at_most_2_mb_unless_one_message_is_larger() -> None:
    sizes = [len(batch) for batch in batches(messages(5, text="木" * 300_000))]
    assert sizes == [2, 2, 1]
    big: Message = {"id": "big", "role": "user", "content": "x" * (MAX_BATCH_BYTES + 1)}
    assert [len(batch) for batch in batches([*messages(2), big, *messages(2)])] == [2, 1, 2]
    assert all(len(json.dumps(batch)) < 2 * MAX_BATCH_BYTES for batch in batches(messages(300)))
