"""Sessions that fall silent: the due marker, and the sweep that looks at it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from strandline.domain.auto_commit import Triggers
from strandline.domain.session import Head
from strandline.pipeline.restore import run_restore
from strandline.pipeline.services import Rules
from strandline.ports import Ambiguous
from tests.pipeline.faults import FAULTS, run
from tests.pipeline.test_auto_commit import policy
from tests.pipeline.trips import Killed
from tests.pipeline.world import ALICE, DAY, HEAL_SECONDS, World, counted

HOUR = 3_600
WEEK = 7 * DAY


@pytest.fixture
def world() -> World:
    return World(Rules(heal_seconds=HEAL_SECONDS, triggers=Triggers(idle=True)))


def begin(world: World, *names: str, **fields: int) -> None:
    for name in names or ("s",):
        world.create(name, auto_commit_policy=policy(**({"idle_timeout_seconds": HOUR} | fields)))


def say(world: World, text: str, name: str = "s") -> None:
    world.append(name, text, ids=f"{text}/")


def markers(world: World) -> Sequence[Any]:
    return world.rows("IDLE#")


def test_a_session_that_falls_silent_is_archived_whole(world: World) -> None:  # B-B8 B-B9
    begin(world, keep_recent_count=2)
    say(world, "tea: green")
    say(world, "b")
    assert world.sweep(HOUR - 1) == {"due": 0, "committed": 0, "moved": 0, "healed": 0, "failed": 0}
    assert world.sweep(1) == {"due": 1, "committed": 1, "moved": 0, "healed": 0, "failed": 0}
    world.settle()

    head = world.head("s")
    assert (head.commit_count, head.live_count) == (1, 0)
    assert head.auto_commit_policy == policy(idle_timeout_seconds=HOUR, keep_recent_count=2)
    assert world.find("tea") == ["green"]
    world.sweep(DAY)
    assert markers(world) == [] == world.rows("DUE#")


def test_what_is_said_in_between_postpones_it(world: World) -> None:  # B-B9
    begin(world)
    say(world, "a")
    world.clock.advance(HOUR - 1)
    say(world, "b")
    assert world.sweep(1)["moved"] == 1
    assert world.sweep(HOUR - 2)["due"] == 0
    assert world.sweep(1)["committed"] == 1


def test_the_table_is_not_written_for_what_is_said_in_between(world: World) -> None:  # B-B9
    begin(world)
    say(world, "a")
    for text in "bcdefg":
        _, calls = counted(world, lambda text=text: say(world, text))
        assert not {name for name in calls if name.startswith("items.")}
    assert len(markers(world)) == 1


def test_the_marker_is_there_before_the_messages(world: World) -> None:
    begin(world)
    world.next(0, lambda: None)
    _, calls = counted(world, lambda: say(world, "a"))
    assert calls["items.put"] == 1
    names = world.calls.names
    assert names.index("items.put") < len(names) - 1 - names[::-1].index("objects.put")


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("at", range(8))
def test_no_session_is_without_its_marker_whatever_goes_wrong(
    world: World, at: int, kind: str
) -> None:  # B-B17
    FAULTS[kind](world, at)
    world.rules = Rules(heal_seconds=HEAL_SECONDS, triggers=Triggers(idle=True), default_policy=_default())
    run(world, lambda w: say(w, "a"))
    world.mend()
    world.sweep(DAY)
    world.settle()
    assert world.head("s").commit_count == 1
    assert world.head("s").live_count == 0


def _default() -> Any:
    from strandline.domain.auto_commit import AutoCommitPolicy

    return AutoCommitPolicy()


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("at", range(14))
def test_a_sweep_that_is_disturbed_is_made_up_for(world: World, at: int, kind: str) -> None:  # B-B17
    begin(world)
    say(world, "tea: green")
    world.clock.advance(HOUR)
    FAULTS[kind](world, at)
    run(world, lambda w: w.sweep(0))
    world.mend()
    for _ in range(3):
        world.sweep()
        world.settle()
    assert world.head("s").commit_count == 1
    assert world.find("tea") == ["green"]
    world.clock.advance(DAY)
    world.heal(3)
    assert markers(world) == [] == world.rows("DUE#")


def test_two_sweeps_at_once_ask_once(world: World) -> None:
    begin(world)
    say(world, "a")
    world.clock.advance(HOUR)
    world.next(8, lambda: world.sweep(0))  # another sweep, when this one has read what is due
    world.sweep(0)
    assert len(world.commit_queue.sent) == 1
    world.settle()
    assert world.head("s").commit_count == 1


def test_a_write_after_the_sweep_looked_keeps_the_session_live(world: World) -> None:
    begin(world)
    say(world, "a")
    world.sweep(HOUR)
    say(world, "b")
    world.settle()
    assert world.head("s").commit_count == 0
    assert world.sweep(HOUR)["committed"] == 1
    world.settle()
    assert [text for _, text in world.log("s")] == ["a", "b"]


def test_what_is_not_the_sweep_s_business_is_left_alone(world: World) -> None:  # B-B8
    world.create("off", auto_commit_policy=None)
    begin(world, "later", idle_timeout_seconds=10 * HOUR)
    begin(world, "empty")
    for name in ("off", "later", "empty"):
        say(world, "a", name)
    world.commit("empty")
    world.settle()
    before = {name: world.writes(ALICE.head(name)) for name in ("off", "later")}
    world.sweep(HOUR)
    world.settle()
    assert {name: world.writes(ALICE.head(name)) for name in before} == before
    assert [row["session"]["session_id"] for row in markers(world)] == ["later"]
    assert world.head("empty").mark is None


def test_one_broken_head_stops_no_other(world: World) -> None:  # B-B8
    begin(world, "a", "b", "c")
    for name in "abc":
        say(world, "x", name)
    world.objects.put(ALICE.head("b"), b'{"schema": 99}')
    assert world.sweep(HOUR) == {"due": 3, "committed": 2, "moved": 0, "healed": 0, "failed": 1}
    assert world.sweep(0)["due"] == 0
    world.settle()
    assert (world.head("a").commit_count, world.head("c").commit_count) == (1, 1)


def test_a_chat_that_never_idles_is_committed_at_a_week(world: World) -> None:
    begin(world, idle_timeout_seconds=DAY)
    for hour in range(0, 7 * 24 - 12, 12):
        say(world, f"at {hour}")
        world.sweep(DAY / 2)
        world.settle()
    assert world.head("s").commit_count == 0
    world.sweep(DAY / 2)
    world.settle()
    assert (world.head("s").commit_count, world.head("s").live_count) == (1, 0)


def test_what_is_left_live_by_a_commit_counts_from_when_it_was_said(world: World) -> None:
    begin(world, idle_timeout_seconds=0)
    say(world, "a")
    world.clock.advance(3 * DAY)
    say(world, "b")
    world.clock.advance(DAY)
    world.commit("s", keep=1)
    world.settle()
    world.sweep(6 * DAY - 60)
    world.settle()
    assert world.head("s").commit_count == 1
    world.sweep(120)
    world.settle()
    assert world.head("s").commit_count == 2


def test_a_marker_that_the_head_does_not_name_is_kept_for_a_day(world: World) -> None:
    """The head that names it may still be on its way."""
    begin(world, idle_timeout_seconds=1)
    world.objects.faults.late("put")
    with pytest.raises(Exception, match="answer"):
        for nth in range(2, 40):
            world.objects.faults.before("put", Ambiguous("no answer"), nth=nth)
        say(world, "a")
    world.mend_but_keep_late()
    world.sweep(60)
    world.land()
    assert world.head("s").live_count == 1
    for _ in range(3):
        world.sweep(DAY)
        world.settle()
    assert world.head("s").commit_count == 1
    assert markers(world) == []


def seven(world: World, number: int, *, due: int) -> dict[str, int]:
    """What a sweep asks of the stores with so many sessions, of which so many have fallen silent."""
    for n in range(number):
        begin(world, f"s{n}", idle_timeout_seconds=HOUR if n < due else 10 * HOUR)
        say(world, "a", f"s{n}")
    world.clock.advance(HOUR)
    _, calls = counted(world, lambda: world.sweep(0))
    return calls


def test_a_sweep_costs_what_is_due_not_what_is_stored() -> None:  # B-B14
    rules = Rules(triggers=Triggers(idle=True), scan_batch=16)
    few, many = seven(World(rules), 10, due=10), seven(World(rules), 1_000, due=10)
    assert few == many
    assert few["objects.get"] == 10


def test_markers_are_read_in_batches_with_a_pause(world: World) -> None:
    world.rules = Rules(triggers=Triggers(idle=True), scan_batch=2, scan_pause_seconds=0.5)
    names = [f"s{n}" for n in range(40)]
    begin(world, *names)
    for name in names:
        say(world, "a", name)
    assert world.sweep(HOUR)["committed"] == 40
    assert set(world.clock.slept) == {0.5}
    assert len(world.clock.slept) >= 40 / 2 - 8


def test_a_sweep_stops_in_time_and_the_next_goes_on(world: World) -> None:
    world.rules = Rules(triggers=Triggers(idle=True), scan_batch=1, scan_pause_seconds=15)
    names = [f"s{n}" for n in range(12)]
    begin(world, *names)
    for name in names:
        say(world, "a", name)
    world.clock.advance(HOUR)
    first = world.sweep(0)
    assert 0 < first["committed"] < 12
    for _ in range(12):
        world.sweep(60)
    world.settle()
    assert all(world.head(name).commit_count == 1 for name in names)


def test_a_deleted_session_is_not_committed(world: World) -> None:  # B-A15
    begin(world)
    say(world, "a")
    world.delete("s")
    begin(world)
    say(world, "new")
    world.sweep(HOUR)
    world.settle()
    head: Head = world.head("s")
    assert (head.commit_count, [text for _, text in world.log("s")]) == (1, ["new"])


def test_the_table_is_lost_and_markers_are_restored(world: World) -> None:
    begin(world)
    say(world, "a")
    for row in markers(world):
        world.items.delete(row["pk"], row["sk"])
    run_restore(world.services())
    world.sweep(HOUR)
    world.settle()
    assert world.head("s").commit_count == 1


def test_a_session_without_a_marker_gets_one_with_its_next_message(world: World) -> None:
    begin(world)
    with pytest.raises(Killed):
        world.kill(1, before=True)
        say(world, "a")
    say(world, "b")
    assert world.head("s").mark in {row["mark"] for row in markers(world)}


@pytest.mark.parametrize("at", range(17, 22))
def test_what_is_said_while_the_sweep_looks_keeps_its_marker(world: World, at: int) -> None:
    """The head names a marker that the sweep is about to remove, since nothing was live when it looked."""
    begin(world)
    say(world, "a")
    world.commit("s")
    world.settle()
    world.next(at, lambda: say(world, "b"))
    world.sweep(HOUR)
    assert world.head("s").mark in {row["mark"] for row in markers(world)}


def test_a_deployment_that_wants_idle_commits_again_gets_them(world: World) -> None:
    begin(world)
    say(world, "a")
    world.rules = replace(world.rules, triggers=Triggers(idle=False, max_age_seconds=0))
    world.sweep(HOUR)
    assert (markers(world), world.head("s").mark) == ([], None)
    world.rules = replace(world.rules, triggers=Triggers(idle=True))
    say(world, "b")
    world.sweep(HOUR)
    world.settle()
    assert world.head("s").commit_count == 1
