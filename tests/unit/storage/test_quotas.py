"""Requests handed out to functions in chunks: never more than the limit, at few writes, and a fair part of it."""

import random

import pytest

from strandline.domain.errors import ResourceExhausted
from strandline.ports import Ambiguous
from strandline.storage.accounts import Accounts
from strandline.storage.quotas import WINDOWS_KEPT, Quotas
from tests.fakes import FakeClock, MemoryItems


class Fleet:
    """Functions that share a table and a clock."""

    def __init__(self, functions: int = 1) -> None:
        self.items = MemoryItems()
        self.clock = FakeClock()
        self.accounts = Accounts(self.items, self.clock)
        self.functions = [Quotas(self.items, self.accounts, self.clock) for _ in range(functions)]

    def ask(self, limit: int, *, function: int = 0, account: str = "acme") -> bool:
        try:
            self.functions[function].admit(account, limit)
        except ResourceExhausted:
            return False
        return True

    def admitted(self, limit: int, asked: int, *, account: str = "acme") -> int:
        return sum(self.ask(limit, account=account) for _ in range(asked))


@pytest.mark.parametrize("limit", [1, 2, 7, 19, 60, 600, 100_000])
def test_one_function_admits_exactly_the_limit(limit: int) -> None:
    fleet = Fleet()
    assert fleet.admitted(limit, limit + 50) == limit


def test_the_next_minute_begins_anew() -> None:
    fleet = Fleet()
    assert fleet.admitted(5, 9) == 5
    fleet.clock.advance(59)
    assert fleet.admitted(5, 9) == 0
    fleet.clock.advance(1)
    assert fleet.admitted(5, 9) == 5


@pytest.mark.parametrize(("second", "wait"), [(0, 60), (0.25, 60), (30, 30), (59, 1), (59.999, 1)])
def test_how_long_to_wait(second: float, wait: int) -> None:
    fleet = Fleet()
    fleet.clock.advance(second)
    fleet.functions[0].admit("acme", 1)
    with pytest.raises(ResourceExhausted) as refused:
        fleet.functions[0].admit("acme", 1)
    assert refused.value.retry_after == wait


@pytest.mark.parametrize("seed", range(20))
def test_many_functions_never_admit_more_and_at_least_half(seed: int) -> None:
    """However the requests fall on the functions: what a function holds unused is no more than it has let through."""
    chance = random.Random(seed)
    functions, limit = chance.choice([2, 8, 40]), chance.choice([10, 100, 3_000])
    fleet = Fleet(functions)
    busy = chance.choices(range(functions), k=functions)
    admitted = sum(fleet.ask(limit, function=chance.choice(busy)) for _ in range(3 * limit))
    assert limit / 2 <= admitted <= limit


def test_a_refusal_is_free_until_the_minute_ends() -> None:
    fleet = Fleet()
    fleet.admitted(10, 11)
    fleet.items.calls.clear()
    assert fleet.admitted(10, 1_000) == 0
    assert fleet.items.calls == {}


def test_what_it_costs() -> None:
    """6,000 requests: the account once, chunks of 1, 2, 4, … 256 (511 requests), then of 300."""
    fleet = Fleet()
    assert fleet.admitted(6_000, 6_000) == 6_000
    assert fleet.items.calls == {"get": 1, "add": 9 + 19}


def test_accounts_do_not_share() -> None:
    fleet = Fleet()
    assert fleet.admitted(3, 5) == 3
    assert fleet.admitted(3, 5, account="other") == 3
    assert fleet.admitted(3, 5, account="a/../acme") == 3


def test_an_accounts_own_limit_holds_within_a_minute() -> None:
    fleet = Fleet()
    fleet.accounts.change_settings("acme", {"requests_per_minute": 2})
    assert fleet.admitted(10, 20) == 2
    fleet.accounts.change_settings("acme", {"requests_per_minute": 30})
    assert fleet.admitted(10, 40) == 0
    fleet.clock.advance(60)
    assert fleet.admitted(10, 40) == 30
    fleet.accounts.change_settings("acme", {"requests_per_minute": None})
    fleet.clock.advance(60)
    assert fleet.admitted(10, 40) == 10


def test_an_account_without_a_limit() -> None:
    fleet = Fleet()
    fleet.accounts.change_settings("acme", {"requests_per_minute": 0})
    fleet.items.calls.clear()
    assert fleet.admitted(1, 500) == 500
    assert fleet.items.calls == {"get": 1}


def test_when_the_table_does_not_answer_requests_pass() -> None:
    fleet = Fleet()
    for operation in ("get", "add"):
        for nth in range(1, 50):
            fleet.items.faults.before(operation, Ambiguous("down"), nth=nth)
    assert fleet.admitted(100, 40) == 40
    assert fleet.items.calls["add"] <= 12  # it is asked as seldom as otherwise


def test_a_lost_answer_makes_a_refusal_early_and_never_late() -> None:
    fleet = Fleet(2)
    fleet.items.faults.after("add", Ambiguous("lost"))
    assert sum(fleet.ask(10, function=n % 2) for n in range(30)) <= 10


def test_a_counter_expires() -> None:
    fleet = Fleet()
    fleet.ask(10)
    (row,) = fleet.items.rows()
    now = int(fleet.clock.now().timestamp())
    assert row == {"pk": "QUOTA#acme", "sk": str(now // 60), "taken": 1, "expires_at": now + 600}


def test_what_is_remembered_is_bounded() -> None:
    fleet = Fleet()
    for n in range(WINDOWS_KEPT + 10):
        fleet.ask(10, account=f"account {n}")
    assert len(fleet.functions[0]._windows) == WINDOWS_KEPT
