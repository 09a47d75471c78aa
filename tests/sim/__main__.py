"""`make sim`: a million runs, or one of them with everything that happened in it.

python -m tests.sim                         seeds 0 to 999,999, in as many processes as there are cores
python -m tests.sim --seeds 5000:60000      some of them
python -m tests.sim 4711 'commit/17/lost'   these, step by step
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

from tests.sim import cases
from tests.sim.world import World

AT_ONCE = 500


def main() -> int:
    options = _parsed()
    if options.case:
        return max([_show(name) for name in options.case])
    first, _, last = options.seeds.partition(":")
    return _search(int(first), int(last), options.jobs)


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.sim", description="Runs seeds of the simulation.")
    parser.add_argument("case", nargs="*", help="a seed, or a scenario with faults, to be shown step by step")
    parser.add_argument("--seeds", default="0:1000000", help="from:to, the end not included")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    return parser.parse_args()


def _search(first: int, last: int, jobs: int) -> int:
    """Runs the seeds, tells how far it is (to go on from there) and what failed."""
    began, failed = time.monotonic(), 0
    with ProcessPoolExecutor(jobs) as pool:
        for start, found in zip(
            range(first, last, AT_ONCE), pool.map(_part, _parts(first, last)), strict=True
        ):
            failed += len(found)
            for text in found:
                print(text, flush=True)
            done = min(start + AT_ONCE, last)
            rate = (done - first) / (time.monotonic() - began)
            print(f"seeds {first}:{done} done, {failed} failed, {rate:.0f} a second", flush=True)
    return min(failed, 1)


def _parts(first: int, last: int) -> Iterator[range]:
    return (range(start, min(start + AT_ONCE, last)) for start in range(first, last, AT_ONCE))


def _part(seeds: range) -> list[str]:
    return cases.failures(map(str, seeds))


def _show(name: str) -> int:
    """Prints every call of a run, and its end."""
    case = cases.of(name)
    try:
        world, error = case.run(), None
    except Exception as found:  # noqa: BLE001 - whatever it is, what came before it is shown
        world, error = found.world, found  # type: ignore[attr-defined]
    for line in told(world):
        print(line)
    print(f"{name}: {error!r}" if error else f"{name}: as promised")
    return int(error is not None)


def told(world: World) -> Iterator[str]:
    """A run, line by line."""
    for call, fault in world.network.calls:
        wrong = f"    <<< {fault}" if fault else ""
        yield f"{call.number:5} {call.at:9.2f}s  {call.actor:14} {call.site:18} {call.what}{wrong}"
    yield ""
    yield from map(str, world.history.records)


if __name__ == "__main__":
    sys.exit(main())
