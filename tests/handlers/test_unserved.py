"""What a client made for OpenViking may ask for and does not get: told so, in the envelope."""

import re
from pathlib import Path

import openviking_sdk
import pytest

from tests.handlers.service import Client, Service

UNSERVED = [
    ("POST", "/resources"),
    ("POST", "/resources/temp_upload"),
    ("GET", "/skills"),
    ("DELETE", "/skills/x"),
    ("PATCH", "/watches/1"),
    ("POST", "/system/wait"),
    ("GET", "/observer/queue"),
    ("POST", "/pack/export"),
    ("GET", "/snapshot/log"),
    ("PUT", "/acl"),
    ("POST", "/compile"),
    ("POST", "/content/write"),
    ("POST", "/content/reindex"),
    ("DELETE", "/fs"),
    ("POST", "/fs/mkdir"),
    ("GET", "/fs/attrs"),
    ("POST", "/search/grep"),
    ("POST", "/search/glob"),
    ("PATCH", "/sessions/s/config"),
    ("GET", "/admin/accounts/a/groups"),
    ("GET", "/admin/agent-evolution"),
]


@pytest.mark.parametrize(("method", "path"), UNSERVED)
def test_what_is_known_and_not_served(alice: Client, method: str, path: str) -> None:
    answer = alice.send(method, path, b"" if method == "GET" else b'{"uri": "viking://x"}')
    assert answer.refusal == (501, "UNIMPLEMENTED")
    assert answer.error["details"]["resource"] == path[1:]


@pytest.mark.parametrize(
    "path", ["/nowhere", "/resource", "/resourcesx", "/fsx", "/content", "/sessions/s/configs"]
)
def test_any_other_path_is_not_there(alice: Client, path: str) -> None:
    answer = alice.get(path)
    assert answer.refusal == (404, "NOT_FOUND")
    assert answer.error["details"] == {"type": "route", "resource": f"GET /api/v1{path}"}


def test_nobody_learns_it_without_a_key(service: Service) -> None:
    assert service.nobody.get("/skills").refusal == (401, "UNAUTHENTICATED")


def asked_by_the_client() -> list[tuple[str, str]]:
    """Method and path of every call in the installed package, `x` for each variable."""
    source = (Path(openviking_sdk.__file__).parent / "client.py").read_text()
    plain = re.findall(r'_request\(\s*"([A-Z]+)",\s*f?"/api/v1(/[^"]*)"', source)
    direct = re.findall(r'_http\.(get|post|put|delete)\(\s*f?"/api/v1(/[^"]*)"', source)
    calls = {(method.upper(), re.sub(r"\{\w+\}", "x", path)) for method, path in [*plain, *direct]}
    return sorted(calls)


def test_the_calls_of_the_client_are_found() -> None:
    assert len(asked_by_the_client()) > 80
    assert {("GET", "/tasks/x"), ("PUT", "/skills/x"), ("PUT", "/acl")} < set(asked_by_the_client())


@pytest.mark.parametrize(("method", "path"), asked_by_the_client())
def test_every_call_of_the_published_client_is_served_or_told_of(
    service: Service, method: str, path: str
) -> None:
    """Never "no such route"."""
    answer = service.root.send(method, path, b"" if method in ("GET", "DELETE") else b"{}")
    if answer.status == 404:
        assert answer.error["details"].get("type") != "route"
    assert answer.status != 500


def test_a_commit_that_keeps_turns_archives_nothing(alice: Client) -> None:
    alice.append("s", "hello")
    options = {"retention_mode": "turn_budget", "keep_recent_turn_count": 2}
    assert alice.commit("s", **options).refusal == (501, "UNIMPLEMENTED")
    assert alice.commit("s", dry_run=True, **options).refusal == (501, "UNIMPLEMENTED")
    assert alice.look("s").result["message_count"] == 1


def test_what_is_not_there_is_named(alice: Client) -> None:
    """The published client makes its message of these."""
    alice.create("s")
    assert alice.look("t").error["details"] == {"type": "session", "resource": "t"}
    assert alice.create("s").error["details"] == {"type": "session", "resource": "s"}
    assert alice.get("/tasks/t").error["details"] == {"type": "task", "resource": "t"}
    assert alice.memory("x.md").error["details"] == {"type": "memory", "resource": "x.md"}
    archive = alice.get("/sessions/s/archives/archive_001")
    assert archive.error["details"] == {"type": "archive", "resource": "archive_001"}
