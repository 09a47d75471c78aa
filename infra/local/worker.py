"""A Lambda execution environment: one process, one event at a time.

Started by `workers` as `worker.py <fd> <handler>`, with the layer and the function's code on the path. Over the
connection come events; back go results, or the error with its traceback. The process ends with its parent, even when
that is killed while a handler runs.
"""

import importlib
import json
import logging
import os
import queue
import sys
import threading
import time
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from typing import Any

Handler = Callable[[Any, Any], Any]


class Context:
    """What Lambda passes as the second argument of a handler."""

    def __init__(self, request_id: str, deadline: float) -> None:
        self.aws_request_id = request_id
        self.function_name = os.environ["AWS_LAMBDA_FUNCTION_NAME"]
        self.function_version = "$LATEST"
        self.memory_limit_in_mb = os.environ["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"]
        self.invoked_function_arn = (
            f"arn:aws:lambda:{os.environ['AWS_REGION']}:000000000000:function:{self.function_name}"
        )
        self.log_group_name = f"/aws/lambda/{self.function_name}"
        self.log_stream_name = f"local-{os.getpid()}"
        self.identity = None
        self.client_context = None
        self._deadline = deadline

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until this invocation is ended."""
        return max(0, int((self._deadline - time.time()) * 1000))


class LogLine(logging.Formatter):
    """Log records as the runtime writes them with the template's JSON log format."""

    def format(self, record: logging.LogRecord) -> str:
        """One line of JSON."""
        entry = {
            "timestamp": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "exception": self.formatException(record.exc_info) if record.exc_info else None,
        }
        return json.dumps({key: value for key, value in entry.items() if value is not None})


def _log() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(LogLine())
    logging.basicConfig(handlers=[handler], level=os.environ.get("LOG_LEVEL", "INFO").upper())


def _failure(error: BaseException) -> dict[str, Any]:
    return {
        "type": type(error).__name__,
        "message": str(error),
        "trace": "".join(traceback.format_exception(error)),
    }


def _answer(handler: Handler, request: dict[str, Any]) -> bytes:
    try:
        result = handler(request["event"], Context(request["request_id"], request["deadline"]))
        return json.dumps({"result": result}).encode()
    except BaseException as error:  # noqa: BLE001 - whatever a handler raises is its answer, as in Lambda
        return json.dumps({"error": _failure(error)}).encode()


def _receive(connection: Connection, requests: "queue.SimpleQueue[bytes]") -> None:
    try:
        while True:
            requests.put(connection.recv_bytes())
    except (EOFError, OSError):
        os._exit(0)


def main(descriptor: int, name: str) -> None:
    """Imports the handler, says so, then answers events until the parent goes."""
    _log()
    connection = Connection(descriptor)
    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(connection, requests), daemon=True).start()
    module, _, attribute = name.rpartition(".")
    try:
        handler: Handler = getattr(importlib.import_module(module), attribute)
    except BaseException as error:  # noqa: BLE001 - an import may fail in any way; the parent reports it
        connection.send_bytes(json.dumps({"error": _failure(error)}).encode())
        return
    connection.send_bytes(json.dumps({"result": "ready"}).encode())
    while True:
        connection.send_bytes(_answer(handler, json.loads(requests.get())))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
