"""Accounts, users and keys, kept by root keys and by the admin keys of an account."""

import json
from typing import Any
from urllib.parse import quote

import pytest

from strandline.ports import Ambiguous
from tests.handlers.service import Answer, Client, Service

ACME = "/admin/accounts/acme"
MINUTE = 60


def with_key(service: Service, answer: Answer) -> Client:
    return Client(service, {"X-API-Key": answer.result["user_key"]})


def ask(client: Client, method: str, path: str, body: Any = None) -> Answer:
    return client.send(method, path, b"" if body is None else json.dumps(body).encode())


@pytest.fixture
def ada(service: Service) -> Client:
    """The first administrator of the account acme."""
    return with_key(
        service, service.root.post("/admin/accounts", {"account_id": "acme", "admin_user_id": "ada"})
    )


@pytest.fixture
def mia(service: Service, ada: Client) -> Client:
    """A user that ada has registered."""
    return with_key(service, ada.post(f"{ACME}/users", {"user_id": "mia"}))


def test_a_registered_user_works_with_the_key_it_was_given(mia: Client) -> None:
    assert mia.append("s", "a").status == 200
    assert mia.look("s").result["user"] == {"account_id": "acme", "user_id": "mia"}


def test_a_key_is_shown_once(service: Service, ada: Client) -> None:
    key = ada.post(f"{ACME}/users", {"user_id": "mia"}).result["user_key"]
    assert key.startswith("strandline_")
    assert len(key) == len("strandline_") + 64
    for path in ("/users", "/users/mia", "/users/mia/keys", "", "/settings"):
        assert key not in ada.get(f"{ACME}{path}").text
    assert all(key not in str(row) for row in service.world.items.rows())


def test_an_admin_acts_for_the_users_of_its_account(ada: Client, mia: Client) -> None:
    mia.append("s", "a")
    for_mia = ada.acting(x_strandline_user="mia")
    assert for_mia.look("s").result["message_count"] == 1


def test_accounts_and_users_are_listed_by_name(service: Service, ada: Client) -> None:
    for name in ("zoe", "mia", "bea"):
        ada.post(f"{ACME}/users", {"user_id": name, "role": "admin" if name == "zoe" else "user"})
    service.root.post("/admin/accounts", {"account_id": "zenith", "admin_user_id": "zed"})

    users = ada.get(f"{ACME}/users").result
    assert [(row["user_id"], row["role"]) for row in users] == [
        ("ada", "admin"),
        ("bea", "user"),
        ("mia", "user"),
        ("zoe", "admin"),
    ]
    assert ada.get(f"{ACME}/users/bea").result == users[1]
    assert [row["account_id"] for row in service.root.get("/admin/accounts").result] == ["acme", "zenith"]
    assert service.root.get(ACME).result == service.root.get("/admin/accounts").result[0]


def test_lists_are_cut_into_pages(service: Service, ada: Client) -> None:
    for name in ("mia", "bea"):
        ada.post(f"{ACME}/users", {"user_id": name})
    first = ada.get(f"{ACME}/users", limit=2).json
    rest = ada.get(f"{ACME}/users", limit=2, cursor=first["next_cursor"]).json
    assert [row["user_id"] for row in (*first["result"], *rest["result"])] == ["ada", "bea", "mia"]
    assert rest["next_cursor"] is None
    other = service.root.get("/admin/accounts/other/users", cursor=first["next_cursor"])
    assert other.refusal == (400, "INVALID_ARGUMENT")


ROUTES = [
    ("GET", "", None),
    ("GET", "/settings", None),
    ("GET", "/users", None),
    ("POST", "/users", {"user_id": "eve", "role": "admin"}),
    ("GET", "/users/mia", None),
    ("DELETE", "/users/mia", None),
    ("PUT", "/users/mia/role", {"role": "admin"}),
    ("POST", "/users/mia/key", {}),
    ("GET", "/users/mia/keys", None),
    ("POST", "/users/mia/keys", {}),
    ("DELETE", "/users/mia/keys/0123456789abcdef", None),
]


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("account", ["acme", "nobodys"])
def test_only_its_own_admin_and_root_may_look_after_an_account(
    service: Service, mia: Client, route: tuple[str, str, Any], account: str
) -> None:
    """The same refusal whether there is such an account or not."""
    method, path, body = route
    stranger = service.client("ada", "other", "admin")
    for refused in (mia, stranger):
        before = service.world.items.rows()
        answer = ask(refused, method, f"/admin/accounts/{account}{path}", body)
        assert answer.refusal == (403, "PERMISSION_DENIED")
        assert service.world.items.rows() == before


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/admin/accounts", {"account_id": "mine", "admin_user_id": "ada"}),
        ("GET", "/admin/accounts", None),
        ("DELETE", ACME, None),
        ("PATCH", f"{ACME}/settings", {"requests_per_minute": 0}),
    ],
)
def test_accounts_themselves_are_roots_business(ada: Client, method: str, path: str, body: Any) -> None:
    assert ask(ada, method, path, body).refusal == (403, "PERMISSION_DENIED")
    assert ada.get(ACME).result["account_id"] == "acme"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/admin/accounts", {}),
        ("/admin/accounts", {"account_id": "a/b", "admin_user_id": "ada"}),
        ("/admin/accounts", {"account_id": "..", "admin_user_id": "ada"}),
        ("/admin/accounts", {"account_id": "new", "admin_user_id": ""}),
        (f"{ACME}/users", {"user_id": "mia", "role": "root"}),
        (f"{ACME}/users", {"role": "user"}),
        (f"{ACME}/users/ada/keys", {"expires_at": "2025-12-31T00:00:00Z"}),
        (f"{ACME}/users/ada/keys", {"expires_at": "soon"}),
    ],
)
def test_what_cannot_be_registered(service: Service, ada: Client, path: str, body: Any) -> None:
    before = service.world.items.rows()
    assert service.root.post(path, body).refusal == (400, "INVALID_ARGUMENT")
    assert service.world.items.rows() == before


def test_what_is_there_already(service: Service, ada: Client, mia: Client) -> None:
    again = {"account_id": "acme", "admin_user_id": "eve"}
    assert service.root.post("/admin/accounts", again).refusal == (409, "ALREADY_EXISTS")
    assert ada.post(f"{ACME}/users", {"user_id": "mia"}).refusal == (409, "ALREADY_EXISTS")
    assert mia.get("/sessions").status == 200


def test_what_is_not_there(service: Service, ada: Client) -> None:
    for answer in (
        service.root.get("/admin/accounts/nobodys"),
        service.root.delete("/admin/accounts/nobodys"),
        ada.get(f"{ACME}/users/nobody"),
        ada.delete(f"{ACME}/users/nobody"),
        ada.put(f"{ACME}/users/nobody/role", {"role": "admin"}),
        ada.post(f"{ACME}/users/nobody/key", {}),
        ada.post(f"{ACME}/users/nobody/keys", {}),
        ada.delete(f"{ACME}/users/ada/keys/0123456789abcdef"),
    ):
        assert answer.refusal == (404, "NOT_FOUND")


def test_a_new_key_replaces_all_others(service: Service, ada: Client, mia: Client) -> None:
    second = with_key(service, ada.post(f"{ACME}/users/mia/keys", {}))
    third = with_key(service, ada.post(f"{ACME}/users/mia/key", {}))
    service.world.clock.advance(MINUTE + 1)
    assert [client.get("/sessions").status for client in (mia, second, third)] == [401, 401, 200]
    assert len(ada.get(f"{ACME}/users/mia/keys").result) == 1


def test_a_revoked_key_is_refused_within_a_minute(service: Service, ada: Client, mia: Client) -> None:
    made = ada.post(f"{ACME}/users/mia/keys", {})
    second = with_key(service, made)
    assert second.get("/sessions").status == 200
    ada.delete(f"{ACME}/users/mia/keys/{made.result['key_id']}")
    service.world.clock.advance(MINUTE + 1)
    assert second.get("/sessions").refusal == (401, "UNAUTHENTICATED")
    assert mia.get("/sessions").status == 200


def test_a_key_ends_when_it_was_said_to(service: Service, ada: Client, mia: Client) -> None:
    made = ada.post(f"{ACME}/users/mia/keys", {"expires_at": "2026-01-01T01:00:00+00:00"})
    assert made.result["expires_at"] == "2026-01-01T01:00:00.000Z"
    second = with_key(service, made)
    assert second.get("/sessions").status == 200
    service.world.clock.advance(3600)
    assert second.get("/sessions").refusal == (401, "UNAUTHENTICATED")
    assert [row["expires_at"] for row in ada.get(f"{ACME}/users/mia/keys").result] == [None]


def test_a_new_role_goes_for_all_keys(service: Service, ada: Client, mia: Client) -> None:
    assert ada.put(f"{ACME}/users/mia/role", {"role": "admin"}).result["role"] == "admin"
    service.world.clock.advance(MINUTE + 1)
    assert mia.get(f"{ACME}/users").status == 200
    ada.put(f"{ACME}/users/mia/role", {"role": "user"})
    service.world.clock.advance(MINUTE + 1)
    assert mia.get(f"{ACME}/users").refusal == (403, "PERMISSION_DENIED")


def test_a_user_removed_while_its_role_is_changed_does_not_come_back(
    service: Service, ada: Client, mia: Client
) -> None:
    service.world.items.faults.before("query", lambda: ada.delete(f"{ACME}/users/mia"))
    assert ada.put(f"{ACME}/users/mia/role", {"role": "admin"}).refusal == (404, "NOT_FOUND")
    assert ada.get(f"{ACME}/users/mia").refusal == (404, "NOT_FOUND")


def test_a_removed_user_cannot_come_in_and_leaves_its_data(
    service: Service, ada: Client, mia: Client
) -> None:
    mia.append("s", "a")
    ada.delete(f"{ACME}/users/mia")
    service.world.clock.advance(MINUTE + 1)
    assert mia.get("/sessions").refusal == (401, "UNAUTHENTICATED")
    assert ada.acting(x_strandline_user="mia").look("s").result["message_count"] == 1


def test_a_removed_account_lets_nobody_in(service: Service, ada: Client, mia: Client) -> None:
    assert service.root.delete(ACME).result == {"account_id": "acme", "users_removed": 2}
    service.world.clock.advance(MINUTE + 1)
    assert [client.get("/sessions").status for client in (ada, mia)] == [401, 401]
    assert service.root.get(ACME).refusal == (404, "NOT_FOUND")
    assert service.world.rows("KEY") == []


def test_settings_of_an_account(service: Service, ada: Client) -> None:
    path = f"{ACME}/settings"
    assert ada.get(path).result == {"account_id": "acme", "requests_per_minute": None}
    for value in (600, 0, None):
        changed = ask(service.root, "PATCH", path, {"requests_per_minute": value}).result
        assert changed == {"account_id": "acme", "requests_per_minute": value}
        assert ada.get(path).result == changed
    for bad in ({}, {"requests_per_minute": -1}, {"requests_per_minute": "many"}, {"colour": 1}):
        assert ask(service.root, "PATCH", path, bad).refusal == (400, "INVALID_ARGUMENT")


@pytest.mark.parametrize("call", ["put", "get", "query", "update", "delete"])
def test_a_table_that_does_not_answer_is_503(service: Service, ada: Client, call: str) -> None:
    attempts = {
        "put": lambda: ada.post(f"{ACME}/users", {"user_id": "eve"}),
        "get": lambda: ada.get(f"{ACME}/users/ada"),
        "query": lambda: ada.get(f"{ACME}/users"),
        "update": lambda: ask(service.root, "PATCH", f"{ACME}/settings", {"requests_per_minute": 1}),
        "delete": lambda: service.root.delete(ACME),
    }
    ada.get("/sessions")  # the authorizer knows the key from now on
    service.world.items.faults.before(call, Ambiguous("503"))
    assert attempts[call]().refusal == (503, "UNAVAILABLE")


def test_ids_of_any_script(service: Service) -> None:
    made = service.root.post("/admin/accounts", {"account_id": "café 東京", "admin_user_id": "Åsa #1"})
    asa = with_key(service, made)
    assert asa.get(f"/admin/accounts/{quote('café 東京')}/users").result[0]["user_id"] == "Åsa #1"
    assert asa.get(f"/admin/accounts/{quote('café 東京')}/users/{quote('Åsa #1')}").result["role"] == "admin"


def test_a_key_that_only_reads_reads_its_user_s_memories_and_nothing_else(
    service: Service, ada: Client, mia: Client
) -> None:
    mia.put("/memories/experiences/refund.md", {"content": "# Refund\n\nAsk first."})
    made = ada.post(f"{ACME}/users/mia/keys", {"reads_only": True})
    assert made.result["role"] == "reader"
    reader = with_key(service, made)
    (row,) = reader.get("/memories", prefix="experiences/", view="full").result
    assert (row["path"], "Ask first." in row["content"]) == ("experiences/refund.md", True)
    assert reader.memory("experiences/refund.md").status == 200
    for refused in (
        reader.put("/memories/experiences/refund.md", {"content": "x"}),
        reader.delete("/memories/experiences/refund.md"),
        reader.get("/sessions"),
        reader.append("s", "a"),
        reader.post("/search/find", {"query": "refund"}),
        reader.get(f"{ACME}/users"),
        reader.post(f"{ACME}/users/mia/keys", {}),
        reader.acting(x_strandline_user="ada").get("/memories"),
        reader.acting(x_strandline_account="other").get("/memories"),
    ):
        assert refused.refusal == (403, "PERMISSION_DENIED")


def test_a_key_that_only_reads_stays_so_whatever_its_user_becomes(
    service: Service, ada: Client, mia: Client
) -> None:
    reader = with_key(service, ada.post(f"{ACME}/users/mia/keys", {"reads_only": True}))
    ada.put(f"{ACME}/users/mia/role", {"role": "admin"})
    service.world.clock.advance(MINUTE + 1)
    assert reader.get(f"{ACME}/users").refusal == (403, "PERMISSION_DENIED")
    assert [row["role"] for row in ada.get(f"{ACME}/users/mia/keys").result] == ["admin", "reader"]
