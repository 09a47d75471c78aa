"""Requests per minute and account over HTTP: 429 with the time to wait, in both functions, before anything else."""

import pytest

from tests.handlers.service import Client, Service
from tests.pipeline.world import counted

LIMIT = "STRANDLINE_REQUESTS_PER_MINUTE"


@pytest.fixture
def limited(service: Service) -> Client:
    """A client whose account may make four requests a minute."""
    service.configure(**{LIMIT: "4"})
    return service.client("mia")


def test_one_too_many(service: Service, limited: Client) -> None:
    service.world.clock.advance(20)
    assert limited.append("s", "a").status == 200
    assert [limited.look("s").status for _ in range(3)] == [200] * 3

    for refused in (limited.append("s", "b"), limited.look("s"), limited.get("/nowhere")):
        assert refused.refusal == (429, "RESOURCE_EXHAUSTED")
        assert refused.error["retryable"] is True
        assert refused.headers["retry-after"] == "40"

    service.world.clock.advance(40)
    assert limited.log("s") == [(1, "a")]


def test_all_users_of_an_account_share_and_other_accounts_do_not(service: Service, limited: Client) -> None:
    other = service.client("bob")
    for client in (limited, other, limited, other):
        assert client.get("/sessions").status == 200
    assert other.get("/sessions").status == 429
    assert service.client("mia", "else").get("/sessions").status == 200


def test_whoever_acts_for_an_account_uses_its_requests(service: Service, limited: Client) -> None:
    root = service.root.acting(x_strandline_account="acme", x_strandline_user="mia")
    for _ in range(4):
        assert root.get("/sessions").status == 200
    assert limited.get("/sessions").status == 429
    assert service.root.get("/sessions").status == 200  # as itself


def test_an_account_that_is_not_there_looks_like_any_other(service: Service, limited: Client) -> None:
    limited.append("s", "a")

    def statuses(account: str) -> list[int]:
        acting = service.root.acting(x_strandline_account=account, x_strandline_user="x")
        return [acting.get("/sessions").status for _ in range(6)]

    service.world.clock.advance(60)
    assert statuses("acme") == statuses("never heard of") == [200] * 4 + [429] * 2


def test_the_limit_comes_after_the_key_and_before_the_body(service: Service, limited: Client) -> None:
    for _ in range(9):
        assert service.nobody.get("/sessions").refusal == (401, "UNAUTHENTICATED")
    for _ in range(4):
        assert limited.send("POST", "/sessions", b"{").refusal == (400, "INVALID_ARGUMENT")
    assert limited.send("POST", "/sessions", b"{").refusal == (429, "RESOURCE_EXHAUSTED")


def test_a_refused_request_claims_no_key(service: Service, limited: Client) -> None:
    keyed = limited.acting(idempotency_key="k")
    for _ in range(4):
        limited.get("/sessions")
    assert keyed.append("s", "a").status == 429
    service.world.clock.advance(60)
    answer = keyed.append("s", "a")
    assert answer.status == 200
    assert "idempotent-replay" not in answer.headers


def test_an_administrator_sets_it_for_one_account(service: Service, limited: Client) -> None:
    settings = {"requests_per_minute": 1}
    service.root.send("PATCH", "/admin/accounts/acme/settings", b'{"requests_per_minute": 1}')
    service.world.clock.advance(60)
    assert [limited.get("/sessions").status for _ in range(2)] == [200, 429]
    assert service.root.get("/admin/accounts/acme/settings").result == {"account_id": "acme", **settings}


def test_health_and_the_description_are_not_counted(service: Service, limited: Client) -> None:
    for _ in range(9):
        assert service.request("GET", "/health", {}, b"").status == 200


def test_off_by_default_and_then_it_costs_nothing(service: Service, alice: Client) -> None:
    alice.append("s", "warm")
    _, calls = counted(service.world, lambda: [alice.append("s", "a") for _ in range(100)])
    assert calls == {"objects.put": 100}
    assert service.world.rows("QUOTA#") == []


def test_what_it_costs(service: Service) -> None:
    """Of 1,000 a minute: the account's own limit once, chunks of 1, 2, 4, 8, 16, 32, then 50."""
    service.configure(**{LIMIT: "1000"})
    client = service.client("mia")
    client.append("s", "warm")
    _, calls = counted(service.world, lambda: [client.append("s", "a") for _ in range(62)])
    assert calls == {"objects.put": 62, "items.add": 5}
