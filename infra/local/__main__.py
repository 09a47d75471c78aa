"""`python -m infra.local`: Strandline on this machine, wired by template.yaml. Ends with ctrl-C or SIGTERM.

    client ──▶ server ──▶ gateway ──▶ workers ──▶ functions/<word>/handler.py ──▶ emulators (S3, DynamoDB, SQS)
                                        ▲                                             │
                                     triggers (queues, schedule) ◀────────────────────┘

Everything it starts ends with it, even when it is killed. What is stored stays in the data directory.
"""

import fcntl
import logging
import signal
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from logging.handlers import RotatingFileHandler
from pathlib import Path

from infra.local import run, settings
from infra.local.emulators import EmulatorError, Emulators
from infra.local.output import LOG_FILE_BYTES
from infra.local.template import Template, TemplateError

READY_SECONDS = 60


class RunError(Exception):
    """The local run cannot start."""


def main() -> int:
    """Runs until it is told to stop; 1 when it could not."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        with ExitStack() as stack:
            _run(stack, settings.read(), stop)
    except (EmulatorError, TemplateError, RunError, settings.SettingError) as error:
        print(f"strandline: {error}", file=sys.stderr)
        return 1
    return 0


def _run(stack: ExitStack, chosen: settings.Settings, stop: threading.Event) -> None:
    stack.enter_context(_alone(chosen.data))
    logs = chosen.data / "logs"
    logs.mkdir(exist_ok=True)
    _log_to(logs)
    template = Template(settings.ROOT / "template.yaml", chosen.parameters)
    tools = settings.ROOT / ".venv-emulator" / "bin"
    emulators = Emulators(tools, chosen.data, logs, metrics_port=chosen.metrics_port)
    stack.callback(emulators.stop)
    try:
        run.start(stack, run.Parts(chosen, template, emulators, logs))
    except OSError as error:
        raise RunError(
            f"port {chosen.port}: {error.strerror}; choose another with STRANDLINE_PORT"
        ) from error
    if _ready(chosen.port, stop):
        print(_welcome(chosen, emulators.environment), flush=True)
    while not stop.wait(1):
        emulators.check()


@contextmanager
def _alone(data: Path) -> Iterator[None]:
    """Two runs must not share a data directory."""
    with (data / "run.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RunError(
                f"another local run uses {data}; choose another with STRANDLINE_DATA_DIR"
            ) from error
        yield


def _log_to(logs: Path) -> None:
    """Errors to the terminal; every request to a file too."""
    terminal = logging.StreamHandler()
    terminal.setLevel(logging.WARNING)
    file = RotatingFileHandler(logs / "run.log", maxBytes=LOG_FILE_BYTES, backupCount=1)
    for handler in (terminal, file):
        handler.setFormatter(logging.Formatter("%(asctime)s %(name)s: %(message)s"))
        logging.getLogger().addHandler(handler)
    for name in ("functions", "http", "triggers", "run"):
        logging.getLogger(name).setLevel(logging.INFO)


def _ready(port: int, stop: threading.Event) -> bool:
    """Whether `GET /health` answers 200 before it is told to stop. Raises RunError when it takes too long."""
    deadline = time.monotonic() + READY_SECONDS
    while not stop.wait(0.1):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=30) as answer:
                return bool(answer.status == 200)
        except urllib.error.URLError as error:
            if time.monotonic() > deadline:
                raise RunError(f"GET /health fails: {error}") from error
            time.sleep(0.5)
    return False


def _welcome(chosen: settings.Settings, aws: Mapping[str, str]) -> str:
    url = f"http://127.0.0.1:{chosen.port}"
    call = f"curl -s -H 'X-API-Key: {chosen.key}' -H 'Content-Type: application/json' {url}/api/v1"
    return f"""
Strandline is ready
  URL   {url}
  key   {chosen.key}
  data  {chosen.data}  (logs in logs/)
  SQS   {aws["AWS_ENDPOINT_URL_SQS"]}  (and EventBridge: the ingest queue, the events out)
  S3    {aws["AWS_ENDPOINT_URL_S3"]}  (access key {aws["AWS_ACCESS_KEY_ID"]}, secret {aws["AWS_SECRET_ACCESS_KEY"]})

Say something, commit it, and find it again a moment later:
  {call}/sessions/demo/messages -d '{{"role": "user", "content": "I live in Lisbon and I love sailing."}}'
  {call}/sessions/demo/commit -d '{{}}'
  {call}/search/find -d '{{"query": "Where does the user live?"}}'

The command line, in a second terminal, and the Python client find it by:
  . .venv/bin/activate; export STRANDLINE_URL={url} STRANDLINE_KEY={chosen.key}

Ctrl-C ends it.
"""


if __name__ == "__main__":
    sys.exit(main())
