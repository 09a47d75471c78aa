"""`strandline rebuild`."""

from collections.abc import Iterator
from typing import Any

import click

from strandline_sdk.cli.base import Settings, pass_settings, timeout_option
from strandline_sdk.cli.history import rolled_back
from strandline_sdk.cli.output import emit


@click.command(short_help="Make the memories again from the archives.")
@click.option("--again", is_flag=True, help="Extract the archives once more, as after a change of the model.")
@click.option("--session", metavar="ID", help="Only this session.")
@click.option("--live", is_flag=True, help="With --session: also what is not committed yet. Only to look at.")
@click.option("--promote", is_flag=True, help="Make the memories what was rebuilt; without it, only compare.")
@click.option("--resume", metavar="ID", help="Go on with a rebuild that was begun before.")
@timeout_option
@pass_settings
def rebuild(settings: Settings, /, promote: bool, timeout: float, **wanted: Any) -> None:
    """Make the memories again from the archives, beside those that are there, and show what differs."""
    if wanted["live"] and (not wanted["session"] or promote):
        raise click.UsageError("--live goes with --session, and is not promoted")
    with settings.client() as client:
        if wanted["resume"]:
            identity = wanted["resume"]
        elif wanted["live"]:
            identity = client.preview_extraction(wanted["session"])["rebuild_id"]
        else:
            identity = client.begin_rebuild(again=wanted["again"], session_id=wanted["session"])["rebuild_id"]
        at = client.wait_for_rebuild(identity, timeout=timeout)
        done = client.promote_rebuild(identity, dry_run=not promote)
    emit({"rebuild": at, **done}, _lines(at, rolled_back(done, dry_run=not promote)))


def _lines(at: Any, changes: Iterator[str]) -> Iterator[str]:
    archives = at["archives"]
    failed = f", {archives['failed']} could not be extracted again" if archives["failed"] else ""
    yield f"rebuild {at['rebuild_id']}: {archives['merged']} archives{failed}"
    yield from changes
