"""`POST /search/block`: the memories for a prompt, as text."""

from typing import Any

import pytest

from strandline.domain.block import HEAD, TAIL
from tests.handlers.service import Client, Service


@pytest.fixture
def known(service: Service, alice: Client) -> Client:
    alice.remember("s", "I love the cello. I met Tom in Lisbon on 7 May 2023.")
    alice.remember("t", "I love pottery.")
    return alice


def block(client: Client, query: str, **asked: Any) -> Any:
    return client.post("/search/block", {"query": query, **asked}).result


def test_what_is_relevant_is_in_it_framed_as_data(known: Client) -> None:  # B-D10
    made = block(known, "cello")
    assert made["text"].startswith(HEAD) and made["text"].endswith(TAIL)
    assert "cello" in made["text"] and "pottery" not in made["text"] and "<!--" not in made["text"]
    (taken,) = made["memories"]
    assert taken["uri"].startswith("viking://user/alice/memories/")
    assert (taken["category"], taken["lines"]) == ("preferences", 1)
    assert 0 < taken["tokens"] < made["tokens"]
    assert "explain" not in taken


def test_it_says_why(known: Client) -> None:
    (taken,) = block(known, "cello", explain=True)["memories"]
    assert taken["explain"]["cello"] > 0
    assert taken["score"] == pytest.approx(sum(taken["explain"].values()))
    assert "cello" in taken["best"]


def test_the_budget_holds(known: Client) -> None:
    whole = block(known, "love cello pottery Tom")
    for budget in range(1, whole["tokens"] + 1, 7):
        assert block(known, "love cello pottery Tom", max_tokens=budget)["tokens"] <= budget
    assert block(known, "love", max_tokens=1) == {"text": "", "tokens": 0, "memories": [], "left_out": 2}


def test_types_and_quotas(known: Client) -> None:
    query = "love cello pottery Tom Lisbon"
    kinds = {taken["category"] for taken in block(known, query)["memories"]}
    assert {"preferences", "events"} <= kinds
    assert {m["category"] for m in block(known, query, types=["events"])["memories"]} == {"events"}
    without = block(known, query, quotas={"preferences": 0})
    assert "preferences" not in {taken["category"] for taken in without["memories"]}


def test_nothing_is_known(alice: Client) -> None:
    assert block(alice, "submarine") == {"text": "", "tokens": 0, "memories": [], "left_out": 0}


def test_another_user_gets_nothing_of_it(known: Client, bob: Client) -> None:  # B-A14
    assert block(bob, "cello")["text"] == ""


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"query": ""},
        {"query": "x", "max_tokens": 0},
        {"query": "x", "max_tokens": 100_001},
        {"query": "x", "types": ["unheard of"] * 101},
        {"query": "x", "quotas": {"events": -1}},
    ],
)
def test_what_is_refused(alice: Client, body: dict[str, Any]) -> None:
    assert alice.post("/search/block", body).status == 400
