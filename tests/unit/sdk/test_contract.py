"""What the client asks for is what the API describes: every route, query parameter and body field."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from strandline_sdk import Client

OPENAPI = json.loads((Path(__file__).parents[3] / "infra" / "openapi.json").read_text())
MESSAGE: Any = {
    "role": "user",
    "content": "x",
    "id": "m",
    "peer_id": "p",
    "created_at": "2024-03-02T09:30:00Z",
}
# Described by API.md, not by the service yet.
TO_COME = ("/journal", "/tool-results")
CALLS: dict[str, Callable[[Client], object]] = {
    "create_session": lambda c: c.create_session("a", auto_commit_policy=None, memory_policy=None, metadata={}),
    "acting_user": lambda c: c.acting_user(),
    "session": lambda c: c.session("a"),
    "sessions": lambda c: list(c.sessions()),
    "delete_session": lambda c: c.delete_session("a"),
    "append": lambda c: c.append("a", MESSAGE, expected_last_seq=0),
    "append_batch": lambda c: c.append_batch("a", [MESSAGE]),
    "messages": lambda c: list(c.messages("a")),
    "last_messages": lambda c: c.last_messages("a", 3),
    "newest_messages": lambda c: list(c.newest_messages("a", page_size=2)),
    "commit": lambda c: c.commit("a", keep_recent_count=2),
    "context": lambda c: c.context("a", token_budget=100),
    "build_context": lambda c: c.build_context("a", query="x"),
    "used": lambda c: c.used("a", ["viking://x"], skill="s"),
    "archives": lambda c: c.archives("a"),
    "archive": lambda c: c.archive("a", "archive_001"),
    "diff": lambda c: c.diff("viking://x"),
    "tool_results": lambda c: list(c.tool_results("a")),
    "tool_result": lambda c: c.tool_result("a", "t", offset=1, limit=2),
    "search_tool_result": lambda c: c.search_tool_result("a", "t", "x", limit=2, context_chars=9),
    "tasks": lambda c: list(c.tasks(task_type="t", status="failed", resource_id="a")),
    "task": lambda c: c.task("t"),
    "retry_task": lambda c: c.retry_task("t"),
    "cancel_task": lambda c: c.cancel_task("t"),
    "memories": lambda c: list(c.memories("p", memory_type="events", as_of="2026-01-01T00:00:00Z", full=True)),
    "memory": lambda c: c.memory("a/b.md", as_of="2026-01-01T00:00:00Z", version=1),
    "memory_history": lambda c: list(c.memory_history("a/b.md")),
    "memory_blame": lambda c: list(c.memory_blame("a/b.md")),
    "begin_rebuild": lambda c: c.begin_rebuild(again=True, session_id="a"),
    "begin_scrub": lambda c: c.begin_scrub(session_id="a", dry_run=True),
    "scrub": lambda c: c.scrub("s"),
    "preview_extraction": lambda c: c.preview_extraction("a"),
    "rebuild": lambda c: c.rebuild("r"),
    "continue_rebuild": lambda c: c.continue_rebuild("r"),
    "promote_rebuild": lambda c: c.promote_rebuild("r", dry_run=True),
    "rollback_memory": lambda c: c.rollback_memory("a/b.md", 1, dry_run=True, if_match="x"),
    "rollback_session": lambda c: c.rollback_session("a", dry_run=True),
    "rollback_since": lambda c: c.rollback_since("2026-01-01T00:00:00Z", dry_run=True),
    "memory_file": lambda c: c.memory_file("viking://x"),
    "put_memory": lambda c: c.put_memory("a/b.md", "x", ttl_seconds=60, expires_at=None),
    "save_topic": lambda c: c.save_topic("a", "x", name="n", description="d", memory_type="user", summary="s"),
    "remember": lambda c: c.remember("x", ttl_seconds=60),
    "topics": lambda c: c.topics(),
    "recall": lambda c: c.recall("x", max_tokens=9),
    "memory_tool": lambda c: c.memory_tool("view", path="/memories", view_range=[1, 2]),
    "delete_memory": lambda c: c.delete_memory("a/b.md"),
    "find": lambda c: c.find(
        "x", target_uri="viking://x", limit=3, score_threshold=0.1, filter={}, since="1d", until="1d",
        session_id="a", context_type="message", explain=True, read_content=True,
    ),
    "journal": lambda c: list(c.journal(after="1")),
    "health": lambda c: c.health(),
    "register_user": lambda c: c.register_user("acme", "mia", role="user"),
    "add_key": lambda c: c.add_key("acme", "mia", expires_at="2027-01-01T00:00:00Z", reads_only=True),
    "remove_user": lambda c: c.remove_user("acme", "mia"),
    "erase_user": lambda c: c.erase_user("mia"),
}  # fmt: skip


def asked(call: Callable[[Client], object]) -> httpx.Request:
    """The request of a call."""
    found: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        found.append(request)
        one = {"versions": [], "lines": [], "changed": [], "conflicts": [], "uri": ""}
        pages = ("/history", "/blame", "/rollback", "/promote", "/fs/stat")
        text = "{}" if request.url.path.endswith("/content/read") else []
        result = one if request.url.path.endswith(pages) else text
        return httpx.Response(200, json={"status": "ok", "result": result})

    call(Client("http://test", "k", transport=httpx.MockTransport(answer)))
    return found[0]


def resolved(node: Any) -> Any:
    """The node, or what it points to."""
    if isinstance(node, dict) and "$ref" in node:
        target: Any = OPENAPI
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        return resolved(target)
    return node


def described(request: httpx.Request) -> dict[str, Any] | None:
    """What the API says of a request's route."""
    for template, operations in OPENAPI["paths"].items():
        pattern = re.sub(r"\{path\}", r".+\.md", template)
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", pattern), request.url.path):
            found: dict[str, Any] | None = operations.get(request.method.lower())
            if found:
                return found
    return None


def fields(schema: Any) -> set[str]:
    """The fields that a body may have, of all its alternatives."""
    schema = resolved(schema)
    inner = [*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())]
    return set(schema.get("properties", ())).union(*map(fields, inner))


def test_every_public_method_is_held_against_the_api() -> None:
    others = {
        "acting_for",
        "close",
        "wait_for_task",
        "wait_for_tasks",
        "wait_for_archives",
        "wait_for_rebuild",
        "wait_for_scrub",
    }
    methods = {name for kind in Client.__mro__[:-1] for name in vars(kind) if not name.startswith("_")}
    callables = {name for name in methods if callable(getattr(Client, name))} - {"sleep"}
    assert callables - others == set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_a_request_is_one_that_the_api_describes(name: str) -> None:
    request = asked(CALLS[name])
    route = described(request)
    if route is None:
        assert any(mark in request.url.path for mark in TO_COME), request.url.path
        return
    known = {resolved(parameter)["name"] for parameter in route.get("parameters", ())}
    assert set(request.url.params) <= known
    if request.content not in (b"", b"{}"):
        content = route["requestBody"]["content"]["application/json"]
        assert set(json.loads(request.content)) <= fields(content["schema"])
