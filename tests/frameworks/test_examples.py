"""The examples of docs/FRAMEWORKS.md run as they stand there."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from strandline_sdk import Client
from tests.e2e.conftest import KEY, LocalRun

PAGE = (Path(__file__).parents[2] / "docs" / "FRAMEWORKS.md").read_text()


@pytest.fixture
def mine(served: LocalRun, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """The user that the examples act as: `Client()` is one of a key of its own."""
    monkeypatch.setenv("STRANDLINE_URL", served.url)
    account = f"acct-{uuid4().hex[:12]}"
    admin = Client(served.url, KEY, account=account, user="nobody")
    made = admin._write("POST", f"/admin/accounts/{account}/users", {"user_id": "ana", "role": "admin"})
    admin.close()
    monkeypatch.setenv("STRANDLINE_KEY", made["user_key"])
    with Client(served.url, made["user_key"]) as mine:
        yield mine


def run(heading: str, model: Any, capsys: pytest.CaptureFixture[str]) -> str:
    """What the example under a heading prints."""
    section = PAGE.partition(f"\n## {heading}\n")[2]
    code = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert code
    names = {"model": model, "__name__": "example"}
    exec(compile(code[1], f"the example of {heading}", "exec"), names)
    names["client"].close()
    return capsys.readouterr().out


def test_of_the_openai_agents_sdk(mine: Client, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("agents", reason="`make frameworks` has the frameworks' packages")
    from tests.frameworks.test_openai_agents import Script, says

    printed = run("OpenAI Agents SDK", Script([says("m1", "Noted.")]), capsys)
    assert printed.startswith("Noted. [{'id': 'm1',")
    assert [message["role"] for message in mine.messages("chat")] == ["user", "assistant"]


def test_of_strands_agents(mine: Client, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("strands", reason="`make frameworks` has the frameworks' packages")
    from tests.frameworks.test_strands import Script

    assert "Noted." in run("Strands Agents", Script("Noted."), capsys)
    said = [m["parts"][0]["text"] for m in mine.messages("chat") if "parts" in m]  # type: ignore[typeddict-item]
    assert said == ["I moved to Oslo last week.", "Noted."]
    assert mine.session("chat").get("auto_commit_policy")


def test_of_langgraph(mine: Client, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("langgraph", reason="`make frameworks` has the frameworks' packages")
    assert run("LangGraph", None, capsys) == "{'found': ['Oslo']} [('users', 'ana')]\n"
    shown = re.search(r"````markdown\n(.*?)````", PAGE, re.DOTALL)
    assert shown
    assert mine.memory("langgraph/users/ana/home.md").get("content") == shown[1]


def test_of_google_adk(mine: Client, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("google.adk", reason="`make frameworks` has the frameworks' packages")
    from tests.frameworks.adk_world import Script

    printed = run("Google ADK", Script(model="script", answers=["Noted."]), capsys)
    assert "The user moved to Oslo" in printed
    assert printed.endswith("{'user:last': 'Noted.'}\n")
