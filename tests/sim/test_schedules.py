"""Schedules by chance: several clients and workers at once, in orders that are hard to come by, with faults."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sim import cases

AT_ONCE = 500
SEEDS = 3_000


@pytest.mark.parametrize("first", range(0, SEEDS, AT_ONCE))
def test_schedules(first: int) -> None:  # B-B6 B-B7 B-B17
    assert cases.failures(map(str, range(first, first + AT_ONCE))) == []


@pytest.mark.parametrize("name", cases.kept())
def test_what_failed_once_does_not_fail_again(name: str) -> None:
    assert cases.failure(name) is None


def _trace(name: str) -> list[str]:
    from tests.sim.__main__ import told

    return list(told(cases.of(name).run()))


@pytest.mark.parametrize("name", ["1", "2", "17", "delete/20/late"])
def test_the_same_name_is_the_same_run(name: str) -> None:
    assert _trace(name) == _trace(name)


def test_the_same_seed_is_the_same_run_in_another_process() -> None:
    """Whatever the order is in which that process walks through a set."""
    told = {_told_elsewhere(hash_seed) for hash_seed in ("1", "2")}
    assert told == {"\n".join([*_trace("17"), "17: as promised"])}


def _told_elsewhere(hash_seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run(
        [sys.executable, "-m", "tests.sim", "17"],
        cwd=Path(__file__).parents[2],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.rstrip("\n")
