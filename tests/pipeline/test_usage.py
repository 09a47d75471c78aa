"""Sessions report what they used: counted once whatever is killed or repeated, and nothing of a memory changes."""

import json
from collections.abc import Callable

import pytest

from strandline.domain.errors import NotFound
from strandline.pipeline import memory, session
from strandline.pipeline.usage import UsageReport, read_totals, run_usage
from strandline.storage.layout import Life
from strandline.storage.log import ref
from tests.pipeline.faults import FAULTS, going_on, run
from tests.pipeline.world import ALICE, BOB, World, counted

TEA, SPORT = "preferences/tea.md", "preferences/sport.md"


@pytest.fixture
def begun() -> World:
    return begin()


def begin() -> World:
    world = World()
    world.remember("s", "tea: I like green tea", "sport: I row on Sundays")
    return world


def use(world: World, *paths: str, name: str = "s", key: str = "") -> dict[str, int]:
    done = run_usage(world.services(), UsageReport(ALICE, name, paths, repeat_key=key))
    return {path: tally.count for path, tally in done.totals.items()}


def totals(world: World) -> dict[str, int]:
    found = read_totals(world.services(), ALICE)
    return {path: tally.count for path, tally in found.tallies.items()}


def of_session(world: World, name: str = "s") -> dict[str, int]:
    rows = json.loads(world.body(Life(ref(world.head(name))).usage))["memories"]
    return {path: count for path, (count, _) in rows.items()}


def test_a_use_is_counted_in_the_session_and_in_all(begun: World) -> None:
    assert use(begun, TEA, SPORT) == {TEA: 1, SPORT: 1}
    begun.append("s", "another turn", ids="n")
    assert use(begun, TEA) == {TEA: 2}
    begun.append("other", "hello")
    assert use(begun, TEA, name="other") == {TEA: 3}
    assert totals(begun) == {TEA: 3, SPORT: 1}
    assert (of_session(begun), of_session(begun, "other")) == ({TEA: 2, SPORT: 1}, {TEA: 1})


def test_a_report_that_comes_again_counts_once(begun: World) -> None:  # B-A7
    for _ in range(3):
        assert use(begun, TEA) == {TEA: 1}
    begun.append("s", "another turn", ids="n")
    for _ in range(2):
        assert use(begun, TEA, key="k") == {TEA: 2}
    begun.append("s", "and another", ids="o")
    assert use(begun, TEA, key="k") == {TEA: 2}
    assert totals(begun) == of_session(begun) == {TEA: 2}


def test_what_is_no_memory_is_not_counted(begun: World) -> None:
    assert use(begun, "preferences/none.md", "", "..", "../x.md", "preferences", TEA) == {TEA: 1}
    assert use(begun, "preferences/none.md") == {}
    assert totals(begun) == {TEA: 1}


def test_a_report_of_nothing_known_writes_nothing(begun: World) -> None:
    _, calls = counted(begun, lambda: use(begun, "preferences/none.md"))
    assert not [name for name in calls if name.startswith(("objects.put", "items"))]


def test_a_session_that_is_not_there(begun: World) -> None:  # B-A14
    with pytest.raises(NotFound):
        use(begun, TEA, name="nowhere")
    with pytest.raises(NotFound):
        run_usage(begun.services(), UsageReport(BOB, "s", [TEA]))
    assert not begun.stored("used.json")


def test_another_user_s_memory_is_not_counted(begun: World) -> None:  # B-A14
    begun.append("s", "hello", owner=BOB)
    assert run_usage(begun.services(), UsageReport(BOB, "s", [TEA])).totals == {}
    assert not begun.stored("used.json")


def test_nothing_of_a_memory_changes(begun: World) -> None:
    before = begun.bodies("/memories/"), begun.bodies("/index/"), begun.bodies("/journal/")
    versions = begun.writes(ALICE.memory(TEA))
    sha256 = memory.read(begun.services(), ALICE, TEA).sha256
    use(begun, TEA)
    assert (begun.bodies("/memories/"), begun.bodies("/index/"), begun.bodies("/journal/")) == before
    assert begun.writes(ALICE.memory(TEA)) == versions
    assert memory.read(begun.services(), ALICE, TEA).sha256 == sha256


def test_it_costs_what_it_says(begun: World) -> None:
    service = begun.services()
    report = UsageReport(ALICE, "s", [TEA, SPORT])
    run_usage(service, report)
    begun.append("s", "another turn", ids="n")
    _, calls = counted(begun, lambda: run_usage(service, report))
    assert calls == {"objects.get": 4, "objects.put": 2}  # two of them conditional


def test_nothing_of_it_is_in_the_table(begun: World) -> None:
    use(begun, TEA)
    for row in begun.items.rows():
        begun.items.delete(row["pk"], row["sk"])
    assert totals(begun) == {TEA: 1}
    assert use(begun, TEA) == {TEA: 1}


def calls_of_a_report() -> int:
    world = begin()
    before = len(world.calls.names)
    use(world, TEA, SPORT)
    return len(world.calls.names) - before


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("at", range(calls_of_a_report()))
def test_one_fault_anywhere_counts_once_in_the_end(at: int, kind: str) -> None:  # B-B17
    world = begin()
    FAULTS[kind](world, at)
    run(world, lambda w: use(w, TEA, SPORT))
    assert totals(world) == of_session(world) == {TEA: 1, SPORT: 1}


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("at", range(calls_of_a_report()))
def test_what_is_not_repeated_is_caught_up_by_the_next_report(at: int, kind: str) -> None:  # B-B17
    world = begin()
    FAULTS[kind](world, at)
    with going_on():
        use(world, TEA)
    world.mend()
    world.append("s", "another turn", ids="n")
    assert use(world, SPORT)[SPORT] == 1
    assert totals(world) == of_session(world)
    assert totals(world).get(TEA, 0) in (0, 1)


def races(act: Callable[[World], object]) -> list[World]:
    """Another report at each call of a report, before it and after it."""
    found = []
    for at in range(calls_of_a_report()):
        for before in (True, False):
            world = begin()
            world.next(at, lambda world=world: act(world), before=before)  # type: ignore[misc]
            use(world, TEA)
            found.append(world)
    return found


def test_two_reports_of_one_session_at_once() -> None:
    for world in races(lambda w: use(w, TEA, SPORT)):
        assert totals(world) == of_session(world) == {TEA: 1, SPORT: 1}


def test_reports_of_two_sessions_at_once() -> None:
    def other(world: World) -> None:
        world.append("other", "hello")
        use(world, TEA, name="other")

    for world in races(other):
        assert totals(world) == {TEA: 2}


def test_a_turn_that_goes_on_meanwhile_counts_for_itself() -> None:
    def next_turn(world: World) -> None:
        world.append("s", "another turn", ids="n")
        use(world, TEA)

    for world in races(next_turn):
        assert totals(world) == of_session(world)
        assert totals(world)[TEA] in (1, 2)


def test_an_erased_session_takes_its_usage_along(begun: World) -> None:  # B-A15
    use(begun, TEA)
    begun.append("other", "hello")
    use(begun, TEA, name="other")
    life = begun.head("s").incarnation

    session.delete(begun.services(), ALICE, "s")

    assert [key for key in begun.stored("used.json") if "/sessions/s/" in key] == []
    assert life not in begun.body(ALICE.usage).decode()
    assert totals(begun) == {TEA: 2}


def test_a_report_that_races_a_delete_is_not_in_the_successor() -> None:  # B-A15
    for at in range(calls_of_a_report()):
        world = begin()
        world.next(at, lambda world=world: session.delete(world.services(), ALICE, "s"))  # type: ignore[misc]
        with going_on():
            use(world, TEA)
        world.append("s", "a new life")
        assert totals(world).get(TEA, 0) in (0, 1)
        assert use(world, SPORT) == {SPORT: 1}
        assert of_session(world) == {SPORT: 1}
