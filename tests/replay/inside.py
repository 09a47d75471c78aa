"""The service in this process, with the fakes or with moto behind it."""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from strandline.adapters.tokens import TiktokenCounter
from strandline.entry.wiring import RuleModel
from tests.handlers.service import Client, Service
from tests.pipeline.models import Refusing
from tests.pipeline.world import World
from tests.replay.script import Run, Script

Restarts = Callable[[int], bool]
TOKENS = TiktokenCounter("cl100k_base")


class Inside:
    """`script.Driver`; `restart` makes every function forget what it remembers."""

    def __init__(self, patch: pytest.MonkeyPatch, world: World) -> None:
        world.tokens = TOKENS
        world.model = world.summariser = RuleModel()
        self._service = Service(patch, world)
        self._client: Client = self._service.client("ann")

    def request(self, method: str, path: str, body: Any = None) -> Any:
        sent = b"" if body is None else json.dumps(body).encode()
        return self._client.send(method, path, sent).result

    def drain(self, session: str) -> None:
        self._service.pump()

    def fail(self) -> None:
        self._service.world.model = Refusing(times=1_000, final=True)
        self._service.cold()

    def mend(self) -> None:
        self._service.world.model = RuleModel()
        self._service.cold()

    def restart(self) -> None:
        self._service.cold()


def played(script: Script, driver: Inside, restarts: Restarts = lambda _: False) -> Run:
    """The script, run to its end, with a restart before the steps that `restarts` says."""
    run = Run(script, driver)
    for number in range(len(script.steps)):
        if restarts(number):
            driver.restart()
        run.step(number)
    return run


@cache
def on_the_fakes(name: str) -> Run:
    """The script, run on the fakes without a restart."""
    with pytest.MonkeyPatch.context() as patch:
        return played(Script.load(name), Inside(patch, World()))
