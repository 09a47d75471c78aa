"""What a cold start loads: counted, since modules are the same on every machine and milliseconds are not.

`make bench` has the times: import of append against boto3 and pydantic.
"""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BARE = "import boto3; from pydantic import BaseModel"
# Modules besides those of bare boto3 and pydantic, our own included. A little above what it takes today.
BUDGETS = {
    "append": 84,
    "authorizer": 77,
    "commit": 92,
    "extract": 147,
    "merge": 210,
    "learn": 225,
    "sweep": 210,
    "erase": 490,
    "api": 492,
    "mcp": 570,
}
MEMORIES = {"api", "erase", "learn", "mcp", "merge", "sweep"}
HEAVY = {
    "aws_lambda_powertools": {"api", "erase"},
    "yaml": MEMORIES,
    "snowballstemmer": MEMORIES,
    "mcp": {"mcp"},
    "tiktoken": set(),
    "numpy": set(),
    "strandline.domain.rules": set(),
    "strandline.adapters.bedrock": set(),
    "strandline.adapters.language_model": set(),
}
FUNCTIONS = sorted(path.parent.name for path in (ROOT / "functions").glob("*/handler.py"))


@cache
def loaded(statement: str) -> frozenset[str]:
    """Modules that a fresh interpreter has afterwards."""
    script = f"{statement}\nimport json, sys\nprint(json.dumps(list(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    return frozenset(json.loads(done.stdout))


def of(function: str) -> frozenset[str]:
    return loaded(f"import functions.{function}.handler")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_cold_start_keeps_to_its_budget(function: str) -> None:
    assert len(of(function) - loaded(BARE)) <= BUDGETS[function]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_cold_start_loads_nothing_heavy_that_it_may_not_need(function: str) -> None:
    found = {name for name in HEAVY if name in of(function)}
    assert found == {name for name, users in HEAVY.items() if function in users}
