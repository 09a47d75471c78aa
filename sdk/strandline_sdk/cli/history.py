"""`strandline memories history|blame|rollback`: what memories were, where they come from, and back to it."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import click

from strandline_sdk.cli.base import Settings, limit_option, pass_settings
from strandline_sdk.cli.memories import memories
from strandline_sdk.cli.output import count, emit, for_terminal, shown
from strandline_sdk.model import BlamedLine, ChangedMemory, Revision, RolledBack

dry_run_option = click.option("--dry-run", is_flag=True, help="Only show what would be changed.")


@memories.command()
@click.argument("path")
@limit_option
@pass_settings
def history(settings: Settings, path: str, limit: int) -> None:
    """List the versions of a memory, newest first, also of one that was deleted."""
    with settings.client() as client:
        found = list(islice(client.memory_history(path), limit))
    emit(found, map(_revision, found))


def _revision(row: Revision) -> str:
    lines = row.get("lines") or {}
    counts = f"+{lines.get('added', 0)} -{lines.get('removed', 0)}" if lines else "?"
    sources = ", ".join(
        f"{each['session']}/{each['archive']}#{each['seq']}" for each in row.get("sources") or ()
    )
    author = " ".join(filter(None, [row.get("by") or "unknown", row.get("why")]))
    said = f"{row['version'] or '-'!s:>4}  {row['at']}  {row['change']:<7}  {counts:<7}  {author}"
    return shown(f"{said}  {sources}".rstrip())


@memories.command()
@click.argument("path")
@click.option("--quotes", is_flag=True, help="Below each line, the words that were said.")
@pass_settings
def blame(settings: Settings, path: str, quotes: bool) -> None:
    """Show where each line of a memory comes from; a source that cannot be read again is marked."""
    with settings.client() as client:
        found = list(client.memory_blame(path))
    emit(found, (row for line in found for row in _blamed(line, quotes=quotes)))


def _blamed(line: BlamedLine, *, quotes: bool) -> Iterator[str]:
    source, quote = line.get("source"), line.get("quote") or {}
    if source is None:
        yield f"{'':<42}  {shown(line['text'])}".rstrip()
        return
    span = f"{source['seq_from']}-{source['seq_to']}".replace(f"-{source['seq_from']}", "", 1)
    spot = f"{source['session_id']}/{int(source['archive'].rpartition('_')[2])}#{span}"
    status = quote.get("status", "")
    mark = "" if status == "verified" else f" ({status})"
    if until := line.get("valid_until"):
        mark += f" (until {until[:10]}, ended by {shown(str(line.get('superseded_by')))})"
    yield f"{source['at'][:10]}  {shown(spot, 30):<30}  {shown(line['text'])}{mark}"
    if quotes and quote.get("text"):
        yield f"{'':<42}  > {shown(quote['text'])}"


@memories.command()
@click.argument("path", required=False)
@click.option(
    "--version", type=click.IntRange(1), help="Make the memory at PATH what it was in this version."
)
@click.option("--session", metavar="ID", help="Take out of all memories what this session said.")
@click.option("--since", metavar="TIME", help="Make all memories what they were at this time.")
@dry_run_option
@pass_settings
def rollback(settings: Settings, /, path: str | None, dry_run: bool, **wanted: Any) -> None:
    """Go back, by a change forward: PATH to a --version, what a --session said, or everything --since a time."""
    version, session, since = wanted["version"], wanted["session"], wanted["since"]
    if (path is None) != (version is None) or sum(each is not None for each in (path, session, since)) != 1:
        raise click.UsageError("give PATH and --version, or --session, or --since")
    with settings.client() as client:
        if path is not None:
            one = client.rollback_memory(path, version, dry_run=dry_run)
            done: RolledBack = {"changed": [one] if one["change"] else [], "conflicts": []}
        elif session is not None:
            done = client.rollback_session(session, dry_run=dry_run)
        else:
            done = client.rollback_since(since, dry_run=dry_run)
    emit(done, rolled_back(done, dry_run=dry_run))


def rolled_back(done: RolledBack, *, dry_run: bool) -> Iterator[str]:
    """What was changed, or would be, and what was left, for people."""
    for each in done["changed"]:
        yield from _changed(each, dry_run=dry_run)
    for left in done["conflicts"]:
        yield shown(f"left  {left['path']}: {left['reason']}  {left.get('text') or ''}".rstrip())
    verb = "would be changed" if dry_run else "changed"
    yield f"{count(len(done['changed']), 'memory').replace('memorys', 'memories')} {verb}"


def _changed(each: ChangedMemory, *, dry_run: bool) -> Iterator[str]:
    yield shown(f"{each['change']}  {each['path']}")
    if dry_run and each.get("diff"):
        yield for_terminal(str(each["diff"]))
