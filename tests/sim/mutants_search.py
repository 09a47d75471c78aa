"""Which run shows which mutant: searched afresh by `make sim MUTANTS=1`, kept in `mutants.json` for the tests.

python -m tests.sim.mutants_search              those that have no run, or whose run does not show them any more
python -m tests.sim.mutants_search --afresh     all of them
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from functools import cache
from itertools import chain, islice
from pathlib import Path

from tests.sim import cases, mutants_races
from tests.sim.invariants import Violation
from tests.sim.mutants import mutants
from tests.sim.mutants_code import Mutant
from tests.sim.mutants_known import EQUIVALENT
from tests.sim.mutants_races import ALONE, RACES, alone
from tests.sim.scenarios import FIXED

KEPT = Path(__file__).with_name("mutants.json")
RUNS, LIKELY = 600, 250


def kept() -> dict[str, list[str]]:
    """The run that shows a mutant and the invariant that is violated then, by the mutant's name."""
    found: dict[str, list[str]] = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    return found


def violated(case: str) -> str | None:
    """The invariant that a run violates, or what else fails; None when all is as promised, or a mutant has broken down
    in a way that is nobody's promise."""
    try:
        mutants_races.of(case).run()
    except Violation as violation:
        return violation.invariant
    except AssertionError as error:
        return type(error).__name__
    except Exception:  # noqa: BLE001 - a mutant may break down in any way
        return None
    return None


def shown_by(mutant: Mutant, case: str) -> str | None:
    """What a run of the mutant violates that a run of the product does not."""
    with mutant.make():
        found = violated(case)
    return found if found and _is_fine(case) else None


@cache
def _is_fine(case: str) -> bool:
    return violated(case) is None


def search(mutant: Mutant, runs: int = RUNS) -> tuple[str, str] | None:
    """The first run that shows the mutant, and what it violates."""
    for case in islice(candidates(mutant.race), runs):
        found = shown_by(mutant, case)
        if found:
            return case, found
    return None


def candidates(race: str = "") -> Iterator[str]:
    """The race that may do; then all kinds of runs, those first of which each says much."""
    if race in FIXED:
        yield from cases.matrix(race)
    elif race in ALONE:
        yield from alone(race)
    elif race:
        yield from (f"{race}~{n}" for n in range(LIKELY))
    yield from FIXED
    yield from _seeds(range(4))
    yield from alone(*ALONE)
    yield from _seeds(range(4, 50))
    yield from chain.from_iterable(map(cases.matrix, FIXED))
    yield from _seeds(range(50, 5_000))


def _seeds(numbers: range) -> Iterator[str]:
    for n in numbers:
        yield from (f"{race}~{n}" for race in RACES)
        yield from map(str, range(3 * n, 3 * n + 3))


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.sim.mutants_search", description="Looks for mutants."
    )
    parser.add_argument("name", nargs="*", help="only mutants with this in their name")
    parser.add_argument("--afresh", action="store_true", help="forget the runs that are kept")
    parser.add_argument("--runs", type=int, default=RUNS, help="so many runs a mutant")
    options = parser.parse_args()
    known = {} if options.afresh else kept()
    made = mutants()
    wanted = [m for m in made.values() if m.name not in EQUIVALENT]
    wanted = [m for m in wanted if not options.name or any(part in m.name for part in options.name)]
    hidden = [mutant.name for mutant in wanted if not _is_shown(mutant, known, options.runs)]
    _keep({name: case for name, case in known.items() if name in made})
    return int(bool(hidden))


def _keep(known: dict[str, list[str]]) -> None:
    KEPT.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n")


def _is_shown(mutant: Mutant, known: dict[str, list[str]], runs: int) -> bool:
    """Whether its run still shows the mutant, or another was found, which is `known` then."""
    began = time.monotonic()
    if mutant.name in known and shown_by(mutant, known[mutant.name][0]):
        return True
    found = search(mutant, runs)
    if found:
        known[mutant.name] = list(found)
        _keep(known)
    print(f"{time.monotonic() - began:6.1f} s  {mutant.name}: {found or 'SHOWN BY NOTHING'}", flush=True)
    return found is not None


if __name__ == "__main__":
    sys.exit(main())
