"""Actors one step at a time, and their time."""

import pytest

from tests.sim.scheduler import STEP, InTurn, Pct, Scheduler, Stuck, Uniform

SOON = 5.0


def walk(scheduler: Scheduler, told: list[str], name: str, steps: int) -> None:
    for step in range(steps):
        scheduler.point()
        told.append(f"{name}{step}")


def interleaved(scheduler: Scheduler) -> list[str]:
    """The order in which three actors of three steps each went on."""
    told: list[str] = []
    for name in "abc":
        scheduler.spawn(name, lambda name=name: walk(scheduler, told, name, 3))
    scheduler.run()
    return told


def test_in_turn_nobody_is_interrupted() -> None:
    assert interleaved(Scheduler(InTurn())) == "a0 a1 a2 b0 b1 b2 c0 c1 c2".split()


@pytest.mark.parametrize("strategy", [Uniform, lambda seed: Pct(seed, depth=3, steps=12)])
def test_a_seed_is_one_order_and_different_seeds_are_many(strategy) -> None:
    orders = [tuple(interleaved(Scheduler(strategy(seed)))) for seed in range(20)]
    assert orders == [tuple(interleaved(Scheduler(strategy(seed)))) for seed in range(20)]
    assert len(set(orders)) >= 10


def test_without_change_points_the_highest_goes_on_to_its_end() -> None:
    for seed in range(20):
        told = interleaved(Scheduler(Pct(seed, depth=1, steps=12)))
        assert "".join(word[0] for word in told) in {"".join(c * 3 for c in order) for order in ORDERS}


ORDERS = ("abc", "acb", "bac", "bca", "cab", "cba")


def test_time_goes_on_with_each_step_and_to_the_next_event_when_nobody_can_go_on() -> None:
    scheduler = Scheduler(InTurn())
    woken: list[float] = []

    def sleeper() -> None:
        scheduler.sleep(SOON)
        woken.append(scheduler.now)

    scheduler.spawn("sleeper", sleeper)
    scheduler.run()

    assert woken == [pytest.approx(SOON + 2 * STEP)]


def test_who_waits_goes_on_when_it_is_woken_or_never() -> None:
    scheduler = Scheduler(InTurn())
    told: list[str] = []
    for name in ("called", "forgotten"):
        scheduler.spawn(name, lambda name=name: (scheduler.wait(name), told.append(name)))
    scheduler.at(SOON, lambda: scheduler.wake("called"))

    scheduler.run()
    scheduler.close()

    assert told == ["called"]
    assert scheduler.actors == []


def test_an_actors_error_is_the_runs() -> None:
    scheduler = Scheduler(InTurn())
    scheduler.spawn("unlucky", lambda: {}["nothing"])
    with pytest.raises(KeyError):
        scheduler.run()


def test_a_run_without_end_is_told() -> None:
    scheduler = Scheduler(InTurn())
    scheduler.spawn("busy", lambda: walk(scheduler, [], "busy", 1_000))
    with pytest.raises(Stuck, match="busy"):
        scheduler.run(steps=100)
