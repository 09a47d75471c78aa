"""Every route against what nobody should send: no error of ours, and no answer that is not described.

What is sent and what is asked of the answers is said in infra/openapi/schemathesis.toml; `make fuzz` looks longer.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.e2e.conftest import KEY, ROOT, LocalRun
from tests.handlers.declared import described, operation_of

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

SECONDS = 280
WITH_KEY = ["-H", f"X-API-Key: {KEY}"]
AS_ONE_USER = [*WITH_KEY, "-H", "X-Strandline-Account: acme", "-H", "X-Strandline-User: fuzz", "-n", "5"]
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


def test_nothing_breaks_and_every_answer_is_described(toured: LocalRun) -> None:
    fuzz(toured, AS_ONE_USER)
    assert len(done(toured)) > 0.75 * sum(map(len, described()["paths"].values())), "refused at the door"


def test_nothing_breaks_for_whoever_has_no_key(toured: LocalRun) -> None:
    fuzz(toured, AS_ANYBODY)


def fuzz(run: LocalRun, sent: list[str]) -> None:
    """Runs schemathesis against the run; shows what it found."""
    program = Path(sys.executable).with_name("schemathesis")
    config = ROOT / "infra/openapi/schemathesis.toml"
    ended = subprocess.run(
        [program, "--config-file", config, "run", ROOT / "infra/openapi.json", *sent],
        cwd=run.data,
        env={**os.environ, "PYTHONPATH": str(ROOT), "STRANDLINE_URL": run.url},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-20_000:]


def done(run: LocalRun) -> set[str]:
    """The operations that the run has answered with 200."""
    log = (run.data / "logs/run.log").read_text(errors="replace")
    asked = re.findall(r"(GET|POST|PUT|DELETE|PATCH) ([^ ?]+)\S* 200 ", log)
    found = [operation_of(method, unquote(path)) for method, path in asked]
    return {operation[0] for operation in found if operation}
