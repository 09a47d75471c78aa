"""Puts the local run together: functions as template.yaml declares them, what calls them, and how they are reached."""

import logging
import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from infra.local import provision
from infra.local.emulators import Emulators
from infra.local.server import Api, Server
from infra.local.settings import MODEL_KEY_PARAMETER, Settings
from infra.local.template import Function, Template, resolve
from infra.local.triggers import Source, Triggers
from infra.local.workers import FunctionError, Launch, Pool

log = logging.getLogger("run")

# Processes a function may have. Two cores need no more, and each takes 60 to 100 MB.
WORKERS = {
    "AppendFunction": 4,
    "ApiFunction": 4,
    "AuthorizerFunction": 4,
    "ExtractFunction": 2,
    "MergeFunction": 2,
}
WARMED = ("ApiFunction", "AuthorizerFunction", "AppendFunction")


@dataclass(frozen=True)
class Parts:
    """What the pieces of one run share."""

    settings: Settings
    template: Template
    emulators: Emulators
    logs: Path


def start(stack: ExitStack, parts: Parts) -> None:
    """Starts functions, server and triggers; `stack` ends them in reverse. Raises what each of them raises."""
    known = provision.names(parts.template, parts.emulators.environment["AWS_ENDPOINT_URL_SQS"])
    pools = _pools(parts, known)
    for pool in pools.values():
        stack.callback(pool.close)
    # The first functions import their libraries while the emulators start.
    threading.Thread(target=_warm, args=([pools[name] for name in WARMED],), daemon=True).start()
    parts.emulators.wait()
    provision.create(parts.template, known, parts.emulators)
    if parts.settings.model_key:
        provision.keep_key(MODEL_KEY_PARAMETER, parts.settings.model_key, parts.emulators)
    _serve(stack, parts.settings.port, Api(parts.template.routes(), pools))
    _trigger(stack, parts, known, pools)


def _pools(parts: Parts, known: Mapping[str, str]) -> dict[str, Pool]:
    path = tuple(parts.template.layers())
    return {
        name: Pool(
            Launch(function, _environment(parts, function, known), path, parts.logs / f"{name}.log"),
            _workers(parts, name),
        )
        for name, function in parts.template.functions().items()
    }


def _workers(parts: Parts, name: str) -> int:
    return parts.settings.append_workers if name == "AppendFunction" else WORKERS.get(name, 1)


def _environment(parts: Parts, function: Function, known: Mapping[str, str]) -> dict[str, str]:
    """The function's variables as on Lambda; one that is also set outside takes that value."""
    own = {
        name: os.environ.get(name, str(value)) for name, value in resolve(function.environment, known).items()
    }
    machine = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "LANG") if name in os.environ}
    return {
        **machine,
        **parts.emulators.environment,
        "TZ": ":UTC",
        "AWS_LAMBDA_FUNCTION_NAME": function.name,
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory),
        "LAMBDA_TASK_ROOT": str(function.code),
        **own,
    }


def _warm(pools: Sequence[Pool]) -> None:
    for pool in pools:
        try:
            pool.warm()
        except FunctionError as error:
            log.error("%s does not start: %s\n%s", pool.function.name, error, error.trace)


def _serve(stack: ExitStack, port: int, api: Api) -> None:
    server = Server(port, api)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    stack.callback(server.server_close)
    stack.callback(server.shutdown)


def _trigger(stack: ExitStack, parts: Parts, known: Mapping[str, str], pools: Mapping[str, Pool]) -> None:
    sqs = parts.emulators.client("sqs")
    triggers = Triggers()
    stack.callback(triggers.stop)
    queues = parts.template.resources("AWS::SQS::Queue")
    for trigger in parts.template.queue_triggers():
        receives = int(queues[trigger.queue]["RedrivePolicy"]["maxReceiveCount"])
        source = Source(trigger, known[trigger.queue], receives, parts.settings.retry_seconds)
        for _ in range(WORKERS.get(trigger.function, 1)):
            triggers.poll(sqs, source, pools[trigger.function])
    for schedule in parts.template.schedules():
        triggers.fire(schedule, pools[schedule.function])
