"""The ingest queue's dead letters of whom is erased go, counted exactly; others stay and can be sent back."""

import json
from typing import Any

import pytest

from strandline.domain.contracts import EraseRequested, SessionRef
from strandline.pipeline import erase, letters
from strandline.ports import Letter
from strandline.storage.layout import User
from tests.pipeline.erasing import ANN, NEIGHBOURS, begin, finish, receipt
from tests.pipeline.faults import FAULTS, going_on
from tests.pipeline.world import HEAL_SECONDS, World

CANARY = "xylophone-7f3a"
ACME = User("acme", "")
UNREADABLE = ("{", "[]", "null", '"acme"', "{}", '{"account_id": "acme", "user_id": 7}', "[" * 100_000)


def body(owner: User, session: str = "s", **others: Any) -> str:
    names = {"account_id": owner.account_id, "user_id": owner.user_id, "session_id": session}
    said = [{"role": "user", "content": CANARY}]
    return json.dumps({"type": "AppendRequested", "version": 1, **names, "messages": said, **others})


def put(world: World, owner: User, session: str = "s", **others: Any) -> str:
    letter = body(owner, session, **others)
    world.dead_letters.put(letter, f"{owner.account_id}/{owner.user_id}/{session}")
    return letter


def fill(world: World) -> list[str]:
    """Three letters of Ann's, and among them others': answers these."""
    kept = []
    for number, neighbour in enumerate(NEIGHBOURS):
        kept.append(put(world, neighbour))
        if number < 3:
            put(world, ANN, f"s{number}", **({"version": 99} if number else {}), messages=[CANARY, 7])
    for unreadable in UNREADABLE:
        world.dead_letters.put(unreadable, f"a group of {len(kept)}")
        kept.append(unreadable)
    return kept


def shown(world: World) -> list[str]:
    """All bodies, if none of them is hidden."""
    found: list[Letter] = []
    while taken := world.dead_letters.take():
        found += taken
    world.dead_letters.give_back(found)
    return [letter.body for letter in found]


def test_those_of_a_user_go_and_others_stay(world: World) -> None:
    kept = fill(world)
    task_id = begin(world, ANN)
    finish(world)
    assert receipt(world, task_id)["dead_letters"] == {"removed": 3, "unreadable": len(UNREADABLE)}
    assert shown(world) == kept
    assert world.rows("LEASES#!") == world.rows("LEASES#%21") == []


def test_those_of_an_account_go_whoever_is_named(world: World) -> None:
    kept = [letter for letter in fill(world) if '"account_id": "acme", "user_id": "' not in letter]
    task_id = begin(world, ACME)
    finish(world)
    assert receipt(world, task_id)["dead_letters"] == {"removed": 3 + 4, "unreadable": len(UNREADABLE)}
    assert shown(world) == kept


def test_what_dies_while_the_user_is_closed_goes_in_the_second_round(world: World) -> None:
    put(world, ANN)
    task_id = begin(world, ANN)
    world.settle(200)
    assert world.dead_letters.bodies() == []
    put(world, ANN, "late")
    finish(world)
    assert world.dead_letters.bodies() == []
    assert receipt(world, task_id)["dead_letters"]["removed"] == 2


def test_a_group_of_many_goes_and_one_behind_others_too(world: World) -> None:
    for _ in range(25):
        world.dead_letters.put(body(ANN), "acme/a/s")
    for owner in (ANN, *NEIGHBOURS[:4], ANN, ANN, NEIGHBOURS[4], ANN):
        world.dead_letters.put(body(owner), "all in one group")
    task_id = begin(world, ANN)
    finish(world)
    assert receipt(world, task_id)["dead_letters"]["removed"] == 25 + 4
    assert world.dead_letters.bodies() == [body(owner) for owner in NEIGHBOURS[:5]]


def test_there_may_be_more_than_a_look_takes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(letters, "LOOK", 7)
    kept = [put(world, NEIGHBOURS[number % 6], f"s{number}") for number in range(40)]
    put(world, ANN)
    task_id = begin(world, ANN)
    finish(world)
    assert receipt(world, task_id)["dead_letters"]["removed"] == 1
    assert shown(world) == kept


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("second", [False, True], ids=["first round", "second round"])
def test_whatever_dies_the_count_is_exact(kind: str, second: bool) -> None:
    for at in range(200):
        world = World()
        kept = fill(world)
        task_id = begin(world, ANN)
        if second:
            world.settle(200)
            put(world, ANN, "late")
            world.clock.advance(HEAL_SECONDS)
        FAULTS[kind](world, at)
        with going_on():
            world.settle(200) if not second else world.heal(1)
        fired = world.calls.trip is None
        finish(world)
        found = receipt(world, task_id)["dead_letters"]
        assert found == {"removed": 3 + second, "unreadable": len(UNREADABLE)}, f"call {at}"
        assert shown(world) == kept, f"call {at}"
        if not fired:
            assert at > 20
            return
    raise AssertionError("so many calls")


def test_two_workers_count_once() -> None:
    again = EraseRequested(scope="user", session=SessionRef(account_id="acme", user_id="a", session_id=""))
    for at in range(80):
        world = World()
        kept = fill(world)
        task_id = begin(world, ANN)
        world.next(at, lambda world=world: erase.run_erase(world.services(), again))  # type: ignore[misc]
        world.settle(400)
        fired = world.calls.trip is None
        finish(world)
        assert receipt(world, task_id)["dead_letters"]["removed"] == 3, f"call {at}"
        assert shown(world) == kept, f"call {at}"
        if not fired:
            return


def test_while_somebody_else_looks_nothing_is_said_to_be_gone(world: World) -> None:
    fill(world)
    assert letters.take_turn(world.services(), "somebody else's")
    hidden = letters.look(world.dead_letters, lambda *_: False)
    assert len(hidden.others) == 9 + len(UNREADABLE)
    task_id = begin(world, ANN)
    world.settle(200)
    assert 5 <= sum(world.clock.slept) <= 10
    assert world.rows("ERASE#")[0]["phase"] == "letters"
    finish(world)
    assert receipt(world, task_id)["dead_letters"]["removed"] == 3


# ---- of a session


def delete(world: World, wait: float = HEAL_SECONDS + 1) -> None:
    world.delete("s", ANN)
    world.sweep(wait)
    world.settle()


def test_those_of_a_deleted_session_go(world: World) -> None:
    world.append("s", "tea", owner=ANN)
    kept = [put(world, ANN, "other"), put(world, User("acme", "ab")), put(world, User("ac", "a"))]
    put(world, ANN)
    delete(world)
    assert shown(world) == kept


def test_what_became_a_letter_soon_after_goes_what_came_later_stays(world: World) -> None:
    world.append("s", "tea", owner=ANN)
    world.delete("s", ANN)
    world.clock.advance(HEAL_SECONDS - 1)
    put(world, ANN, number="in flight")
    world.clock.advance(1)
    kept = put(world, ANN, number="meant for the next life")
    world.heal()
    world.sweep(2 * 86_400)
    world.settle()
    assert shown(world) == [kept]
    assert world.stored(f"{ANN.prefix}sessions/") == []


def test_there_may_be_more_than_two_looks_take(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(letters, "LOOK", 7)
    world.append("s", "tea", owner=ANN)
    kept = [put(world, NEIGHBOURS[number % 6], f"s{number}") for number in range(40)]
    put(world, ANN)
    delete(world)
    assert world.dead_letters.bodies() == kept


def test_those_of_a_successor_stay(world: World) -> None:
    world.append("s", "tea", owner=ANN)
    put(world, ANN, number="old")
    world.delete("s", ANN)
    world.clock.advance(10)
    world.append("s", "tea again", owner=ANN)
    kept = put(world, ANN, number="new")
    world.heal()
    assert shown(world) == [kept]


def test_letters_of_a_session_that_lives_stay(world: World) -> None:
    world.append("s", "tea", owner=ANN)
    kept = put(world, ANN)
    world.erase_queue.send(EraseRequested(scope="session", session=_ref(world)))
    world.settle()
    assert shown(world) == [kept]


def _ref(world: World) -> SessionRef:
    incarnation = world.head("s", ANN).incarnation
    return SessionRef(account_id="acme", user_id="a", session_id="s", incarnation=incarnation)


def test_a_gravestone_waits_for_somebody_who_looks(world: World) -> None:
    world.append("s", "tea", owner=ANN)
    delete(world)

    world.clock.advance(86_400)
    assert letters.take_turn(world.services(), "somebody else's")
    world.sweep(1)
    world.settle()
    assert world.stored(f"{ANN.prefix}sessions/") == [ANN.head("s")]
    world.heal()
    assert world.stored(f"{ANN.prefix}sessions/") == []


@pytest.mark.parametrize("kind", FAULTS)
def test_whatever_dies_none_of_a_deleted_session_is_left(kind: str) -> None:
    for at in range(100):
        world = World()
        world.append("s", "tea", owner=ANN)
        kept = [put(world, ANN, "other"), put(world, User("acme", "ab"))]
        for _ in range(3):
            put(world, ANN)
        world.delete("s", ANN)
        world.clock.advance(HEAL_SECONDS)
        FAULTS[kind](world, at)
        with going_on():
            world.heal(1)
        fired = world.calls.trip is None
        world.mend()
        world.heal(2)
        for _ in range(4):
            world.sweep(13 * 3_600)
            world.settle(200)
        assert shown(world) == kept, f"call {at}"
        assert world.rows("DUE#") == []
        if not fired:
            return
    raise AssertionError("so many calls")
