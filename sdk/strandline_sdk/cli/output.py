"""What commands print: one JSON document, or lines for people."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import BinaryIO

import click

from strandline_sdk.cli.base import wants_json

MESSAGE_WIDTH = 300


def emit(document: object, lines: Iterable[str]) -> None:
    """Prints the document with `--json`, the lines otherwise."""
    if wants_json():
        text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
        click.echo(text.encode("utf-8", "replace"), nl=False)
        return
    for line in lines:
        click.echo(line)


def emit_line(document: object, line: str) -> None:
    """Prints the document on a line of its own with `--json`, the line for people otherwise; at once."""
    if wants_json():
        click.echo(json.dumps(document, ensure_ascii=False).encode("utf-8", "replace"))
    else:
        click.echo(line)


def utf8_text(file: BinaryIO) -> str:
    """The text of a file. A byte order mark is not a part of it."""
    try:
        return file.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise click.ClickException(f"not UTF-8 (byte {error.start}): convert the text to UTF-8") from error


def count(number: int, noun: str) -> str:
    """`1 session`, `2 sessions`."""
    return f"{number} {noun if number == 1 else noun + 's'}"


def shown(text: object, width: int = MESSAGE_WIDTH) -> str:
    """Stored text on one line of a terminal: no line breaks or control characters, cut to `width`."""
    line = " ".join(str(text).split())
    visible = "".join(c if c.isprintable() else "\ufffd" for c in line)
    return visible if len(visible) <= width else visible[: width - 1] + "…"


def emit_text(text: str) -> None:
    """Prints stored text byte for byte into a file or pipe; on a terminal so that it cannot steer it."""
    if sys.stdout.isatty():
        click.echo(for_terminal(text))
    else:
        click.echo(text.encode(), nl=False)


def for_terminal(text: str) -> str:
    """The text without control characters but line breaks and tabs, and without a line break at its end."""
    visible = (c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text.replace("\r\n", "\n"))
    return "".join(visible).removesuffix("\n")


def minute(time: str | None) -> str:
    """An RFC 3339 time cut to the minute."""
    return time[:16].replace("T", " ") if time else "-"


@contextmanager
def progress(label: str, length: int) -> Iterator[Callable[[int], None]]:
    """A bar on stderr; what is yielded advances it, from any thread. No bar without a terminal or with `--json`."""
    if wants_json() or not sys.stderr.isatty() or not length:
        yield lambda _: None
        return
    lock = Lock()
    with click.progressbar(length=length, label=label, file=sys.stderr) as bar:

        def advance(steps: int) -> None:
            with lock:
                bar.update(steps)

        yield advance
