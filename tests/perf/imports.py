"""What it costs to import each function, against bare boto3 and pydantic, each in a fresh interpreter.

CPU time of the import statement alone, bytecode cached, all contenders in turn. On a shared machine single times differ
by half, so two estimates stand side by side: the least of all rounds against the baseline's least, and the median of
the ratios of neighbours in time. The packages behind it are those with the largest share by `python -X importtime`, the
least of several runs.
"""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.perf.environment import isolated

BASELINE = "boto3 + pydantic"
STATEMENTS = {BASELINE: "import boto3\nfrom pydantic import BaseModel"}
TOP = 5
TRACED = 2
_ROW = re.compile(r"import time:\s+(\d+) \|\s+(\d+) \|\s+(\S+)")
_TIMED = """
import time
before = time.process_time()
{statement}
print(time.process_time() - before)
"""


@dataclass(frozen=True)
class Imported:
    """One import: its least CPU milliseconds, its ratio to the baseline of the same round (the median), modules loaded,
    and the packages that cost most (name, milliseconds)."""

    name: str
    milliseconds: float
    paired: float
    modules: int
    dominating: Sequence[tuple[str, float]]


def measure(*, quick: bool) -> list[Imported]:
    """The baseline first, then every function."""
    statements = {**STATEMENTS, **{word: f"import functions.{word}.handler" for word in functions()}}
    times: dict[str, list[float]] = {name: [] for name in statements}
    for _ in range(4 if quick else 16):
        for name, statement in statements.items():
            times[name].append(float(_python(_TIMED.format(statement=statement)).stdout))
    # the first round is left out: it compiles what has not been imported before
    return [
        _imported(name, statement, times[name][1:], times[BASELINE][1:])
        for name, statement in statements.items()
    ]


def functions() -> list[str]:
    return sorted(path.parent.name for path in Path("functions").glob("*/handler.py"))


def _imported(name: str, statement: str, times: Sequence[float], baseline: Sequence[float]) -> Imported:
    modules = _modules(statement)
    by_package: Counter[str] = Counter()
    for module, spent in modules.items():
        by_package[_package(module)] += spent
    dominating = [(package, spent / 1000) for package, spent in by_package.most_common(TOP)]
    paired = median(own / base for own, base in zip(times, baseline, strict=True))
    return Imported(name, 1000 * min(times), paired, len(modules), dominating)


def _modules(statement: str) -> dict[str, int]:
    """Microseconds spent in each module itself."""
    least: dict[str, int] = {}
    for _ in range(TRACED):
        for own, _, module in _ROW.findall(_python(statement, "-X", "importtime").stderr):
            least[module] = min(int(own), least.get(module, sys.maxsize))
    return least


def _package(module: str) -> str:
    """The library a module belongs to; the standard library is one."""
    top = module.partition(".")[0]
    return "stdlib" if top in sys.stdlib_module_names or top.startswith("_") else top


def _python(code: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *options, "-c", code]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=isolated())
