"""Every route against what nobody should send: no error of ours, and no answer that is not described.

What is sent and what is asked of the answers is said in infra/openapi/schemathesis.toml; `make fuzz` looks longer.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import KEY, ROOT, LocalRun

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

SECONDS = 240
AS_ONE_USER = ["-H", "X-Strandline-Account: acme", "-H", "X-Strandline-User: fuzz", "--max-examples=5"]
AS_ANYBODY = ["--phases=coverage", "--include-tag=tasks", "--include-tag=memories"]


@pytest.fixture
def toured(own_run: LocalRun) -> LocalRun:
    """A run of its own, for whole accounts may be deleted; the user that is fuzzed has a session with an archive."""
    own_run.start()
    with own_run.client("fuzz") as client:
        for text in ("My name is Ann and I live in Lisbon.", "I love sailing."):
            client.post("/sessions/tour/messages", json={"role": "user", "content": text}).raise_for_status()
        client.post("/sessions/tour/commit").raise_for_status()
    return own_run


@pytest.mark.parametrize("sent", [AS_ONE_USER, AS_ANYBODY], ids=["as one user", "as anybody"])
def test_nothing_breaks_and_every_answer_is_described(toured: LocalRun, sent: list[str]) -> None:
    program = Path(sys.executable).with_name("schemathesis")
    config = ROOT / "infra/openapi/schemathesis.toml"
    done = subprocess.run(
        [program, "--config-file", config, "run", ROOT / "infra/openapi.json", *sent],
        cwd=toured.data,
        env={**os.environ, "STRANDLINE_URL": toured.url, "STRANDLINE_KEY": KEY},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-20_000:]
