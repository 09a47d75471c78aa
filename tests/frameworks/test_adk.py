"""Sessions and memory of ADK, with its own Runner and a model that follows a script."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest

from strandline_sdk import ApiError, Client

pytest.importorskip("google.adk", reason="`make frameworks` has the frameworks' packages")

from google.adk.agents import Agent
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions.base_session_service import GetSessionConfig
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.adk.sessions.session import Session
from google.adk.tools import load_memory
from google.genai import types

from strandline_sdk.frameworks.adk import StrandlineMemoryService, StrandlineSessionService

Connect = Callable[..., Client]
AT = 1_700_000_000.0
TYPED: dict[str, Any] = {
    "int": 3,
    "float": 3.0,
    "big": 2**70,
    "yes": True,
    "none": None,
    "text": "3",
    "deep": {"list": [1, {"x": [None, False]}], "": {}},
    "文字 🌊": "x",
}


def run(made: Any) -> Any:
    return asyncio.run(made)


@pytest.fixture
def root(connect: Connect) -> Client:
    """A root key, and an account of this test's own."""
    return connect(account=f"acct-{uuid4().hex[:12]}", user="nobody")


@pytest.fixture
def service(root: Client) -> StrandlineSessionService:
    return StrandlineSessionService(root)


def of(user: str = "ana", app: str = "shop") -> dict[str, str]:
    return {"app_name": app, "user_id": user}


def create(service: Any, session_id: str | None = "s", state: Any = None, **whose: str) -> Session:
    made: Session = run(service.create_session(**of(**whose), session_id=session_id, state=state))
    return made


def get(service: Any, session_id: str = "s", config: GetSessionConfig | None = None, **whose: str) -> Any:
    return run(service.get_session(**of(**whose), session_id=session_id, config=config))


def event(text: str, author: str = "user", at: float = AT, **fields: Any) -> Event:
    role = "user" if author == "user" else "model"
    content = types.Content(role=role, parts=[types.Part(text=text)])
    return Event(author=author, invocation_id="i", timestamp=at, **{"content": content, **fields})


def changing(**delta: Any) -> Event:
    return event("", "skipper", content=None, actions=EventActions(state_delta=delta))


def append(service: Any, session: Session, *events: Event) -> None:
    async def each() -> None:
        for one in events:
            await service.append_event(session, one)

    run(each())


def texts(events: list[Event]) -> list[str]:
    return [e.content.parts[0].text for e in events if e.content and e.content.parts]  # type: ignore[misc]


def stored(root: Client, session_id: str = "s", user: str = "ana", app: str = "shop") -> list[Any]:
    return list(root.acting_for(f"adk!{app}!{user}").messages(session_id))


# ---- events


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
    names = [f"k{n}" for n in range(6)]

    def one(name: str) -> None:
        delta = {name: 1, f"user:{name}": 2, f"app:{name}": 3}
        append(service, get(service), event(name, actions=EventActions(state_delta=delta)))

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(one, names))
    found = get(service)
    assert sorted(texts(found.events)) == names
    assert found.state == {
        **dict.fromkeys(names, 1),
        **{f"user:{name}": 2 for name in names},
        **{f"app:{name}": 3 for name in names},
    }


# ---- state


SCOPES = {
    **TYPED,
    **{f"app:{key}": value for key, value in TYPED.items()},
    **{f"user:{key}": value for key, value in TYPED.items()},
}


def same_types(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def test_state_of_every_scope_keeps_its_types(service: StrandlineSessionService) -> None:
    assert same_types(create(service, state=SCOPES).state, SCOPES)
    assert same_types(get(service).state, SCOPES)
    again = create(service, "by events")
    append(service, again, changing(**SCOPES))
    assert same_types(get(service, "by events").state, SCOPES)
    assert same_types(run(service.get_user_state(**of())), TYPED)
    assert run(service.get_user_state(**of("bob"))) == {}


def test_scopes_reach_as_far_as_they_say(service: StrandlineSessionService) -> None:
    create(service, "s1", state={"x": 1, "user:x": 2, "app:x": 3})
    assert create(service, "s2").state == {"user:x": 2, "app:x": 3}
    assert create(service, "s1", user="bob").state == {"app:x": 3}
    assert create(service, "s1", app="other").state == {}
    append(service, get(service, "s2"), changing(**{"user:x": 4, "x": 5}))
    assert get(service, "s1").state == {"x": 1, "user:x": 4, "app:x": 3}


def test_temp_state_is_seen_and_never_stored(service: StrandlineSessionService, root: Client) -> None:
    session = create(service, state={"temp:given": "canary-0", "kept": 1})
    assert session.state == {"kept": 1}
    append(service, session, changing(**{"temp:t": "canary-1", "user:u": 1, "s": 2}))
    assert session.state["temp:t"] == "canary-1"
    assert "temp:t" not in session.events[-1].actions.state_delta
    append(service, session, event("later"))
    assert get(service).state == {"kept": 1, "user:u": 1, "s": 2}
    user = root.acting_for("adk!shop!ana")
    everything = json.dumps([user.session("s"), stored(root), list(user.memories(full=True))])
    assert "canary" not in everything
    # what is shared stands in one place only
    assert "user:" not in json.dumps(user.session("s").get("metadata"))


def test_a_large_state_to_begin_with(service: StrandlineSessionService) -> None:
    state = {"text": "x" * 40_000, "user:n": 1}
    assert create(service, state=state).state == state
    append(service, get(service), changing(n=2))
    found = get(service)
    assert (found.state, len(found.events)) == ({**state, "n": 2}, 1)


def test_a_state_that_somebody_reads_in_the_bucket(service: StrandlineSessionService, root: Client) -> None:
    create(service, state={"user:language": "pt", "app:motto": "Ahoy"})
    page = root.acting_for("adk!shop!ana").memory("adk/state.md")["content"]
    assert page == '# State\n\n\n```json\n{\n  "language": "pt"\n}\n```\n'
    assert '  "motto": "Ahoy"' in root.acting_for("adk!shop").memory("adk/state.md")["content"]


# ---- sessions


def test_a_session_that_is_there_is_not_made_again(service: StrandlineSessionService) -> None:
    append(service, create(service, state={"x": 1, "user:x": 1}), event("1"))
    with pytest.raises(AlreadyExistsError):
        create(service, state={"x": 2, "user:x": 2})
    with pytest.raises(AlreadyExistsError):
        create(service, "  s ")
    found = get(service)
    assert (texts(found.events), found.state) == (["1"], {"x": 1, "user:x": 1})


@pytest.mark.parametrize("blank", [None, "", "  \t"])
def test_a_session_without_an_id_gets_one(service: StrandlineSessionService, blank: str | None) -> None:
    first, second = create(service, blank), create(service, blank)
    assert first.id != second.id
    assert len(first.id) == 36


def test_a_deleted_session_is_gone_and_takes_no_more(service: StrandlineSessionService, root: Client) -> None:
    session = create(service, state={"user:kept": 1, "gone": 1})
    append(service, session, event("1"))
    run(service.delete_session(**of(), session_id="s"))
    run(service.delete_session(**of(), session_id="s"))
    assert get(service) is None
    with pytest.raises(SessionNotFoundError):
        append(service, session, event("2"))
    with pytest.raises(ApiError, match="NOT_FOUND"):
        stored(root)
    again = create(service)
    assert (again.events, again.state) == ([], {"user:kept": 1})


def test_what_never_was_is_none(service: StrandlineSessionService) -> None:
    assert get(service) is None
    assert run(service.list_sessions(**of())).sessions == []
    with pytest.raises(SessionNotFoundError):
        append(service, Session(id="s", **of()), event("1"))


def test_a_session_of_another_kind_is_none_of_adk(service: StrandlineSessionService, root: Client) -> None:
    root.acting_for("adk!shop!ana").append("s", {"role": "user", "content": "by HTTP"})
    assert get(service) is None
    assert run(service.list_sessions(**of())).sessions == []


def test_sessions_are_listed_by_their_last_use(service: StrandlineSessionService) -> None:
    sessions = [create(service, name) for name in ("s1", "s2", "s3")]
    create(service, "s4", user="bob")
    create(service, "s5", app="other")
    append(service, sessions[0], event("1", at=AT))
    mine = run(service.list_sessions(**of())).sessions
    assert [(s.id, s.events) for s in mine] == [("s2", []), ("s3", []), ("s1", [])]
    everybody = run(service.list_sessions(app_name="shop")).sessions
    assert [(s.user_id, s.id) for s in everybody] == [
        ("ana", "s2"),
        ("ana", "s3"),
        ("bob", "s4"),
        ("ana", "s1"),
    ]
    assert run(service.list_sessions(app_name="nothing")).sessions == []


TENANTS = [
    ("a", "b:c", "d"),
    ("a:b", "c", "d"),
    ("a!b", "c", "d"),
    ("a", "b!c", "d"),
    ("a", "*", "d"),
    ("a/b", "c", "d/e"),
    ("a", "b/c", "d%2Fe"),
    ("A", "user", "s"),
    ("a", "User", "s"),
    ("应用", "用户", "会话"),
    ("应用", "用户甲", "会话"),
    ("x" * 200, "y" * 200, "z" * 200),
    ("x" * 200, "y" * 201, "z" * 200),
]


def test_tenants_of_any_name_are_apart(service: StrandlineSessionService) -> None:
    for app, user, name in TENANTS:
        session = create(service, name, {"user:of": [app, user]}, app=app, user=user)
        append(service, session, event(f"{app} {user} {name}"))
    for app, user, name in TENANTS:
        found = get(service, name, app=app, user=user)
        assert texts(found.events) == [f"{app} {user} {name}"]
        assert found.state == {"user:of": [app, user]}
        (listed,) = run(service.list_sessions(app_name=app, user_id=user)).sessions
        assert (listed.app_name, listed.user_id, listed.id) == (app, user, name)
    assert len(run(service.list_sessions(app_name="a")).sessions) == 5


def test_a_users_key_cannot_stand_for_all_users(connect: Connect, root: Client) -> None:
    account = f"acct-{uuid4().hex[:12]}"
    admin = connect(account=account, user="nobody")
    made = admin._write("POST", f"/admin/accounts/{account}/users", {"user_id": "ana"})
    service = StrandlineSessionService(connect(made["user_key"]))
    with pytest.raises(PermissionError, match="admin"):
        create(service)


def test_sessions_are_created_with_the_settings(root: Client) -> None:
    service = StrandlineSessionService(root, {"auto_commit_policy": {"message_count_threshold": 7}})
    create(service)
    policy = root.acting_for("adk!shop!ana").session("s").get("auto_commit_policy") or {}
    assert policy["message_count_threshold"] == 7


# ---- memory


def found(memory: StrandlineMemoryService, query: str, **whose: str) -> list[str]:
    answer = run(memory.search_memory(**of(**whose), query=query))
    return [entry.content.parts[0].text for entry in answer.memories]


def test_a_session_is_remembered(service: StrandlineSessionService, root: Client) -> None:
    memory = StrandlineMemoryService(root, wait=60)
    session = create(service, state={"user:city": "Oslo in the state"})
    append(service, session, event("I moved to Oslo in 2023.", at=AT))
    run(memory.add_session_to_memory(get(service)))
    answer = run(memory.search_memory(**of(), query="Oslo")).memories
    assert [entry.content.parts[0].text for entry in answer] == ["The user moved to Oslo in 2023."]
    assert (answer[0].timestamp, answer[0].author) == ("2023-11-14T22:13:20.000Z", "memory")
    run(memory.add_session_to_memory(get(service)))
    append(service, session, event("My dog is called Rex.", at=AT + 1))
    run(memory.add_session_to_memory(get(service, config=GetSessionConfig(num_recent_events=1))))
    assert found(memory, "Oslo") == ["The user moved to Oslo in 2023."]
    assert any("Rex" in text for text in found(memory, "dog"))
    assert len(stored(root)) == 2


def test_memories_are_of_one_user_of_one_app(service: StrandlineSessionService, root: Client) -> None:
    memory = StrandlineMemoryService(root, wait=60)
    append(service, create(service), event("I moved to Oslo in 2023."))
    run(memory.add_session_to_memory(get(service)))
    assert found(memory, "Oslo") != []
    assert (found(memory, "Oslo", user="bob"), found(memory, "Oslo", app="other")) == ([], [])
    assert found(memory, " ") == []


def test_a_session_that_another_service_keeps_is_remembered(root: Client) -> None:
    elsewhere = InMemorySessionService()
    memory = StrandlineMemoryService(root, wait=60)
    session = create(elsewhere)
    append(elsewhere, session, event("I moved to Oslo in 2023."))
    for _ in range(2):
        run(memory.add_session_to_memory(session))
    assert found(memory, "Oslo") == ["The user moved to Oslo in 2023."]
    assert len(stored(root, "memory!s")) == 1
    assert run(StrandlineSessionService(root).list_sessions(**of())).sessions == []


def test_events_and_notes_are_remembered(root: Client) -> None:
    memory = StrandlineMemoryService(root, wait=60)
    run(memory.add_events_to_memory(**of(), events=[event("I moved to Oslo in 2023.")]))
    note = MemoryEntry(content=types.Content(parts=[types.Part(text="The boat lies in Bergen.")]))
    run(memory.add_memory(**of(), memories=[note, note]))
    assert found(memory, "Oslo") == ["The user moved to Oslo in 2023."]
    assert "The boat lies in Bergen." in found(memory, "boat Bergen")


# ---- with the Runner


class Script(BaseLlm):
    """Answers what it is told to, a text or a function call, and remembers what it was asked."""

    answers: list[Any] = []
    asked: list[Any] = []

    async def generate_content_async(
        self, llm_request: Any, stream: bool = False
    ) -> AsyncIterator[LlmResponse]:
        self.asked.append(
            [
                (c.role, [p.text or bool(p.function_call or p.function_response) for p in c.parts])
                for c in llm_request.contents
            ]
        )
        answer = self.answers.pop(0)
        part = types.Part(text=answer) if isinstance(answer, str) else types.Part(function_call=answer)
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def boats(colour: str, tool_context: Any) -> str:
    """Counts boats."""
    tool_context.state["asked"] = tool_context.state.get("asked", 0) + 1
    tool_context.state["user:colour"] = colour
    tool_context.state["temp:secret"] = "canary"
    return f"one {colour} boat"


def talked(service: Any, *, restart: Callable[[], Any]) -> Any:
    """Two turns, the second by a service that is made anew."""

    async def turn(sessions: Any, script: Script, text: str) -> list[str]:
        agent = Agent(name="skipper", model=script, tools=[boats], output_key="last")
        runner = Runner(app_name="shop", agent=agent, session_service=sessions)
        said = types.Content(role="user", parts=[types.Part(text=text)])
        events = [e async for e in runner.run_async(user_id="ana", session_id="s", new_message=said)]
        return texts(events)[-1:]

    create(service)
    call = types.FunctionCall(id="c1", name="boats", args={"colour": "green"})
    first = Script(model="script", answers=[call, "There is one."], asked=[])
    second = Script(model="script", answers=["You asked for green boats."], asked=[])
    said = run(turn(service, first, "Any green boats?"))
    said += run(turn(restart(), second, "What did I ask?"))
    held = get(restart())
    shape = [(e.author, [p.text or bool(p.function_call) for p in e.content.parts]) for e in held.events]
    return said, first.asked, second.asked, shape, held.state


def test_a_run_is_as_with_the_frameworks_own_service(root: Client) -> None:
    ours = talked(StrandlineSessionService(root), restart=lambda: StrandlineSessionService(root))
    own = InMemorySessionService()
    assert ours == talked(own, restart=lambda: own)
    said, _, asked, shape, state = ours
    assert said == ["There is one.", "You asked for green boats."]
    assert len(asked[0]) == 5
    assert [author for author, _ in shape] == ["user", "skipper", "skipper", "skipper", "user", "skipper"]
    assert state == {"asked": 1, "user:colour": "green", "last": "You asked for green boats."}
    assert "canary" not in json.dumps(stored(root))


def test_an_agent_loads_what_was_said_in_another_session(
    service: StrandlineSessionService, root: Client
) -> None:
    memory = StrandlineMemoryService(root, wait=60)
    append(service, create(service, "before"), event("I moved to Oslo in 2023."))
    run(memory.add_session_to_memory(get(service, "before")))
    create(service)
    call = types.FunctionCall(id="c1", name="load_memory", args={"query": "Oslo"})
    script = Script(model="script", answers=[call, "In Oslo."], asked=[])

    async def ask() -> list[Any]:
        agent = Agent(name="skipper", model=script, tools=[load_memory])
        runner = Runner(app_name="shop", agent=agent, session_service=service, memory_service=memory)
        said = types.Content(role="user", parts=[types.Part(text="Where do I live?")])
        return [e async for e in runner.run_async(user_id="ana", session_id="s", new_message=said)]

    answered = [e.get_function_responses() for e in run(ask())]
    (response,) = [each for responses in answered for each in responses]
    assert "The user moved to Oslo in 2023." in str(response.response)
