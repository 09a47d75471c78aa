"""Whose request it is: decided before anything is read, and never by a path or a body."""

import hashlib
from typing import Any

import pytest

from strandline.ports import Ambiguous
from strandline.storage.keys import KeyOwner
from tests.handlers.service import ROOT_KEY, Client, Service
from tests.handlers.test_events import FUNCTIONS, event, samples

ROUTES = [
    name
    for name in samples("api", "append", "erase")
    if name.split("_")[1:] not in (["health"], ["openapi"], ["docs"])
]


def store_calls(service: Service) -> int:
    return len(service.world.calls.names)


@pytest.mark.parametrize("name", ROUTES)
@pytest.mark.parametrize(
    "context",
    [
        None,
        {},
        {"lambda": None},
        {"lambda": {}},
        {"lambda": {"account_id": "demo"}},
        {"lambda": {"account_id": "demo", "user_id": "mia"}},
        {"lambda": {"account_id": "", "user_id": "mia", "role": "user"}},
        {"lambda": {"account_id": "demo", "user_id": "", "role": "user"}},
        {"lambda": {"account_id": "demo", "user_id": "mia", "role": "god"}},
        {"jwt": {"claims": {"account_id": "demo", "user_id": "mia", "role": "user"}}},
    ],
)
def test_an_incomplete_context_is_401_and_reads_nothing(service: Service, name: str, context: Any) -> None:
    # B-A14
    sample = event(name)
    del sample["requestContext"]["authorizer"]
    if context is not None:
        sample["requestContext"]["authorizer"] = context
    before = store_calls(service)

    answer = service.answer(FUNCTIONS[name.partition("_")[0]], sample)

    assert answer.refusal == (401, "UNAUTHENTICATED")
    assert store_calls(service) == before


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-API-Key": ""},
        {"X-API-Key": "wrong"},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Basic eA=="},
        {"Authorization": "Bearer "},
    ],
)
@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/sessions"), ("POST", "/sessions/s/messages"), ("GET", "/memories/a.md"), ("GET", "/nonsense")],
)
def test_a_key_that_is_none_is_401(service: Service, headers: dict[str, str], method: str, path: str) -> None:
    # B-A14
    answer = Client(service, headers).send(method, path, b"" if method == "GET" else b"{}")
    assert answer.refusal == (401, "UNAUTHENTICATED")
    assert service.world.calls.since(0).keys() <= {"items.get"}  # the key was looked up, nothing else


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"role":"nobody"}'])
@pytest.mark.parametrize("path", ["/sessions", "/sessions/s/messages", "/search/find"])
def test_without_a_key_the_body_is_not_looked_at(service: Service, path: str, body: bytes) -> None:  # B-A14
    assert service.nobody.send("POST", path, body).refusal == (401, "UNAUTHENTICATED")


@pytest.mark.parametrize("name", ["X-API-Key", "x-api-key", "X-Api-Key"])
def test_a_key_in_its_own_header(service: Service, name: str) -> None:
    assert Client(service, {name: ROOT_KEY}).create("s").status == 200


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_a_key_as_a_bearer_token(service: Service, scheme: str) -> None:
    assert Client(service, {"Authorization": f"{scheme} {ROOT_KEY}"}).create("s").status == 200


def test_a_deployment_without_a_root_key_lets_nobody_in(service: Service) -> None:
    service.configure(STRANDLINE_ROOT_KEY_SHA256="")
    assert service.root.create("s").refusal == (401, "UNAUTHENTICATED")
    assert Client(service, {"X-API-Key": hashlib.sha256(b"").hexdigest()}).create("s").status == 401


def test_an_expired_key_is_none(service: Service) -> None:
    hashed = hashlib.sha256(b"short").hexdigest()
    service.world.items.put(
        {
            "pk": f"KEY#{hashed}",
            "sk": "KEY",
            "account_id": "a",
            "user_id": "u",
            "role": "user",
            "expires_at": 1,
        }
    )
    assert Client(service, {"X-API-Key": "short"}).create("s").refusal == (401, "UNAUTHENTICATED")


def test_nobody_is_let_in_while_the_table_is_silent(service: Service, alice: Client) -> None:
    service.world.items.faults.before("get", Ambiguous("down"))
    answer = alice.create("s")
    assert answer.status in (401, 503)
    assert alice.create("s").status == 200


def test_a_key_is_looked_up_once_a_minute(service: Service, alice: Client) -> None:
    for _ in range(5):
        alice.look("s")
    assert service.world.items.calls["get"] == 1
    service.world.clock.advance(61)
    alice.look("s")
    assert service.world.items.calls["get"] == 2


def test_a_revoked_key_is_refused_a_minute_later(service: Service, alice: Client) -> None:
    assert alice.create("s").status == 200
    (row,) = service.world.rows("KEY#")
    service.world.items.delete(row["pk"], row["sk"])
    service.world.clock.advance(61)
    assert alice.look("s").refusal == (401, "UNAUTHENTICATED")


def test_keys_are_stored_hashed(service: Service, alice: Client) -> None:
    alice.create("s")
    assert alice.headers["X-API-Key"] not in repr(service.world.items.rows())


ACTING = ["x_strandline", "x_openviking"]


@pytest.mark.parametrize("prefix", ACTING)
def test_a_user_key_is_always_its_own_user(service: Service, alice: Client, bob: Client, prefix: str) -> None:
    # B-A14
    bob.create("s")
    acting = alice.acting(**{f"{prefix}_user": "bob", f"{prefix}_account": "acme"})
    assert acting.look("s").refusal == (404, "NOT_FOUND")
    assert acting.create("t").result["user"] == {"account_id": "acme", "user_id": "alice"}


@pytest.mark.parametrize("prefix", ACTING)
def test_an_admin_key_acts_for_users_of_its_account(service: Service, bob: Client, prefix: str) -> None:
    bob.create("s")
    admin = service.client("boss", role="admin")
    assert admin.look("s").refusal == (404, "NOT_FOUND")
    assert admin.acting(**{f"{prefix}_user": "bob"}).look("s").result["user"]["user_id"] == "bob"


@pytest.mark.parametrize("prefix", ACTING)
def test_an_admin_key_does_not_leave_its_account(service: Service, prefix: str) -> None:  # B-A14
    service.client("bob", "other").create("s")
    admin = service.client("boss", role="admin")
    acting = admin.acting(**{f"{prefix}_account": "other", f"{prefix}_user": "bob"})
    assert acting.look("s").refusal == (403, "PERMISSION_DENIED")


@pytest.mark.parametrize("prefix", ACTING)
def test_the_root_key_acts_for_anybody_without_registration(service: Service, prefix: str) -> None:
    acting = service.root.acting(**{f"{prefix}_account": "new", f"{prefix}_user": "somebody"})
    assert acting.create("s").result["user"] == {"account_id": "new", "user_id": "somebody"}
    assert service.client("somebody", "new").look("s").status == 200


def test_the_root_key_names_the_user_of_another_account(service: Service) -> None:
    assert service.root.acting(x_strandline_account="new").create("s").refusal == (400, "INVALID_ARGUMENT")


def test_two_headers_that_name_two_users(service: Service) -> None:
    two = service.root.acting(x_strandline_user="bob", x_openviking_user="eve")
    assert two.create("s").refusal == (400, "INVALID_ARGUMENT")
    same = service.root.acting(x_strandline_user="bob", x_openviking_user="bob")
    assert same.create("s").result["user"]["user_id"] == "bob"


@pytest.mark.parametrize("name", ["a/b", "..", ".", "a\nb", "x" * 129])
def test_a_name_that_is_none(service: Service, name: str) -> None:  # B-A14
    acting = service.root.acting(x_strandline_account="a", x_strandline_user=name)
    assert acting.create("s").refusal == (400, "INVALID_ARGUMENT")


@pytest.mark.parametrize("name", ["%2e%2e", "%2F", "sessions", "a b", "a#b"])
def test_a_name_that_looks_dangerous_is_only_a_name(
    service: Service, alice: Client, name: str
) -> None:  # B-A14
    acting = service.root.acting(x_strandline_account="acme", x_strandline_user=name)
    acting.remember("s", "I love the cello.")
    assert acting.look("s").result["user"]["user_id"] == name
    assert alice.look("s").status == 404
    assert alice.find("cello") == []


def test_another_users_things_are_404(service: Service, alice: Client, bob: Client) -> None:  # B-A14
    task = alice.remember("s", "I love the cello.")
    path = alice.get("/memories").result[0]["path"]
    uri = alice.get("/memories").result[0]["uri"]
    for answer in (
        bob.look("s"),
        bob.delete("/sessions/s"),
        bob.commit("s"),
        bob.context("s"),
        bob.get("/sessions/s/messages"),
        bob.get("/sessions/s/archives/archive_001"),
        bob.get(f"/tasks/{task}"),
        bob.post(f"/tasks/{task}/retry"),
        bob.memory(path),
        bob.delete(f"/memories/{path}"),
        bob.get("/content/read", uri=uri),
        bob.post("/search/find", {"query": "x", "context_type": "message", "session_id": "s"}),
    ):
        assert answer.refusal == (404, "NOT_FOUND")
    assert bob.get("/sessions").result == bob.get("/memories").result == bob.find("cello") == []
    assert bob.find("cello", context_type="message") == []
    assert alice.look("s").status == 200


CLIMBS = [
    "../../../alice/memories/{path}",
    "..%2F..%2F..%2Falice%2Fmemories%2F{path}",
    "%2e%2e/%2e%2e/alice/memories/{path}",
    "%252e%252e/%252e%252e/alice/memories/{path}",
    "preferences/..%2F..%2F..%2Falice/memories/{path}",
    "preferences%5C..%5C{path}",
    "{path}%00",
    "{path}%0a.md",
]


@pytest.mark.parametrize("climb", CLIMBS)
def test_a_path_that_names_another_user(service: Service, alice: Client, bob: Client, climb: str) -> None:
    # B-A14
    alice.remember("s", "I love the cello.")
    path = alice.get("/memories").result[0]["path"]
    before = {key: service.world.writes(key) for key in service.world.stored()}
    target = "/memories/" + climb.format(path=path)
    for answer in (bob.get(target), bob.put(target, {"content": "mine"}), bob.delete(target)):
        assert answer.refusal in ((400, "INVALID_ARGUMENT"), (404, "NOT_FOUND"))
    assert {key: service.world.writes(key) for key in service.world.stored()} == before


@pytest.mark.parametrize(
    "session_id", ["..%2F..%2Falice%2Fsessions%2Fs", "%2e%2e", "..", "s%2F..%2Fs", "%252e%252e"]
)
def test_a_session_id_that_climbs(
    service: Service, alice: Client, bob: Client, session_id: str
) -> None:  # B-A14
    alice.append("s", "hello")
    before = service.world.writes(service.world.stored("/sessions/s/head.json")[0])
    for answer in (bob.get(f"/sessions/{session_id}"), bob.get(f"/sessions/{session_id}/context")):
        assert answer.status in (400, 404)
    answer = bob.post(f"/sessions/{session_id}/messages", {"role": "user", "content": "x"})
    assert answer.status in (400, 404) or session_id == "%252e%252e"  # decoded once, that is only a name
    assert service.world.writes(service.world.stored("/alice/sessions/s/head.json")[0]) == before
    assert alice.log("s") == [(1, "hello")]


@pytest.mark.parametrize(
    "uri",
    [
        "viking://user/alice/memories/{path}",
        "viking://user/bob/memories/../../alice/memories/{path}",
        "viking://user/bob/memories/%2e%2e/{path}",
    ],
)
def test_an_address_of_another_user(alice: Client, bob: Client, uri: str) -> None:  # B-A14
    alice.remember("s", "I love the cello.")
    path = alice.get("/memories").result[0]["path"]
    assert bob.get("/content/read", uri=uri.format(path=path)).status in (400, 404)


@pytest.mark.parametrize("uri", ["http://example.com/x.md", "", "/etc/passwd", "viking:/x", "file:///x.md"])
def test_an_address_that_is_none(alice: Client, uri: str) -> None:
    assert alice.get("/content/read", uri=uri).refusal == (400, "INVALID_URI")


def test_a_role_is_not_a_user(service: Service) -> None:
    """Two keys of one user see the same; the role says only for whom it may act."""
    service.client("boss").create("s")
    assert service.client("boss", role="admin").look("s").status == 200


def test_a_key_owner_has_names() -> None:
    assert KeyOwner("a", "u", "user").role == "user"


def test_a_route_that_is_not_there(alice: Client) -> None:
    assert alice.get("/nonsense").refusal == (404, "NOT_FOUND")
    assert alice.send("PATCH", "/sessions").status in (404, 405)
