"""Sessions of Strands, with its own RepositorySessionManager, a real Agent and a model that follows a script."""

import copy
from collections.abc import AsyncIterator
from typing import Any

import pytest

from strandline_sdk import ApiError, Client

strands = pytest.importorskip("strands", reason="`make frameworks` has the frameworks' packages")

from strands.agent.conversation_manager import SlidingWindowConversationManager  # noqa: E402
from strands.models import Model  # noqa: E402
from strands.multiagent import GraphBuilder  # noqa: E402
from strands.session.file_session_manager import FileSessionManager  # noqa: E402
from strands.session.repository_session_manager import RepositorySessionManager  # noqa: E402
from strands.types.exceptions import SessionException  # noqa: E402
from strands.types.session import Session, SessionAgent, SessionMessage, SessionType  # noqa: E402

from strandline_sdk.frameworks.strands import StrandlineRepository  # noqa: E402

MESSAGES: list[Any] = [
    {"role": "user", "content": [{"text": "I moved to Oslo. 我住在奥斯陆 🌊"}]},
    {
        "role": "assistant",
        "content": [
            {"reasoningContent": {"reasoningText": {"text": "Think.", "signature": "EqoBCkgIARAB" * 9}}},
            {"text": "Let me look."},
            {"toolUse": {"toolUseId": "t1", "name": "rain", "input": {"city": "Oslo", "days": 1.0}}},
            {"toolUse": {"toolUseId": "t2", "name": "wind", "input": {}}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"toolResult": {"toolUseId": "t1", "status": "success", "content": [{"json": {"mm": 2}}]}},
            {"toolResult": {"toolUseId": "t2", "status": "error", "content": [{"text": "no wind"}]}},
        ],
    },
    {"role": "user", "content": [{"image": {"format": "png", "source": {"bytes": b"\x00\xff\xfe"}}}]},
]


def agent_of(name: str, **state: Any) -> SessionAgent:
    return SessionAgent(agent_id=name, state=state, conversation_manager_state={}, _internal_state={})


@pytest.fixture
def repository(client: Client) -> StrandlineRepository:
    """One with a session `chat` of one agent `a`."""
    made = StrandlineRepository(client)
    made.create_session(Session(session_id="chat", session_type=SessionType.AGENT))
    made.create_agent("chat", agent_of("a", seen=0))
    return made


def put(repository: StrandlineRepository, *messages: Any, agent: str = "a") -> None:
    for number, message in enumerate(messages):
        repository.create_message("chat", agent, SessionMessage.from_message(copy.deepcopy(message), number))


def said(*texts: str) -> list[Any]:
    return [{"role": "user", "content": [{"text": text}]} for text in texts]


def texts(messages: list[SessionMessage]) -> list[str]:
    return [message.to_message()["content"][0]["text"] for message in messages]


# ---- sessions and agents


def test_a_session_is_found_again(client: Client) -> None:
    repository = StrandlineRepository(client)
    assert repository.read_session("chat") is None
    made = repository.create_session(Session(session_id="chat", session_type=SessionType.AGENT))
    assert repository.read_session("chat") == made


def test_a_session_that_is_there_is_not_made_again(repository: StrandlineRepository) -> None:
    put(repository, *said("1"))
    with pytest.raises(SessionException, match="already exists"):
        repository.create_session(Session(session_id="chat", session_type=SessionType.AGENT))
    assert texts(repository.list_messages("chat", "a")) == ["1"]


def test_a_session_that_was_made_otherwise_keeps_its_policy(client: Client) -> None:
    client.create_session("chat", auto_commit_policy={})
    found = StrandlineRepository(client).read_session("chat")
    assert found is not None
    assert (found.session_id, found.session_type) == ("chat", SessionType.AGENT)


def test_sessions_are_created_with_the_settings(client: Client) -> None:
    repository = StrandlineRepository(client, {"auto_commit_policy": {"message_count_threshold": 7}})
    repository.create_session(Session(session_id="chat", session_type=SessionType.AGENT))
    policy = client.session("chat").get("auto_commit_policy") or {}
    assert policy["message_count_threshold"] == 7


def test_a_deleted_session_is_gone_with_all_that_was_in_it(repository: StrandlineRepository) -> None:
    put(repository, *said("1"))
    repository.delete_session("chat")
    assert repository.read_session("chat") is None
    repository.create_session(Session(session_id="chat", session_type=SessionType.AGENT))
    assert repository.read_agent("chat", "a") is None
    assert repository.list_messages("chat", "a") == []


def test_nothing_is_put_into_a_session_that_is_gone(repository: StrandlineRepository, client: Client) -> None:
    repository.delete_session("chat")
    (message,) = said("1")
    with pytest.raises(SessionException, match="does not exist"):
        put(repository, message)
    with pytest.raises(SessionException, match="does not exist"):
        repository.create_agent("chat", agent_of("b"))
    with pytest.raises(SessionException, match="does not exist"):
        repository.list_messages("chat", "a")
    with pytest.raises(SessionException, match="does not exist"):
        repository.delete_session("chat")
    with pytest.raises(ApiError, match="NOT_FOUND"):
        client.session("chat")


def test_an_agent_is_as_it_was_last_written(repository: StrandlineRepository) -> None:
    before = repository.read_agent("chat", "a")
    assert before is not None
    later = agent_of("a", seen=1, rate=1.0, none=None, deep={"list": [1, {"x": True}]}, raw=b"\x00\xff")
    repository.create_agent("chat", agent_of("b", seen=5))
    repository.update_agent("chat", later)
    found = repository.read_agent("chat", "a")
    assert found is not None
    assert found.state == {
        "seen": 1,
        "rate": 1.0,
        "none": None,
        "deep": {"list": [1, {"x": True}]},
        "raw": b"\x00\xff",
    }
    assert (type(found.state["seen"]), type(found.state["rate"])) == (int, float)
    assert found.created_at == before.created_at
    assert repository.read_agent("chat", "c") is None
    with pytest.raises(SessionException, match="does not exist"):
        repository.update_agent("chat", agent_of("c"))


# ---- messages


def test_messages_come_back_as_they_were(repository: StrandlineRepository) -> None:
    put(repository, *MESSAGES)
    found = repository.list_messages("chat", "a")
    assert [message.to_message() for message in found] == MESSAGES
    assert [message.message_id for message in found] == [0, 1, 2, 3]
    one = repository.read_message("chat", "a", 2)
    assert one is not None
    assert one.to_message() == MESSAGES[2]
    assert repository.read_message("chat", "a", 4) is None


def test_what_was_said_is_what_the_messages_say(repository: StrandlineRepository, client: Client) -> None:
    put(repository, *MESSAGES)
    stored = list(client.messages("chat", after_seq=1))
    call = {"type": "tool", "tool_status": "pending"}
    assert [(message["role"], message["parts"]) for message in stored] == [
        ("user", [{"type": "text", "text": "I moved to Oslo. 我住在奥斯陆 🌊"}]),
        (
            "assistant",
            [
                {"type": "text", "text": "Let me look."},
                {**call, "tool_id": "t1", "tool_name": "rain", "tool_input": {"city": "Oslo", "days": 1.0}},
                {**call, "tool_id": "t2", "tool_name": "wind", "tool_input": {}},
            ],
        ),
        (
            "tool",
            [
                {
                    "type": "tool",
                    "tool_id": "t1",
                    "tool_name": "",
                    "tool_output": '{"mm": 2}',
                    "tool_status": "completed",
                },
                {
                    "type": "tool",
                    "tool_id": "t2",
                    "tool_name": "",
                    "tool_output": "no wind",
                    "tool_status": "error",
                },
            ],
        ),
        ("user", [{"type": "text", "text": "[image]"}]),
    ]


def test_a_part_of_the_messages(repository: StrandlineRepository) -> None:
    put(repository, *said("0", "1", "2", "3"))
    assert texts(repository.list_messages("chat", "a", offset=1)) == ["1", "2", "3"]
    assert texts(repository.list_messages("chat", "a", limit=2, offset=1)) == ["1", "2"]
    assert repository.list_messages("chat", "a", offset=9) == []


def test_agents_of_a_session_do_not_hear_each_other(repository: StrandlineRepository) -> None:
    put(repository, *said("of a"))
    put(repository, *said("of b", "b again"), agent="b")
    assert texts(repository.list_messages("chat", "a")) == ["of a"]
    assert texts(repository.list_messages("chat", "b")) == ["of b", "b again"]


def test_a_message_that_is_replaced_is_read_as_the_newer_one(repository: StrandlineRepository) -> None:
    put(repository, *said("0", "1", "2"))
    message = repository.read_message("chat", "a", 1)
    assert message is not None
    message.redact_message = said("[blocked]")[0]
    repository.update_message("chat", "a", message)
    assert texts(repository.list_messages("chat", "a")) == ["0", "[blocked]", "2"]
    found = repository.read_message("chat", "a", 1)
    assert found is not None
    assert (found.to_message(), found.created_at) == (said("[blocked]")[0], message.created_at)
    message.message_id = 7
    with pytest.raises(SessionException, match="does not exist"):
        repository.update_message("chat", "a", message)


def test_two_processes_lose_nothing_of_each_other(repository: StrandlineRepository, client: Client) -> None:
    other = StrandlineRepository(client)
    put(repository, *said("one says this"))
    put(other, *said("the other this, with the same number"))
    assert texts(other.list_messages("chat", "a")) == [
        "one says this",
        "the other this, with the same number",
    ]


def test_a_view_of_some_messages_is_never_written_back(repository: StrandlineRepository) -> None:
    put(repository, *said("0", "1", "2"))
    repository.list_messages("chat", "a", limit=1)
    repository.update_agent("chat", agent_of("a", seen=2))
    assert texts(repository.list_messages("chat", "a")) == ["0", "1", "2"]


def test_a_commit_takes_nothing_away(repository: StrandlineRepository, client: Client) -> None:
    put(repository, *said("0", "1", "2"))
    assert client.commit("chat")["archived"]
    put(repository, *said("3"), agent="b")
    assert texts(repository.list_messages("chat", "a")) == ["0", "1", "2"]
    assert repository.read_agent("chat", "a") is not None


# ---- with agents


class Script(Model):
    """Answers what it is told to: a text, or a tool use `(id, name, input)`; remembers what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[Any] = []

    def update_config(self, **config: Any) -> None:
        raise NotImplementedError

    def get_config(self) -> Any:
        return {}

    def structured_output(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    async def stream(self, messages: Any, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        self.asked.append([(m["role"], [next(iter(block)) for block in m["content"]]) for m in messages])
        answer = self.answers.pop(0)
        yield {"messageStart": {"role": "assistant"}}
        if isinstance(answer, str):
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": answer}}}
        else:
            name, tool, given = answer
            yield {"contentBlockStart": {"start": {"toolUse": {"toolUseId": name, "name": tool}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": given}}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn" if isinstance(answer, str) else "tool_use"}}


@strands.tool
def boats(colour: str) -> str:
    """Counts boats.

    Args:
        colour: which
    """
    return f"one {colour} boat"


def agent(manager: Any, *answers: Any, **more: Any) -> Any:
    return strands.Agent(
        model=Script(*answers),
        agent_id="skipper",
        tools=[boats],
        session_manager=manager,
        callback_handler=None,
        **more,
    )


def plain(messages: list[Any]) -> list[Any]:
    """Messages without what differs from run to run."""
    return [{"role": m["role"], "content": m["content"]} for m in messages]


def talked(manager: Any, again: Any) -> Any:
    """Two turns, the second by an agent that is made anew."""
    first = agent(manager(), ("t1", "boats", '{"colour": "green"}'), "There is one.")
    first.state.set("turns", 1)
    first("Any green boats?")
    second = agent(again(), "You asked for green boats.")
    restored = (second.state.get("turns"), plain(second.messages))
    second("What did I ask?")
    return restored, plain(second.messages), second.model.asked


def test_an_agent_goes_on_as_with_the_frameworks_own_files(client: Client, tmp_path: Any) -> None:
    def ours() -> Any:
        return RepositorySessionManager("chat", StrandlineRepository(client))

    def theirs() -> Any:
        return FileSessionManager("chat", storage_dir=str(tmp_path))

    (turns, restored), messages, asked = talked(ours, ours)
    assert ((turns, restored), messages, asked) == talked(theirs, theirs)
    assert turns == 1
    assert [m["content"][0].get("text") for m in restored] == [
        "Any green boats?",
        None,
        None,
        "There is one.",
    ]
    assert restored[2]["content"][0]["toolResult"]["content"] == [{"text": "one green boat"}]
    assert [role for role, _ in asked[0]] == ["user", "assistant", "user", "assistant", "user"]


def test_a_window_is_kept_and_the_log_whole(client: Client) -> None:
    def ours() -> Any:
        manager = RepositorySessionManager("chat", StrandlineRepository(client))
        return agent(
            manager, "a1", "a2", conversation_manager=SlidingWindowConversationManager(window_size=2)
        )

    first = ours()
    first("q1")
    first("q2")
    second = ours()
    assert [m["content"][0]["text"] for m in second.messages] == ["q2", "a2"]
    whole = StrandlineRepository(client).list_messages("chat", "skipper")
    assert texts(whole) == ["q1", "a1", "q2", "a2"]


def test_a_guardrail_replaces_the_latest_message(client: Client) -> None:
    manager = RepositorySessionManager("chat", StrandlineRepository(client))
    talking = agent(manager, "fine")
    talking("something bad")
    manager.redact_latest_message({"role": "assistant", "content": [{"text": "[blocked]"}]}, talking)
    found = StrandlineRepository(client).list_messages("chat", "skipper")
    assert texts(found) == ["something bad", "[blocked]"]


def test_a_graph_of_agents_goes_on(client: Client) -> None:
    def graph(*answers: str) -> Any:
        builder = GraphBuilder()
        builder.add_node(strands.Agent(model=Script(*answers), name="one", callback_handler=None), "one")
        builder.set_session_manager(RepositorySessionManager("chat", StrandlineRepository(client)))
        builder.set_entry_point("one")
        builder.set_max_node_executions(5)
        return builder.build()

    ran = graph("done")
    assert str(ran("go").status.value) == "completed"
    state = StrandlineRepository(client).read_multi_agent("chat", ran.id)
    assert state is not None
    assert state == ran.serialize_state()
    assert StrandlineRepository(client).read_multi_agent("chat", "another") is None
    assert graph("again").id == ran.id
