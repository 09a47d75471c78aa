"""`strandline search`."""

import re
from collections.abc import Iterator
from typing import Any, cast

import click

from strandline_sdk.cli.base import Command, Settings, pass_settings
from strandline_sdk.cli.output import emit, minute, shown
from strandline_sdk.model import FindOptions, Hit

_MARK = re.compile(r"\s*(?:[-*+>]|#{1,6})\s+")


@click.command(cls=Command)
@click.argument("query")
@click.option("--messages", is_flag=True, help="Search what was said instead of what was remembered.")
@click.option(
    "--session", "session_id", help="With --messages: search this session's uncommitted messages too."
)
@click.option("--limit", type=click.IntRange(1), default=10, show_default=True)
@click.option("--type", "memory_type", help="Only memories of this type, such as events.")
@click.option("--since", help="Only what is not older than this time (RFC 3339).")
@click.option("--until", help="Only what is not newer than this time (RFC 3339).")
@pass_settings
def search(settings: Settings, /, query: str, **options: Any) -> None:
    """Search memories, or messages, by their words; best first."""
    with settings.client() as client:
        found = client.find(query, **_find_options(**options))
    emit(found, [line for hit in found["memories"] for line in _lines(hit)] or ["nothing found"])


def _find_options(messages: bool, memory_type: str | None, **options: Any) -> FindOptions:
    if options["session_id"] and not messages:
        raise click.UsageError("--session goes with --messages")
    return {
        **cast(FindOptions, options),
        "context_type": "message" if messages else None,
        "filter": {"type": memory_type} if memory_type else None,
    }


def _lines(hit: Hit) -> Iterator[str]:
    yield f"{hit['score']:6.2f}  {shown(hit['uri'])}"
    sources = "; ".join(_sources(hit))
    yield f"        {_speaker(hit)}{shown(hit['abstract'] if sources else _unmarked(hit['abstract']))}"
    if sources:
        yield f"        {sources}"


def _unmarked(line: str) -> str:
    """A line of markdown that somebody wrote, without the mark that makes it a list item, heading or quotation."""
    return line[match.end() :] if (match := _MARK.match(line)) else line


def _speaker(hit: Hit) -> str:
    return f"{shown(hit.get('peer_id') or hit.get('role'))}: " if "seq" in hit else ""


def _sources(hit: Hit) -> Iterator[str]:
    if "seq" in hit:
        yield f"{shown(hit.get('session_id'))} seq {hit['seq']}, {minute(hit.get('created_at'))}"
    for source in hit.get("sources") or ():
        span = dict.fromkeys((source.get("seq_from"), source.get("seq_to")))
        yield f"{shown(source.get('session_id'))} seq {'-'.join(map(str, span))}"
