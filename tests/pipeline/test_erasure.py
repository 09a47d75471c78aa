"""Users and accounts are erased, all versions of what they had, and a receipt says what that was. Nobody else is, some
of names that begin alike.
"""

import pytest

from strandline.domain.contracts import EraseRequested
from strandline.domain.errors import Conflict, FailedPrecondition, NotFound
from strandline.pipeline import admin, erase, memory, session, task
from strandline.pipeline.context import run_context
from strandline.storage.keys import hash_key
from strandline.storage.layout import User
from tests.pipeline.erasing import (
    ANN,
    NEIGHBOURS,
    ROOT,
    anything,
    begin,
    everything,
    finish,
    is_ann,
    is_other,
    nothing_left,
    receipt,
    recount,
    use,
    versions,
)
from tests.pipeline.world import ALICE, World

NO_LETTERS = {"dead_letters": {"removed": 0, "unreadable": 0}}


def test_a_user_is_erased_and_nobody_else(world: World) -> None:
    for owner in (ANN, *NEIGHBOURS):
        use(world, owner)
    expected, others = recount(world, is_ann), everything(world, is_other)
    keys = len(world.rows("KEY#"))

    task_id = begin(world, ANN)
    finish(world)

    assert receipt(world, task_id) == {
        "account_id": "acme",
        "user_id": "a",
        "users": 1,
        **expected,
        **NO_LETTERS,
    }
    assert expected["keys"] == 2
    assert expected["objects"].keys() == {"sessions", "memories", "index", "journal"}
    assert all(expected["versions"][name] >= count for name, count in expected["objects"].items())
    nothing_left(world, ANN)
    assert everything(world, is_other) == others
    assert len(world.rows("KEY#")) == keys - 2
    assert world.services().keys.owner(hash_key(f"{ANN} 1")) is None


def test_nothing_of_an_erased_user_can_be_read(world: World) -> None:
    use(world, ANN)
    committed = world.services().tasks.page(ANN, after=None, limit=10).items
    begin(world, ANN)
    finish(world)
    services = world.services()
    for read in (
        lambda: run_context(services, ANN, "s"),
        lambda: memory.read(services, ANN, "preferences/tea.md"),
        lambda: task.get(services, ANN, committed[0]["task_id"]),
        lambda: session.delete(services, ANN, "s"),
    ):
        with pytest.raises(NotFound):
            read()
    assert memory.list_memories(services, ANN, "") == {}
    assert world.find("tea", ANN) == world.find("tea", ANN, context_type="message") == []
    assert session.page(services, ANN, after=None, limit=10).items == []


def test_an_account_is_erased_with_all_its_users_and_its_register(world: World) -> None:
    world.services().accounts.add("acme")
    world.services().accounts.change_settings("acme", {"requests_per_minute": 5})
    for owner in (ANN, *NEIGHBOURS):
        use(world, owner)
    stray = User("acme", "never registered")
    world.append("s", "tea: hidden", owner=stray)

    def mine(user: User) -> bool:
        return user.account_id == "acme"

    def other(user: User) -> bool:
        return user.account_id in ("ac", "acme2")

    expected, others = recount(world, mine), everything(world, other)

    task_id = begin(world, User("acme", ""))
    finish(world)

    found = receipt(world, task_id)
    assert found == {"account_id": "acme", "users": 6, **expected, **NO_LETTERS}
    assert everything(world, other) == others
    assert versions(world, "v1/acme/") == []
    assert {row["pk"] for row in world.rows("") if "acme" in row["pk"] and "acme2" not in row["pk"]} == set()
    assert world.rows("ACCOUNTS") == []


def test_a_user_of_whom_nothing_is_known_gets_a_receipt_of_nothing(world: World) -> None:
    task_id = begin(world, ANN)
    finish(world)
    nothing = {"account_id": "acme", "user_id": "a", "users": 1, "keys": 0}
    assert receipt(world, task_id) == {
        **nothing,
        "objects": {},
        "versions": {},
        "items": {},
        **NO_LETTERS,
    }
    assert versions(world) == []


# ---- closed while it lasts


def test_nothing_new_is_begun_for_a_user_that_is_being_erased(world: World) -> None:
    use(world, ANN)
    begin(world, ANN)
    services = world.services()
    for start in (
        lambda: world.append("new", "tea: later", owner=ANN),
        lambda: world.create("new", ANN),
        lambda: memory.write(services, ANN, "topics/new.md", "# New\n", anything),
        lambda: admin.register_user(services, ANN, "user"),
        lambda: admin.add_key(services, ANN, None),
    ):
        with pytest.raises(Conflict):
            start()
    for neighbour in NEIGHBOURS:
        world.append("new", "tea: mine", owner=neighbour)

    finish(world)

    nothing_left(world, ANN)
    world.append("s", "tea: a new beginning", owner=ANN)
    assert world.log("s", ANN) == [(1, "tea: a new beginning")]


def test_an_account_that_is_being_erased_is_closed_for_each_user(world: World) -> None:
    begin(world, User("acme", ""))
    with pytest.raises(Conflict):
        world.append("s", "x", owner=User("acme", "whoever"))
    world.append("s", "x", owner=User("acme2", "whoever"))


# ---- tasks and askers


def test_asking_twice_is_one_erasure(world: World) -> None:
    use(world, ANN)
    task_id = begin(world, ANN)
    assert begin(world, ANN) == task_id
    with pytest.raises(Conflict):
        begin(world, ANN, by=ALICE)
    finish(world)
    assert receipt(world, task_id)["keys"] == 2
    assert begin(world, ANN) != task_id


def test_an_administrator_that_erases_its_own_account_leaves_the_receipt(world: World) -> None:
    use(world, ANN)
    task_id = begin(world, User("acme", ""), by=ANN)
    finish(world)
    assert receipt(world, task_id, by=ANN)["users"] == 1
    assert [row["task_id"] for row in world.rows("TASKS#")] == [task_id]
    world.clock.advance(31 * 86_400)
    with pytest.raises(NotFound):
        task.get(world.services(), ANN, task_id)


def test_the_task_tells_how_far_it_is(world: World) -> None:
    use(world, ANN)
    task_id = begin(world, ANN)
    found = task.get(world.services(), ROOT, task_id)
    assert (found["task_type"], found["status"], found["resource_id"]) == ("user_erasure", "pending", "a")
    world.erase_next()
    found = task.get(world.services(), ROOT, task_id)
    assert (found["status"], found["stage"]) == ("running", "wait 1/2")
    for refused in (task.cancel, task.retry):
        with pytest.raises(FailedPrecondition):
            refused(world.services(), ROOT, task_id)


def test_a_large_user_is_erased_in_bounded_calls(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erase, "STEPS", 3)
    use(world, ANN)
    expected = recount(world, is_ann)
    task_id = begin(world, ANN)
    calls = []
    while len(world.erase_queue):
        before = len(world.calls.names)
        world.erase_next()
        calls.append(len(world.calls.names) - before)
    assert len(calls) > 3 and max(calls) < 30
    finish(world, rounds=20)
    assert {name: receipt(world, task_id)[name] for name in expected} == expected
    nothing_left(world, ANN)


def test_pages_of_a_store_are_counted_once(world: World) -> None:
    world.objects._page = 3
    use(world, ANN)
    expected = recount_by_pages(world)
    task_id = begin(world, ANN)
    finish(world, rounds=10)
    assert receipt(world, task_id)["versions"] == expected
    nothing_left(world, ANN)


def recount_by_pages(world: World) -> dict[str, int]:
    world.objects._page = 100_000
    found = recount(world, is_ann)["versions"]
    world.objects._page = 3
    return dict(found)


def test_an_erasure_that_does_not_get_on_says_so(world: World) -> None:
    task_id = begin(world, ANN)
    (delivery,) = world.erase_queue.receive(1)
    assert isinstance(delivery.message, EraseRequested)
    erase.trouble(world.services(), delivery.message, "a store did not answer")
    found = task.get(world.services(), ROOT, task_id)
    assert (found["status"], found["error"]) == ("failed", "a store did not answer")
    world.erase_queue.done(delivery)
    finish(world)  # the sweep sends again
    assert receipt(world, task_id)["users"] == 1
