"""`python -m tests.perf [--only SECTION] [--quick]`: measures, and writes docs/BENCHMARKS.md."""

import argparse
import os
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path

from tests.perf import environment, report
from tests.perf.sections import SECTIONS
from tests.perf.skip import Skipped


def main() -> int:
    """Runs the sections that were asked for; 1 when one of them failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.perf", description=__doc__)
    parser.add_argument(
        "--only", action="append", choices=list(SECTIONS), help="Only this section; repeatable."
    )
    parser.add_argument("--quick", action="store_true", help="Fewer repetitions; nothing is written.")
    options = parser.parse_args()
    environment.isolate()
    for name in options.only or SECTIONS:
        _run(name, quick=options.quick)
    if not options.quick:
        report.write("machine", environment.machine())
    return 0


def _run(name: str, *, quick: bool) -> None:
    began = time.monotonic()
    try:
        # the functions' own lines are written, as they are on Lambda, but not shown
        with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
            body = SECTIONS[name](quick=quick)
    except Skipped as reason:
        print(f"== {name}: skipped, {reason}\n", flush=True)
        return
    print(f"== {name} ({time.monotonic() - began:.0f} s)\n{body}\n", flush=True)
    if not quick:
        report.write(name, body)


if __name__ == "__main__":
    sys.exit(main())
