"""Sessions of the OpenAI Agents SDK, with its own Runner and a model that follows a script."""

import asyncio
from typing import Any

import pytest

from strandline_sdk import ApiError, Client

agents = pytest.importorskip("agents", reason="`make frameworks` has the frameworks' packages")

from agents.items import ModelResponse  # noqa: E402
from agents.memory import SessionSettings, SQLiteSession  # noqa: E402
from agents.models.interface import Model  # noqa: E402
from agents.usage import Usage  # noqa: E402
from openai.types.responses import (  # noqa: E402
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseReasoningItem,
)
from openai.types.responses.response_reasoning_item import Summary  # noqa: E402

from strandline_sdk.frameworks.openai_agents import StrandlineSession  # noqa: E402

ITEMS: list[Any] = [
    {"role": "user", "content": "I moved to Oslo last week. 我住在奥斯陆 🌊"},
    {
        "type": "message",
        "role": "user",
        "content": [
            {"type": "input_text", "text": "What is this?"},
            {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "auto"},
        ],
    },
    {"role": "developer", "content": "Be brief."},
    {
        "id": "rs_1",
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": "The user wants the weather."}],
        "encrypted_content": "gAAAAABo" + "x9Z_-" * 40,
        "status": None,
    },
    {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": "weather",
        "arguments": '{"city": "Oslo", "days": 1.0}',
        "status": "completed",
        "provider_data": {"model": "gemini", "thought_signature": "QWJjZGVmZ2hpamtsbW5vcA=="},
    },
    {"type": "function_call_output", "call_id": "call_1", "output": '{"sky": "rain"}'},
    {
        "type": "function_call_output",
        "call_id": "call_2",
        "output": [
            {"type": "input_text", "text": "two"},
            {"type": "input_image", "image_url": "https://x/y.png"},
        ],
    },
    {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "query": "Oslo rain"},
    },
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "Rain.", "annotations": [], "logprobs": []}],
    },
    {"type": "of_the_future", "payload": {"a": [1, 2.5, None, True]}},
]


def run(made: Any) -> Any:
    return asyncio.run(made)


def texts(items: list[Any]) -> list[str]:
    return [item["content"] for item in items]


def users(*said: str) -> list[Any]:
    return [{"role": "user", "content": text} for text in said]


def test_items_come_back_as_they_were(client: Client) -> None:
    run(StrandlineSession("chat", client).add_items(ITEMS))
    assert run(StrandlineSession("chat", client).get_items()) == ITEMS


def test_what_was_said_is_what_the_messages_say(client: Client) -> None:
    run(StrandlineSession("chat", client).add_items(ITEMS))
    said = [(message["role"], message.get("parts", [])) for message in client.messages("chat")]
    asked = {"type": "tool", "tool_id": "call_1", "tool_name": "weather", "tool_status": "pending"}
    told = {"type": "tool", "tool_name": "", "tool_status": "completed"}
    assert said == [
        ("user", [{"type": "text", "text": "I moved to Oslo last week. 我住在奥斯陆 🌊"}]),
        ("user", [{"type": "text", "text": "What is this?"}, {"type": "text", "text": "[image]"}]),
        ("system", [{"type": "text", "text": "Be brief."}]),
        ("assistant", []),
        ("assistant", [{**asked, "tool_input": {"city": "Oslo", "days": 1.0}}]),
        ("tool", [{**told, "tool_id": "call_1", "tool_output": '{"sky": "rain"}'}]),
        ("tool", [{**told, "tool_id": "call_2", "tool_output": "two\n[image]"}]),
        ("assistant", [{**told, "tool_id": "ws_1", "tool_name": "web_search_call", "tool_output": ""}]),
        ("assistant", [{"type": "text", "text": "Rain."}]),
        ("assistant", []),
    ]


def test_a_limit_gives_the_newest_in_order(client: Client) -> None:
    session = StrandlineSession("chat", client)
    run(session.add_items(users("1", "2", "3")))
    assert texts(run(session.get_items(2))) == ["2", "3"]
    assert texts(run(session.get_items(9))) == ["1", "2", "3"]
    assert run(session.get_items(0)) == []
    bounded = StrandlineSession("chat", client, settings=SessionSettings(limit=1))
    assert texts(run(bounded.get_items())) == ["3"]
    assert texts(run(bounded.get_items(2))) == ["2", "3"]


def test_a_long_session_is_read_whole(client: Client) -> None:
    session = StrandlineSession("chat", client)
    said = [str(n) for n in range(1234)]
    run(session.add_items(users(*said)))
    client.commit("chat", keep_recent_count=5)
    assert texts(run(session.get_items())) == said
    assert texts(run(session.get_items(1100))) == said[-1100:]


def test_the_newest_item_is_popped_and_hidden_not_lost(client: Client) -> None:
    session = StrandlineSession("chat", client)
    run(session.add_items(users("1", "2", "3")))
    assert run(session.pop_item()) == {"role": "user", "content": "3"}
    assert run(session.pop_item()) == {"role": "user", "content": "2"}
    run(session.add_items(users("4")))
    assert texts(run(session.get_items())) == ["1", "4"]
    assert texts(run(session.get_items(2))) == ["1", "4"]
    assert [run(session.pop_item())["content"], run(session.pop_item())["content"]] == ["4", "1"]
    assert run(session.pop_item()) is None
    said = [m["parts"][0]["text"] for m in client.messages("chat") if m["role"] == "user"]
    assert said == ["1", "2", "3", "4"]


def test_what_is_not_there_is_empty(client: Client) -> None:
    session = StrandlineSession("chat", client)
    assert run(session.get_items()) == []
    assert run(session.pop_item()) is None
    run(session.clear_session())
    run(session.add_items([]))
    assert run(session.get_items()) == []
    assert list(client.sessions()) == []


def test_of_two_that_pop_at_once_each_gets_another(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    session = StrandlineSession("chat", client)
    run(session.add_items(users("1", "2", "3")))
    append, meanwhile = client.append, []

    def late(*args: Any, **kwargs: Any) -> Any:
        """Another pops, and a third one speaks, between what this one has read and what it writes."""
        monkeypatch.undo()
        meanwhile.append(run(StrandlineSession("chat", client).pop_item()))
        run(StrandlineSession("chat", client).add_items(users("4")))
        return append(*args, **kwargs)

    monkeypatch.setattr(client, "append", late)
    popped = [run(session.pop_item()), *meanwhile, run(session.pop_item())]
    assert texts(popped) == ["4", "3", "2"]
    assert texts(run(session.get_items())) == ["1"]


def test_two_handles_lose_nothing_of_each_other(client: Client) -> None:
    one, other = StrandlineSession("chat", client), StrandlineSession("chat", client)
    run(one.add_items(users("a")))
    run(other.add_items(users("b")))
    run(one.add_items(users("c")))
    assert texts(run(other.get_items())) == ["a", "b", "c"]


def test_a_view_of_the_newest_is_never_written_back(client: Client) -> None:
    session = StrandlineSession("chat", client, settings=SessionSettings(limit=1))
    run(session.add_items(users("1", "2", "3")))
    run(session.get_items())
    run(session.add_items(users("4")))
    assert len(list(client.messages("chat"))) == 4


def test_a_cleared_session_begins_anew(client: Client) -> None:
    session = StrandlineSession("chat", client)
    run(session.add_items(users("1", "2")))
    run(session.pop_item())
    run(session.clear_session())
    with pytest.raises(ApiError, match="NOT_FOUND"):
        client.session("chat")
    run(session.add_items(users("3", "4")))
    assert texts(run(session.get_items())) == ["3", "4"]


def test_equal_items_and_equal_ids_are_items_of_their_own(client: Client) -> None:
    twice: list[Any] = [{"id": "__fake_id__", "role": "assistant", "type": "message", "content": []}] * 2
    session = StrandlineSession("chat", client)
    run(session.add_items(twice))
    run(session.add_items(twice))
    assert len(run(session.get_items())) == 4


NAMES = [
    "a/b",
    "a%2Fb",
    "a?b",
    "~a~2f~b",
    "..",
    "",
    "用户/甲",
    "用户",
    "A",
    "a",
    "x" * 300,
    "x" * 301,
    "\n",
    "a:b#c",
]


def test_sessions_of_any_name_are_apart(client: Client) -> None:
    for name in NAMES:
        run(StrandlineSession(name, client).add_items(users(f"of {name}")))
    assert [texts(run(StrandlineSession(name, client).get_items())) for name in NAMES] == [
        [f"of {name}"] for name in NAMES
    ]


def test_what_others_say_in_the_session_is_no_item(client: Client) -> None:
    client.append("chat", {"role": "user", "content": "by HTTP"})
    session = StrandlineSession("chat", client)
    run(session.add_items(users("by the SDK")))
    client.append("chat", {"role": "user", "content": "by HTTP again"})
    assert texts(run(session.get_items(1))) == ["by the SDK"]
    assert run(session.pop_item()) == {"role": "user", "content": "by the SDK"}


def test_a_secret_is_taken_out_as_everywhere(client: Client) -> None:
    session = StrandlineSession("chat", client)
    run(session.add_items(users("my password is hunter2")))
    assert texts(run(session.get_items())) == ["my password is [redacted:password]"]


def test_memories_are_made_of_it(client: Client) -> None:
    run(StrandlineSession("chat", client).add_items(users("I moved to Oslo last week.")))
    task = client.commit("chat")["task_id"]
    assert task
    client.wait_for_task(task, timeout=60)
    assert [hit["uri"].rpartition("/")[2] for hit in client.find("Oslo", limit=1)["memories"]] == [
        "profile.md"
    ]


class Script(Model):
    """Answers what it is told to, and remembers what it was asked."""

    def __init__(self, *answers: list[Any]) -> None:
        self.answers = list(answers)
        self.asked: list[list[Any]] = []

    async def get_response(self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
        self.asked.append(list(input))
        return ModelResponse(output=self.answers.pop(0), usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError


def says(name: str, text: str) -> Any:
    part = ResponseOutputText(type="output_text", text=text, annotations=[])
    return ResponseOutputMessage(
        id=name, type="message", role="assistant", status="completed", content=[part]
    )


SCRIPT = (
    [
        ResponseReasoningItem(
            id="rs",
            type="reasoning",
            summary=[Summary(text="hm", type="summary_text")],
            encrypted_content="gAAB",
        ),
        ResponseFunctionToolCall(
            type="function_call", call_id="c1", name="boats", arguments='{"colour": "green"}'
        ),
    ],
    [says("m1", "There is one.")],
    [says("m2", "You asked for green boats.")],
)


@agents.function_tool
def boats(colour: str) -> str:
    """Counts boats."""
    return f"one {colour} boat"


def talked(session: Any) -> tuple[list[Any], list[list[Any]]]:
    """What the session holds after two turns of a real run, and what the model was asked."""
    script = Script(*SCRIPT)
    agent = agents.Agent(name="skipper", instructions="Help.", model=script, tools=[boats])

    async def turns() -> list[Any]:
        await agents.Runner.run(agent, "Any green boats?", session=session)
        result = await agents.Runner.run(agent, "What did I ask?", session=session)
        assert result.final_output == "You asked for green boats."
        return list(await session.get_items())

    return run(turns()), script.asked


def test_a_run_is_as_with_the_frameworks_own_session(client: Client) -> None:
    held, asked = talked(StrandlineSession("chat", client))
    assert (held, asked) == talked(SQLiteSession("chat"))
    assert [item.get("type") or item["role"] for item in held] == [
        "user",
        "reasoning",
        "function_call",
        "function_call_output",
        "message",
        "user",
        "message",
    ]
    assert held[3]["output"] == "one green boat"
