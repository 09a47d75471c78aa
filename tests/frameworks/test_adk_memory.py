"""Memory of ADK; and both services with its own Runner."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from strandline_sdk import Client

pytest.importorskip("google.adk", reason="`make frameworks` has the frameworks' packages")

from google.adk.agents import Agent
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.runners import Runner
from google.adk.sessions.base_session_service import GetSessionConfig
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.adk.tools import load_memory
from google.genai import types

from strandline_sdk.frameworks.adk import StrandlineMemoryService, StrandlineSessionService
from tests.frameworks.adk_world import AT, Script, append, create, event, get, of, run, stored, texts


@pytest.fixture
def service(root: Client) -> StrandlineSessionService:
    return StrandlineSessionService(root)


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
    run(memory.add_session_to_memory(session))
    session.events[0].custom_metadata = {"seen": True}  # as a plugin may
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
