"""The official client of the Model Context Protocol against the local run, over HTTP, in both eras of the protocol."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import TypeVar

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.e2e.conftest import KEY, LocalRun

pytestmark = pytest.mark.e2e
T = TypeVar("T")


def talk(run: LocalRun, user: str, work: Callable[[Client], Awaitable[T]], mode: str = "auto") -> T:
    headers = {"X-API-Key": KEY, "X-Strandline-Account": "agents", "X-Strandline-User": user}

    async def connected() -> T:
        async with AsyncExitStack() as stack:
            http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=60))
            transport = streamable_http_client(f"{run.url}/mcp", http_client=http)
            return await work(await stack.enter_async_context(Client(transport, mode=mode)))

    return asyncio.run(connected())


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_an_agent_remembers_and_another_user_s_does_not_see_it(local_run: LocalRun, mode: str) -> None:
    async def remember(agent: Client) -> list[str]:
        assert len((await agent.list_tools()).tools) == 12
        noted = await agent.call_tool("remember", {"content": "The boat is green.", "name": f"Boat {mode}"})
        found = await agent.call_tool("recall", {"query": "which colour has the boat?"})
        path = f"/memories/log-{mode}.md"
        made = await agent.call_tool("create", {"path": path, "file_text": "# Log\n"})
        again = await agent.call_tool("create", {"path": path, "file_text": "# Log\n"})
        assert again.is_error
        return [result.content[0].text for result in (noted, found, made)]  # type: ignore[union-attr]

    noted, found, made = talk(local_run, "mia", remember, mode)
    assert noted == f"Remembered as /memories/topics/boat-{mode}.md"
    assert "The boat is green." in found
    assert made == f"File created successfully at: /memories/log-{mode}.md"

    async def look(agent: Client) -> str:
        return (await agent.call_tool("recall", {})).content[0].text  # type: ignore[union-attr]

    assert talk(local_run, "ben", look, mode) == "There are no notes yet."
