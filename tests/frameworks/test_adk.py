"""Sessions of ADK: events, and who appends at the same time."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from strandline_sdk import Client

pytest.importorskip("google.adk", reason="`make frameworks` has the frameworks' packages")

from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions.base_session_service import GetSessionConfig
from google.genai import types

from strandline_sdk.frameworks.adk import StrandlineSessionService
from tests.frameworks.adk_world import AT, TYPED, append, create, event, get, stored, texts


@pytest.fixture
def service(root: Client) -> StrandlineSessionService:
    return StrandlineSessionService(root)


EVENTS = [
    event("I moved to Oslo. 我住在奥斯陆 🌊", at=AT + 0.123456),
    Event(
        author="skipper",
        invocation_id="i",
        timestamp=AT + 1,
        branch="a.b",
        long_running_tool_ids={"c1", "c0"},
        custom_metadata={"k": None, "n": 1.0},
        usage_metadata=types.GenerateContentResponseUsageMetadata(prompt_token_count=7),
        content=types.Content(
            role="model",
            parts=[
                types.Part(text="I think.", thought=True),
                types.Part(text="Let me look.", thought_signature=b"\xff\x00" * 40),
                types.Part(
                    function_call=types.FunctionCall(id="c1", name="rain", args={"city": "Oslo", "x": None})
                ),
                types.Part(inline_data=types.Blob(data=b"\x00\xfe\xff", mime_type="image/png")),
            ],
        ),
        actions=EventActions(state_delta=dict(TYPED), artifact_delta={"f.txt": 2}, escalate=True),
    ),
    Event(
        author="skipper",
        invocation_id="i",
        timestamp=AT + 2,
        content=types.Content(
            role="user",
            parts=[
                types.Part(
                    function_response=types.FunctionResponse(id="c1", name="rain", response={"result": "wet"})
                ),
                types.Part(
                    function_response=types.FunctionResponse(id="c2", name="wind", response={"ms": 4})
                ),
            ],
        ),
    ),
    Event(author="skipper", invocation_id="i", timestamp=AT + 3, error_code="X", error_message="went wrong"),
    Event(
        author="skipper", invocation_id="i", timestamp=AT + 4, content=types.Content(role="model", parts=None)
    ),
]


def copies() -> list[Event]:
    return [each.model_copy(deep=True) for each in EVENTS]


def test_events_come_back_as_they_were(service: StrandlineSessionService) -> None:
    append(service, create(service), *copies())
    assert get(service).events == EVENTS


def test_what_was_said_is_what_the_messages_say(service: StrandlineSessionService, root: Client) -> None:
    append(service, create(service), *copies())
    messages = stored(root)
    call = {"type": "tool", "tool_id": "c1", "tool_name": "rain", "tool_status": "pending"}
    done = {"type": "tool", "tool_status": "completed"}
    assert [(message["role"], message.get("parts", [])) for message in messages] == [
        ("user", [{"type": "text", "text": "I moved to Oslo. 我住在奥斯陆 🌊"}]),
        (
            "assistant",
            [
                {"type": "text", "text": "Let me look."},
                {**call, "tool_input": {"city": "Oslo", "x": None}},
                {"type": "text", "text": "[image/png]"},
            ],
        ),
        (
            "tool",
            [
                {**done, "tool_id": "c1", "tool_name": "rain", "tool_output": "wet"},
                {**done, "tool_id": "c2", "tool_name": "wind", "tool_output": '{"ms": 4}'},
            ],
        ),
        ("assistant", []),
        ("assistant", []),
    ]
    assert messages[0]["created_at"] == "2023-11-14T22:13:20.123Z"


def test_order_is_that_of_appending_whatever_the_clocks_say(service: StrandlineSessionService) -> None:
    session = create(service)
    append(service, session, event("1", at=AT), event("2", at=AT), event("3", at=AT - 100), event("4", at=AT))
    assert texts(get(service).events) == ["1", "2", "3", "4"]


def test_a_partial_event_is_not_kept(service: StrandlineSessionService) -> None:
    session = create(service)
    append(service, session, event("par", partial=True), event("partial"))
    assert (texts(session.events), texts(get(service).events)) == (["partial"], ["partial"])


def test_the_same_event_again_is_stored_once(service: StrandlineSessionService) -> None:
    session = create(service)
    said = event("1")
    append(service, session, said, said, said.model_copy(deep=True))
    append(service, get(service), said.model_copy(deep=True))
    assert (texts(session.events), texts(get(service).events)) == (["1"], ["1"])


def test_another_event_of_the_same_id_is_kept(service: StrandlineSessionService) -> None:
    session = create(service)
    append(service, session, event("1", id="fixed"), event("2", id="fixed"))
    assert texts(get(service).events) == ["1", "2"]


def test_some_of_the_events(service: StrandlineSessionService) -> None:
    session = create(service)
    append(
        service,
        session,
        *(event(str(n), at=AT + n, actions=EventActions(state_delta={"n": n})) for n in range(5)),
    )

    def seen(**wanted: Any) -> list[str]:
        found = get(service, config=GetSessionConfig(**wanted))
        assert found.state["n"] == 4
        return texts(found.events)

    assert seen(num_recent_events=2) == ["3", "4"]
    assert seen(num_recent_events=0) == []
    assert seen(num_recent_events=9) == ["0", "1", "2", "3", "4"]
    assert seen(after_timestamp=AT + 2) == ["2", "3", "4"]
    assert seen(after_timestamp=AT + 1, num_recent_events=2) == ["3", "4"]


def test_a_view_of_some_is_never_written_back(service: StrandlineSessionService) -> None:
    append(service, create(service), *(event(str(n)) for n in range(6)))
    view = get(service, config=GetSessionConfig(num_recent_events=2))
    append(service, view, event("6"))
    assert texts(view.events) == ["4", "5", "6"]
    assert texts(get(service).events) == list("0123456")


def test_a_long_session_and_a_commit(service: StrandlineSessionService, root: Client) -> None:
    session = create(service, state={"begun": True})
    append(service, session, *(event(str(n)) for n in range(30)))
    root.acting_for("adk!shop!ana").commit("s", keep_recent_count=4)
    append(service, session, event("30"))
    found = get(service)
    assert (texts(found.events), found.state) == ([str(n) for n in range(31)], {"begun": True})


# ---- two at once


def test_who_appends_to_what_has_moved_on_loses_nothing(service: StrandlineSessionService) -> None:
    one, other = create(service), get(service)
    append(service, one, event("a", actions=EventActions(state_delta={"one": 1, "both": 1})))
    append(service, other, event("b", actions=EventActions(state_delta={"other": 2, "both": 2})))
    append(service, one, event("c"))
    found = get(service)
    assert texts(found.events) == ["a", "b", "c"]
    assert found.state == {"one": 1, "other": 2, "both": 2}


def test_many_at_once_lose_neither_events_nor_keys(service: StrandlineSessionService) -> None:
    create(service)
    names = [f"k{n}" for n in range(4)]

    def one(name: str) -> None:
        delta = {name: 1, f"user:{name}": 2, f"app:{name}": 3}
        append(service, get(service), event(name, actions=EventActions(state_delta=delta)))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(one, names))
    found = get(service)
    assert sorted(texts(found.events)) == names
    assert found.state == {
        **dict.fromkeys(names, 1),
        **{f"user:{name}": 2 for name in names},
        **{f"app:{name}": 3 for name in names},
    }
