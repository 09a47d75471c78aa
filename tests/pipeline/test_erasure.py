"""Users and accounts are erased, all versions of what they had, and a receipt says what that was.

Kills, lost answers and second deliveries at every single call; other tenants, some of names that begin alike.
"""

from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from strandline.domain.contracts import EraseRequested, SessionRef
from strandline.domain.errors import Conflict, FailedPrecondition, NotFound
from strandline.pipeline import admin, erase, memory, session, task
from strandline.pipeline.context import run_context
from strandline.pipeline.sweep import run_sweep
from strandline.ports import Item
from strandline.storage.keys import KeyOwner, hash_key
from strandline.storage.layout import User, area, owner_of
from tests.pipeline.faults import FAULTS, going_on
from tests.pipeline.world import ALICE, HEAL_SECONDS, World

ROOT = User("default", "default")
ANN = User("acme", "a")
NEIGHBOURS = (
    User("acme", "ab"),
    User("acme", "a-b"),
    User("acme", "a/b"),
    User("acme", "A"),
    User("ac", "a"),
    User("acme2", "a"),
)


def use(world: World, owner: User) -> None:
    """A registered user with two keys, an archived and a live session, a deleted one, memories and an old version."""
    services = world.services()
    services.accounts.add_user(owner, "user")
    for n in (1, 2):
        services.keys.add(hash_key(f"{owner} {n}"), KeyOwner(owner.account_id, owner.user_id, "user"))
    world.remember("s", "tea: I like green tea", "sport: I row on Sundays", owner=owner)
    world.append("live", "tea: not yet", owner=owner)
    world.append("gone", "tea: forget it", owner=owner)
    session.delete(services, owner, "gone")
    memory.write(services, owner, "topics/mine.md", "# Mine\n", anything)
    memory.write(services, owner, "topics/mine.md", "# Mine, again\n", anything)
    memory.delete(services, owner, "topics/mine.md", anything)


def anything(_: object) -> None:
    """No guard."""


def begin(world: World, whose: User, by: User = ROOT) -> str:
    ref = SessionRef(account_id=whose.account_id, user_id=whose.user_id, session_id="")
    return erase.begin(world.services(), ref, by).task_id


def finish(world: World, rounds: int = 8) -> None:
    """Time goes by and the queues run empty, until no erasure is going on."""
    for _ in range(rounds):
        with going_on():
            world.settle(200)
        world.clock.advance(HEAL_SECONDS + 1)
        with going_on():
            run_sweep(world.services())
    world.settle(200)
    assert world.rows("ERASE#") == []
    assert [row for row in world.rows("DUE#") if row["kind"] == "erase"] == []


def receipt(world: World, task_id: str, by: User = ROOT) -> Item:
    found = task.get(world.services(), by, task_id)
    assert (found["status"], found["stage"], found["error"]) == ("completed", "done", None)
    return dict(found["result"])


def versions(world: World, prefix: str = "v1/") -> list[tuple[str, bool]]:
    """(key, whether a plain GET finds it) of every version, delete markers included."""
    page = world._quiet(lambda: world.objects.versions_below(prefix, limit=100_000))
    assert page.next is None
    return [(v.key, v.latest and not v.deleted) for v in page.versions]


def recount(world: World, mine: Callable[[User], bool]) -> Item:
    """What a receipt must say if all of it were erased now."""
    stored = [(area(key), current) for key, current in versions(world) if mine(owner_of(key))]
    kinds = {"SESSIONS#": "session_list", "TASKS#": "tasks", "REPLAYS#": "replays", "USERS#": "register"}
    items: Counter[str] = Counter()
    for prefix, kind in kinds.items():
        items[kind] += sum(mine(_owner(row)) for row in world.rows(prefix))
    return {
        "keys": sum(mine(_owner(row)) for row in world.rows("KEYS#")),
        "objects": dict(Counter(name for name, current in stored if current)),
        "versions": dict(Counter(name for name, _ in stored)),
        "items": {kind: count for kind, count in items.items() if count},
    }


def _owner(row: Item) -> User:
    """Whose a row is, by its partition."""
    account, _, user = row["pk"].partition("#")[2].partition("/")
    return User(account, (user or row["sk"]).replace("%2F", "/"))


def nothing_left(world: World, owner: User) -> None:
    assert versions(world, owner.prefix) == []
    assert [row for row in world.rows("") if _owner(row) == owner and not row["pk"].startswith("DUE#")] == []


def everything(world: World, mine: Callable[[User], bool]) -> object:
    """All that is stored of others."""
    page = world._quiet(lambda: world.objects.versions_below("v1/", limit=100_000))
    kept = [v for v in page.versions if mine(owner_of(v.key))]
    rows = [row for row in world.rows("") if not row["pk"].startswith(("DUE#", "ERASE#", "KEY#"))]
    return kept, [row for row in rows if row["pk"] != "ACCOUNTS" and mine(_owner(row))]


def is_ann(user: User) -> bool:
    return user == ANN


def is_other(user: User) -> bool:
    return user in NEIGHBOURS


def test_a_user_is_erased_and_nobody_else(world: World) -> None:
    for owner in (ANN, *NEIGHBOURS):
        use(world, owner)
    expected, others = recount(world, is_ann), everything(world, is_other)
    keys = len(world.rows("KEY#"))

    task_id = begin(world, ANN)
    finish(world)

    assert receipt(world, task_id) == {"account_id": "acme", "user_id": "a", "users": 1, **expected}
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
    assert found == {"account_id": "acme", "users": 6, **expected}
    assert everything(world, other) == others
    assert versions(world, "v1/acme/") == []
    assert {row["pk"] for row in world.rows("") if "acme" in row["pk"] and "acme2" not in row["pk"]} == set()
    assert world.rows("ACCOUNTS") == []


def test_a_user_of_whom_nothing_is_known_gets_a_receipt_of_nothing(world: World) -> None:
    task_id = begin(world, ANN)
    finish(world)
    nothing = {"account_id": "acme", "user_id": "a", "users": 1, "keys": 0}
    assert receipt(world, task_id) == {**nothing, "objects": {}, "versions": {}, "items": {}}
    assert versions(world) == []


def dying(kind: str, whose: User) -> Iterator[tuple[int, World, str, Item]]:
    """Worlds in which a worker has died, or heard no answer, at one of its calls; and what the receipt must say."""
    for at in range(400):
        world = World()
        use(world, ANN)
        expected = recount(world, is_ann)
        task_id = begin(world, whose)
        FAULTS[kind](world, at)
        with going_on():
            world.settle(200)
        if world.calls.trip is not None:
            assert at > 40
            return
        yield at, world, task_id, expected
    raise AssertionError("an erasure of so many calls")


@pytest.mark.parametrize("whose", [ANN, User("acme", "")], ids=["user", "account"])
@pytest.mark.parametrize("kind", FAULTS)
def test_a_worker_that_dies_counts_nothing_twice_and_leaves_nothing(kind: str, whose: User) -> None:  # B-B17
    for at, world, task_id, expected in dying(kind, whose):
        finish(world)
        found = receipt(world, task_id)
        assert {name: found[name] for name in expected} == expected, f"call {at}"
        assert found["users"] == 1
        nothing_left(world, ANN)


@pytest.mark.parametrize("kind", FAULTS)
def test_the_second_round_may_die_too(kind: str) -> None:  # B-B17
    for at in range(200):
        world = World()
        use(world, ANN)
        expected = recount(world, is_ann)
        task_id = begin(world, ANN)
        world.settle(200)
        world.clock.advance(2 * HEAL_SECONDS)
        FAULTS[kind](world, at)
        with going_on():
            run_sweep(world.services())
            world.settle(200)
        fired = world.calls.trip is None
        finish(world)
        assert {name: receipt(world, task_id)[name] for name in expected} == expected, f"call {at}"
        nothing_left(world, ANN)
        if not fired:
            return
    raise AssertionError("a round of so many calls")


@pytest.mark.parametrize("kind", FAULTS)
def test_a_request_that_dies_has_begun_or_not(kind: str) -> None:  # B-B17
    for at in range(8):
        world = World()
        use(world, ANN)
        FAULTS[kind](world, at)
        with going_on():
            begin(world, ANN)
        world.mend()
        begun = world.rows("ERASE#")
        finish(world)
        if begun:
            assert receipt(world, begun[0]["task_id"])["keys"] == 2, f"call {at}"
            nothing_left(world, ANN)
        else:
            assert world.log("live", ANN) == [(1, "tea: not yet")], f"call {at}"
            assert [row for row in world.rows("TASKS#default") if row["status"] != "completed"] == []


def test_two_workers_at_one_erasure_count_once(world: World) -> None:
    use(world, ANN)
    expected = recount(world, is_ann)
    ref = SessionRef(account_id="acme", user_id="a", session_id="")
    again = EraseRequested(scope="user", session=ref)
    for at in range(60):
        world = World()
        use(world, ANN)
        task_id = begin(world, ANN)
        world.next(at, lambda world=world: erase.run_erase(world.services(), again))  # type: ignore[misc]
        world.settle(400)
        finish(world)
        found = receipt(world, task_id)
        assert {name: found[name] for name in expected} == expected, f"call {at}"


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


def test_an_append_that_was_let_in_before_is_erased_in_the_second_round(world: World) -> None:  # B-A15
    for at in range(3):
        world = World()
        use(world, ANN)
        world.next(at, lambda world=world: (begin(world, ANN), world.settle(200)))  # type: ignore[misc]
        with going_on():
            world.append("new", "tea: just in time", owner=ANN)
        (row,) = world.rows("TASKS#default")
        finish(world)
        nothing_left(world, ANN)
        assert receipt(world, row["task_id"])["users"] == 1


WAY: dict[str, Callable[[World], object]] = {
    "append": lambda world: world.append("live", "tea: more", owner=ANN, ids="n"),
    "commit": lambda world: world.commit("live", ANN),
    "extract": lambda world: world.extract_next(),
    "merge": lambda world: world.merge_next(),
    "memory": lambda world: memory.write(world.services(), ANN, "topics/n.md", "# N\n", anything),
}


@pytest.mark.parametrize("step", WAY)
def test_what_is_under_way_leaves_nothing(step: str) -> None:  # B-A15
    for at in range(40):
        world = World()
        use(world, ANN)
        for earlier in ("commit", "extract")[
            : ("extract", "merge").index(step) + 1 if step in ("extract", "merge") else 0
        ]:
            WAY[earlier](world)
        world.next(at, lambda world=world: (begin(world, ANN), settle_erase(world)))  # type: ignore[misc]
        with going_on():
            WAY[step](world)
        if world.calls.trip is not None:
            return
        finish(world)
        nothing_left(world, ANN)
    raise AssertionError("so many calls")


def settle_erase(world: World) -> None:
    while len(world.erase_queue):
        world.erase_next()


def test_a_write_that_lands_late_is_erased_in_the_second_round(world: World) -> None:
    use(world, ANN)
    world.objects.faults.late("put")
    with going_on():
        world.append("late", "tea: after all", owner=ANN)
    world.mend_but_keep_late()
    task_id = begin(world, ANN)
    world.settle(200)
    world.land()
    finish(world)
    nothing_left(world, ANN)
    assert receipt(world, task_id)["users"] == 1


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
