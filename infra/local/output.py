"""What functions print: all of it to a file each, errors to the terminal as well, readable."""

import json
import logging
import threading
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import IO

log = logging.getLogger("functions")

LOG_FILE_BYTES = 10 * 1024 * 1024
ALARMING = {"ERROR", "CRITICAL"}


def follow(stream: IO[bytes] | None, function: str, file: Path) -> None:
    """Copies a process's output to `file` until it ends, and its JSON log lines of level ERROR to the terminal."""
    assert stream is not None
    threading.Thread(target=_copy, args=(stream, function, _writer(file)), daemon=True).start()


def readable(line: str) -> str | None:
    """A structured log line of an alarming level as text for a person; None for any other line."""
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    if not isinstance(entry, dict) or entry.get("level") not in ALARMING:
        return None
    return "\n".join(str(entry[key]) for key in ("message", "exception") if entry.get(key))


def _writer(file: Path) -> logging.Logger:
    writer = logging.getLogger(f"output.{file}")
    if not writer.handlers:
        handler = RotatingFileHandler(file, maxBytes=LOG_FILE_BYTES, backupCount=1)
        handler.setFormatter(logging.Formatter("%(message)s"))
        writer.addHandler(handler)
        writer.setLevel(logging.INFO)
        writer.propagate = False
    return writer


def _copy(stream: IO[bytes], function: str, writer: logging.Logger) -> None:
    with stream:
        for raw in stream:
            line = raw.decode(errors="replace").rstrip("\n")
            writer.info("%s", line)
            if text := readable(line):
                log.error("%s logged: %s", function, text)
