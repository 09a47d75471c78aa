"""Each recorded conversation gives what was recorded: on the fakes, over moto, and with a restart anywhere. (B-D6)"""

from collections.abc import Callable

import pytest

from tests.pipeline.world import World
from tests.replay.inside import Inside
from tests.replay.script import NAMES, Run, Script
from tests.sim.moto.world import MotoWorld

Restarts = Callable[[int], bool]


def played(script: Script, driver: Inside, restarts: Restarts = lambda _: False) -> Run:
    """The script, run to its end, with a restart before the steps that `restarts` says."""
    run = Run(script, driver)
    for number in range(len(script.steps)):
        if restarts(number):
            driver.restart()
        run.step(number)
    return run


def test_there_are_ten() -> None:
    assert len(NAMES) == 10


@pytest.mark.parametrize("name", NAMES)
def test_on_the_fakes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script.load(name)
    assert played(script, Inside(monkeypatch, World())).seen == script.expected


@pytest.mark.parametrize("name", NAMES)
def test_over_moto(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script.load(name)
    assert played(script, Inside(monkeypatch, MotoWorld())).seen == script.expected


@pytest.mark.parametrize("name", NAMES)
def test_over_moto_with_a_restart_between_all_steps(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script.load(name)
    assert played(script, Inside(monkeypatch, MotoWorld()), lambda _: True).seen == script.expected


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_with_a_restart_between_any_two_steps(name: str) -> None:
    script = Script.load(name)
    for at in range(1, len(script.steps)):
        with pytest.MonkeyPatch.context() as patch:
            seen = played(script, Inside(patch, World()), lambda number, at=at: number == at).seen
            assert seen == script.expected, f"restarted before step {at}, {script.steps[at]['do']}"


@pytest.mark.parametrize("name", NAMES)
def test_asked_twice_it_is_the_same_and_nothing_is_written(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, world = Script.load(name), World()
    driver = Inside(monkeypatch, world)
    run = Run(script, driver)
    for number, step in enumerate(script.steps):
        run.step(number)
        if step["do"] == "context":
            before = {key: world.writes(key) for key in world.stored()}
            run.step(number)
            assert {key: world.writes(key) for key in world.stored()} == before
            again, first = run.seen.pop(), run.seen[-1]
            assert {**again, "compaction": None} == {**first, "compaction": None}
    assert run.seen == script.expected
