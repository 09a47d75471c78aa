"""What a follower prints while the session changes between its looks."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from strandline_sdk import ApiError, Client, Retry
from strandline_sdk.follow import Follower
from tests.unit.sdk.fake_service import ROUTES, FakeService, Session, failure

KEY = ("self", "talk")


class Ended(Exception):
    """The script of a test is over."""


class Script:
    """What happens while the follower sleeps, one step a sleep."""

    def __init__(self, *steps: Callable[[], object]) -> None:
        self.steps = iter(steps)

    def __call__(self, _: float) -> None:
        step = next(self.steps, None)
        if step is None:
            raise Ended
        step()


def talk(*said: str, at: str = "2024-03-02T09:00:00.000Z") -> Session:
    messages = [{"seq": n, "id": s, "content": s} for n, s in enumerate(said, start=1)]
    return Session(messages, created_at=at)


def follower(service: FakeService, *steps: Callable[[], object], **settings: Any) -> Follower:
    client = Client("http://test", "good", transport=service, retry=Retry(attempts=1), sleep=Script(*steps))
    return Follower(client, **settings)


def heard(items: Iterator[Any], name: str = "content") -> list[Any]:
    found: list[Any] = []
    with pytest.raises(Ended):
        found.extend(item[name] for item in items)
    return found


def say(service: FakeService, *said: str) -> Callable[[], None]:
    def step() -> None:
        log = service.sessions[KEY].messages
        log += [{"seq": n, "id": s, "content": s} for n, s in enumerate(said, start=len(log) + 1)]

    return step


def put(service: FakeService, session: Session) -> Callable[[], None]:
    return lambda: service.sessions.__setitem__(KEY, session)


def test_the_last_messages_then_what_arrives(service: FakeService) -> None:
    service.sessions[KEY] = talk(*"abcde")
    steps = [say(service, "f"), lambda: None, say(service, "g", "h")]
    assert heard(follower(service, *steps).messages("talk", last=2)) == list("defgh")


def test_more_than_a_page_arrives_whole(service: FakeService) -> None:
    service.sessions[KEY] = talk("first")
    many = [f"m{n}" for n in range(250)]
    assert heard(follower(service, say(service, *many)).messages("talk", last=0)) == many


def test_an_idle_session_costs_one_request_a_look(service: FakeService) -> None:
    service.sessions[KEY] = talk("a")
    heard(follower(service, *[lambda: None] * 5).messages("talk", last=0))
    assert service.paths("GET") == ["/api/v1/sessions/talk"] * 6


def test_a_session_that_comes_later_is_followed_from_its_first_message(service: FakeService) -> None:
    steps = [lambda: None, put(service, talk(*"abc")), say(service, "d")]
    assert heard(follower(service, *steps).messages("talk", last=1)) == list("abcd")


def test_an_empty_session_is_followed(service: FakeService) -> None:
    service.sessions[KEY] = talk()
    assert heard(follower(service, say(service, "a")).messages("talk")) == ["a"]


@pytest.mark.parametrize("said", ["xy", "xyz", "vwxyz"])  # fewer, as many, and more than were printed
def test_a_session_made_anew_between_two_looks_is_followed_from_its_first_message(
    service: FakeService, said: str
) -> None:
    service.sessions[KEY] = talk(*"abc")
    anew = put(service, talk(*said, at="2024-03-02T09:00:01.000Z"))
    assert heard(follower(service, anew).messages("talk")) == [*"abc", *said]


def test_a_deleted_session_is_waited_for(service: FakeService) -> None:
    service.sessions[KEY] = talk(*"abc")
    anew = put(service, talk("x", at="2024-03-02T09:00:01.000Z"))
    steps = [lambda: service.sessions.pop(KEY), lambda: None, anew]
    assert heard(follower(service, *steps).messages("talk")) == list("abcx")


def test_what_was_read_while_the_session_was_made_anew_is_not_believed(service: FakeService) -> None:
    service.sessions[KEY] = talk(*"abc")
    original = service._log

    def replaced(request: Any, session_id: str) -> Any:
        put(service, talk(*"vwxyz", at="2024-03-02T09:00:01.000Z"))()
        return original(request, session_id)

    looks = follower(service)
    routes = [
        (method, pattern, (lambda _, *given: replaced(*given)) if handler.__name__ == "_log" else handler)
        for method, pattern, handler in ROUTES
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.unit.sdk.fake_service.ROUTES", routes)
        assert heard(looks.messages("talk")) == list("vwxyz")


def test_a_service_that_is_away_is_asked_again(service: FakeService) -> None:
    service.sessions[KEY] = talk("a")
    away: list[str] = []
    watching = follower(
        service,
        lambda: service.failures.extend([failure(503, "UNAVAILABLE"), failure(503, "UNAVAILABLE")]),
        lambda: None,
        say(service, "b"),
        on_away=lambda error: away.append(error.code),
    )
    assert heard(watching.messages("talk")) == ["a", "b"]
    assert away == ["UNAVAILABLE", "UNAVAILABLE"]


def test_a_refusal_ends_it(service: FakeService) -> None:
    client = Client("http://test", "sesame", transport=service)
    with pytest.raises(ApiError, match="UNAUTHENTICATED"):
        next(Follower(client).messages("talk"))


# ---- the journal


def change(number: int) -> dict[str, Any]:
    return {"id": f"{number:03d}", "type": "MemoryChanged", "added": [], "session_id": "talk"}


def test_the_last_changes_then_what_happens(service: FakeService) -> None:
    service.changes = [change(n) for n in range(1, 252)]
    steps = [lambda: service.changes.append(change(252)), lambda: None]
    assert heard(follower(service, *steps).journal(last=2), "id") == ["250", "251", "252"]


def test_an_empty_journal_is_followed(service: FakeService) -> None:
    assert heard(follower(service, lambda: service.changes.append(change(1))).journal(), "id") == ["001"]


def test_an_idle_journal_is_asked_behind_its_last_event(service: FakeService) -> None:
    service.changes = [change(7)]
    heard(follower(service, *[lambda: None] * 3).journal(last=0), "id")
    assert [request.url.params.get("after") for request in service.requests] == [
        None,
        "007",
        "007",
        "007",
        "007",
    ]
