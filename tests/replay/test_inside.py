"""Each recorded conversation gives what was recorded: on the fakes, over moto, and with a restart anywhere. (B-D6)"""

import pytest

from tests.pipeline.world import World
from tests.replay.inside import Inside, on_the_fakes, played
from tests.replay.script import NAMES, Run, Script
from tests.sim.moto.world import MotoWorld


def test_there_are_ten() -> None:
    assert len(NAMES) == 10


@pytest.mark.parametrize("name", NAMES)
def test_on_the_fakes(name: str) -> None:
    assert on_the_fakes(name).expectable == Script.load(name).expected


@pytest.mark.parametrize("name", NAMES)
def test_over_moto(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = played(Script.load(name), Inside(monkeypatch, MotoWorld()))
    assert run.seen == on_the_fakes(name).seen


@pytest.mark.parametrize("name", NAMES)
def test_over_moto_with_a_restart_between_all_steps(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = played(Script.load(name), Inside(monkeypatch, MotoWorld()), lambda _: True)
    assert run.seen == on_the_fakes(name).seen


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_with_a_restart_between_any_two_steps(name: str) -> None:
    script = Script.load(name)
    for at in range(1, len(script.steps)):
        with pytest.MonkeyPatch.context() as patch:
            run = played(script, Inside(patch, World()), lambda number, at=at: number == at)
        assert run.seen == on_the_fakes(name).seen, f"restarted before step {at}"


@pytest.mark.parametrize("name", NAMES)
def test_asked_twice_it_is_the_same_and_nothing_is_written(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, world = Script.load(name), World()
    run = Run(script, Inside(monkeypatch, world))
    for number, step in enumerate(script.steps):
        run.step(number)
        if step["do"] == "context":
            before = {key: world.writes(key) for key in world.stored()}
            run.step(number)
            assert {key: world.writes(key) for key in world.stored()} == before
            again, first = run.seen.pop(), run.seen[-1]
            assert {**again, "compaction": None} == {**first, "compaction": None}
    assert run.seen == on_the_fakes(name).seen
