"""The official library's own client, talking to the functions: its HTTP goes through gateway and authorizer."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any, TypeVar

import httpx2
from mcp.client.client import Client as McpClient
from mcp.client.streamable_http import streamable_http_client

from tests.handlers.service import Client

T = TypeVar("T")
URL = "http://localhost/mcp"


class Gateway(httpx2.AsyncBaseTransport):
    """Requests of the library's HTTP client as requests to the service."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.seen: list[tuple[str, int]] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = await request.aread()
        headers = {**dict(request.headers), **self._client.headers}
        ask = self._client.service.request  # a function has a thread of its own, and no loop that runs
        answer = await asyncio.to_thread(ask, request.method, request.url.path, headers, body)
        self.seen.append((request.method, answer.status))
        return httpx2.Response(answer.status, headers=dict(answer.headers), content=answer.text.encode())


def talk(client: Client, work: Callable[[McpClient], Awaitable[T]], mode: str = "auto") -> T:
    """What `work` makes of a connected client of the library."""

    async def connected() -> T:
        async with AsyncExitStack() as stack:
            http = await stack.enter_async_context(httpx2.AsyncClient(transport=Gateway(client)))
            transport = streamable_http_client(URL, http_client=http)
            return await work(await stack.enter_async_context(McpClient(transport, mode=mode)))

    return asyncio.run(connected())


def call(client: Client, tool: str, mode: str = "auto", /, **arguments: Any) -> tuple[str, bool]:
    """The text that a tool answers, and whether it says that it could not."""

    async def work(mcp: McpClient) -> tuple[str, bool]:
        result = await mcp.call_tool(tool, arguments)
        (content,) = result.content
        return content.text, result.is_error  # type: ignore[union-attr]

    return talk(client, work, mode)
