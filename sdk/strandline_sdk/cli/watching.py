"""`strandline watch`."""

from collections.abc import Iterator

import click

from strandline_sdk.cli.base import Command, Settings, pass_settings
from strandline_sdk.cli.messages import message_line
from strandline_sdk.cli.output import emit_line, shown
from strandline_sdk.errors import ApiError
from strandline_sdk.follow import Follower
from strandline_sdk.model import JournalEntry


@click.command(cls=Command, short_help="Print messages as they arrive, like tail -f.")
@click.argument("session_id", required=False)
@click.option("--journal", is_flag=True, help="Follow what happens to all sessions and memories instead.")
@click.option(
    "-n",
    "--last",
    type=click.IntRange(0),
    default=10,
    show_default=True,
    help="Begin with the newest so many.",
)
@click.option(
    "--interval", type=click.FloatRange(0.1), default=1, show_default=True, help="Seconds between two looks."
)
@pass_settings
def watch(settings: Settings, session_id: str | None, journal: bool, last: int, interval: float) -> None:
    """Print a session's messages as they arrive, like tail -f, until ctrl-C.

    The session need not exist yet. With --journal, print commits, changes of memories and failures. With --json,
    a document a line.
    """
    if journal == bool(session_id):
        raise click.UsageError("name a session to follow, or give --journal")
    with settings.client() as client:
        follower = Follower(client, interval, _Away(), lambda: _say(f"waiting for session {session_id}"))
        try:
            if session_id:
                _print_messages(follower, session_id, last)
            else:
                _print_changes(follower, last)
        except KeyboardInterrupt:
            return


def _print_messages(follower: Follower, session_id: str, last: int) -> None:
    for message in follower.messages(session_id, last=last):
        emit_line(message, message_line(message))


def _print_changes(follower: Follower, last: int) -> None:
    for entry in follower.journal(last=last):
        emit_line(entry, "\n".join(_lines(entry)))


def _lines(entry: JournalEntry) -> Iterator[str]:
    """What happened, with the session and archive that made it happen; a line a memory where it names memories."""
    named = (str(entry[field]) for field in ("session_id", "archive") if field in entry)
    source = f"  {shown('/'.join(named))}".rstrip()
    changes = {"added": entry.get("added"), "updated": entry.get("updated"), "deleted": entry.get("deleted")}
    lines = [f"{change:<7}  {shown(uri)}{source}" for change, uris in changes.items() for uri in uris or ()]
    yield from lines or [f"{shown(entry['type'])}{source}"]


def _say(what: str) -> None:
    click.echo(what, err=True)


class _Away:
    """Says once on stderr that the service is away."""

    def __init__(self) -> None:
        self.said: str | None = None

    def __call__(self, error: ApiError) -> None:
        if self.said != error.code:
            _say(f"{error}; trying again")
        self.said = error.code
