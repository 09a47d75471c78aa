"""How many requests a call of a framework is: the table in docs/FRAMEWORKS.md."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from strandline_sdk import Client
from strandline_sdk.transport import Transport

Count = Callable[[Callable[[], Any]], int]
REASON = "`make frameworks` has the frameworks' packages"


@pytest.fixture
def count(monkeypatch: pytest.MonkeyPatch) -> Iterator[Count]:
    """How many requests something takes."""
    sent: list[Any] = []
    send = Transport.send

    def counted(transport: Transport, request: Any) -> Any:
        sent.append(request)
        return send(transport, request)

    monkeypatch.setattr(Transport, "send", counted)

    def of(call: Callable[[], Any]) -> int:
        sent.clear()
        made = call()
        if asyncio.iscoroutine(made):
            asyncio.run(made)
        return len(sent)

    yield of


def test_of_the_openai_agents_sdk(client: Client, count: Count) -> None:
    pytest.importorskip("agents", reason=REASON)
    from strandline_sdk.frameworks.openai_agents import StrandlineSession

    session = StrandlineSession("chat", client)
    items: list[Any] = [{"role": "user", "content": str(n)} for n in range(100)]
    assert count(lambda: session.add_items(items)) == 1
    assert count(lambda: session.get_items(10)) == 1
    assert count(session.get_items) == 1
    assert count(session.pop_item) == 3
    assert count(session.clear_session) == 1


def test_of_strands(client: Client, count: Count) -> None:
    pytest.importorskip("strands", reason=REASON)
    from strands.types.session import Session, SessionAgent, SessionMessage, SessionType

    from strandline_sdk.frameworks.strands import StrandlineRepository

    repository = StrandlineRepository(client)
    agent = SessionAgent(agent_id="a", state={}, conversation_manager_state={})
    message = SessionMessage.from_message({"role": "user", "content": [{"text": "x"}]}, 0)
    assert count(lambda: repository.create_session(Session("chat", SessionType.AGENT))) == 1
    assert count(lambda: repository.create_agent("chat", agent)) == 2
    assert count(lambda: repository.create_message("chat", "a", message)) == 2
    assert count(lambda: repository.update_agent("chat", agent)) == 2
    assert count(lambda: repository.list_messages("chat", "a")) == 2


def test_of_langgraph(client: Client, count: Count) -> None:
    pytest.importorskip("langgraph", reason=REASON)
    from strandline_sdk.frameworks.langgraph import StrandlineStore

    store = StrandlineStore(client)
    assert [count(lambda n=n: store.put(("a",), str(n), {"n": n, "text": "boat"})) for n in range(5)] == [
        1
    ] * 5  # type: ignore[misc]
    assert count(lambda: store.get(("a",), "1")) == 1
    assert count(lambda: store.search(("a",), limit=3)) == 1 + 3
    assert count(lambda: store.search(("a",), filter={"n": 3})) == 1
    assert count(lambda: store.search(("a",), query="boat", limit=3)) == 1 + 3
    assert count(store.list_namespaces) == 1
    assert count(lambda: store.delete(("a",), "1")) == 1


def test_of_adk(root: Client, count: Count) -> None:
    pytest.importorskip("google.adk", reason=REASON)
    from strandline_sdk.frameworks.adk import StrandlineMemoryService, StrandlineSessionService
    from tests.frameworks.adk_world import changing, create, event, get, of

    service = StrandlineSessionService(root)
    get(service)  # asks once as whom it acts
    assert count(lambda: service.create_session(**of(), session_id="s")) == 5
    assert count(lambda: service.create_session(**of(), state={"user:a": 1, "app:a": 1})) == 5 + 4
    session = create(service, "t")
    assert count(lambda: service.append_event(session, event("1"))) == 3
    assert count(lambda: service.append_event(session, event("2"))) == 2
    assert count(lambda: service.append_event(session, changing(**{"user:b": 2, "app:b": 2}))) == 2 + 4
    assert count(lambda: service.get_session(**of(), session_id="t")) == 4
    memory = StrandlineMemoryService(root)
    asyncio.run(memory.search_memory(**of(), query="x"))
    assert count(lambda: memory.search_memory(**of(), query="x")) == 1
