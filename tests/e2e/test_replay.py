"""The recorded conversations over HTTP, on the local run: the same as on the fakes, also when it is restarted."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import LocalRun
from tests.e2e.test_local_run import eventually, result
from tests.fakes.chat_server import ChatServer, listens, remembers, says
from tests.replay.script import NAMES, Run, Script

pytestmark = pytest.mark.e2e

FAILING = "a_failed_archive"
ENDED = ("completed", "failed", "cancelled")


class Outside:
    """`script.Driver`: a local run, and one user of it."""

    def __init__(self, run: LocalRun, user: str, server: ChatServer | None = None) -> None:
        self._run, self._user, self._server = run, user, server

    def request(self, method: str, path: str, body: Any = None) -> Any:
        with self._client() as client:
            return result(client.request(method, path, json=body))

    def drain(self, session: str) -> None:
        eventually(lambda: self._rests(session))

    def fail(self) -> None:
        assert self._server is not None
        self._server.turns[:] = [says("I am sorry, I cannot do that.")]

    def mend(self) -> None:
        assert self._server is not None
        self._server.turns[:] = [listens(remembers)]

    def _client(self) -> httpx.Client:
        return self._run.client(self._user)

    def _rests(self, session: str) -> bool:
        tasks = self.request("GET", f"/tasks?resource_id={session}&limit=200")
        return all(task["status"] in ENDED for task in tasks)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRun]:
    made = LocalRun(tmp_path_factory.mktemp("replay"))
    made.start()
    yield made
    made.end()


def test_over_http_with_a_restart_half_way(run: LocalRun) -> None:
    scripts = [Script.load(name) for name in NAMES if name != FAILING]
    runs = [Run(script, Outside(run, "ann")) for script in scripts]
    for script, each in zip(scripts, runs, strict=True):
        for number in range(len(script.steps) // 2):
            each.step(number)
    assert run.stop() == 0
    run.start()
    for script, each in zip(scripts, runs, strict=True):
        for number in range(len(script.steps) // 2, len(script.steps)):
            each.step(number)
        assert each.expectable == script.expected, (
            script.name
        )  # a summary may be made in other steps, ahead of time


def test_with_a_model_that_fails_for_a_while(tmp_path: Path) -> None:
    script = Script.load(FAILING)
    with ChatServer(listens(remembers)) as server:
        run = LocalRun(
            tmp_path,
            STRANDLINE_MODEL_PROVIDER="openai",
            STRANDLINE_MODEL_ID="some-model",
            STRANDLINE_MODEL_BASE_URL=f"{server.url}/v1",
            STRANDLINE_LOCAL_MODEL_KEY="e2e-model-key",
            STRANDLINE_LOCAL_RETRY_SECONDS="1",
        )
        try:
            run.start()
            each = Run(script, Outside(run, "ann", server))
            for number in range(len(script.steps)):
                each.step(number)
        finally:
            run.end()
    assert each.expectable == script.expected
