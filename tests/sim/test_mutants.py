"""Every deliberate mistake is found by the simulation: so each condition, check and order is there for something."""

from functools import cache
from pathlib import Path

import pytest

from tests.sim.mutants import BY_HAND, conditions_met, mutants
from tests.sim.mutants_code import Mutant, about, conditional_calls, edited, function
from tests.sim.mutants_known import ELSEWHERE, EQUIVALENT, OPEN
from tests.sim.mutants_search import kept, search, shown_by

AGAIN = 200
"""So many runs are tried when the one that is kept does not show its mutant any more."""


@cache
def all_mutants() -> dict[str, Mutant]:
    return mutants()


@pytest.mark.parametrize("name", kept())
def test_a_mutant_is_found(name: str) -> None:
    mutant = all_mutants()[name]
    case, _ = kept()[name]
    assert shown_by(mutant, case) or search(mutant, AGAIN), "no run shows it: make sim MUTANTS=1"


def test_there_is_a_run_for_every_mutant() -> None:
    """Or a reason why there is none."""
    assert set(kept()) | set(EQUIVALENT) | OPEN == set(all_mutants())
    assert not set(kept()) & (set(EQUIVALENT) | OPEN)


def test_every_condition_is_met_by_the_simulation_or_tried_elsewhere() -> None:
    met = {place for place, _ in conditions_met()}
    assert met | set(ELSEWHERE) == set(conditional_calls())
    assert not met & set(ELSEWHERE)
    assert all((Path(__file__).parents[2] / file).is_file() for file in ELSEWHERE.values())


def test_names_are_unique() -> None:
    assert len({mutant.name for mutant in BY_HAND}) == len(BY_HAND)


# ---- how mutants are made


def test_an_edit_lasts_as_long_as_its_with() -> None:
    changed = function("domain.session:find")
    right = changed.__code__
    with edited("domain.session:find", ("return None if at < 0 else", "return 7 if at < 0 else")):
        assert changed.__code__ is not right
    assert changed.__code__ is right


def test_an_edit_of_what_is_not_there_is_refused() -> None:
    with (
        pytest.raises(AssertionError, match="change the mutant too"),
        edited("domain.session:find", ("?", "")),
    ):
        pass


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("v1/a/u/sessions/s/head.json", "head.json"),
        ("v1/a/u/sessions/head.json/head.json", "head.json"),
        ("v1/a/u/sessions/s/i/segments/000000000001-000000000002.jsonl", "segments"),
        (
            "v1/a/u/sessions/s/i/archives/000000000001/messages.000000000001-000000000002.jsonl",
            "archives/messages",
        ),
        ("v1/a/u/sessions/s/i/archives/000000000001/done.json", "archives/done.json"),
        ("v1/a/u/sessions/s/i/tool-results/tr_1", "tool-results"),
        ("v1/a/u/memories/profile.md", "memories"),
        ("v1/a/u/index/messages.idx", "index/messages.idx"),
        ("v1/a/u/journal/head.json", "journal head"),
        ("v1/a/u/journal/i/000000000001.jsonl", "journal run"),
        ("DUE#3", "DUE"),
    ],
)
def test_what_a_write_is_about(key: str, kind: str) -> None:
    assert about(key) == kind
