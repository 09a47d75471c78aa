"""`strandline scrub`."""

from collections.abc import Iterator
from typing import Any

import click

from strandline_sdk.cli.base import Settings, pass_settings, timeout_option
from strandline_sdk.cli.output import count, emit
from strandline_sdk.model import Scrub


@click.command(short_help="Take secrets out of what is stored already.")
@click.option("--session", metavar="ID", help="Only of what quotes this session.")
@click.option("--dry-run", is_flag=True, help="Only count what would be changed.")
@click.option("--resume", metavar="ID", help="Look at a scrub that was begun before.")
@timeout_option
@pass_settings
def scrub(settings: Settings, /, session: str, dry_run: bool, resume: str, timeout: float) -> None:
    """Take secrets out of all versions of what is stored already. The service goes over everything twice, a quarter of
    an hour apart; this waits for the first time."""
    if resume and (session or dry_run):
        raise click.UsageError("--resume goes alone")
    with settings.client() as client:
        identity = resume or client.begin_scrub(session_id=session, dry_run=dry_run)["scrub_id"]
        at = client.wait_for_scrub(identity, timeout=timeout)
    emit(at, _lines(at))


def _lines(at: Scrub) -> Iterator[str]:
    yield f"scrub {at['scrub_id']}: {_STATUS[at['status']]}"
    for kind, number in sorted(at["findings"].items()):
        yield f"{kind}: in {count(number, 'object')}"
    changes = "would be changed" if at["dry_run"] else "changed"
    yield f"{_sum(at['changed'])} of {_sum(at['objects'], at['items'])} {changes}"
    if at["names"]:
        yield f"{count(_sum(at['names']), 'name')} that look like a secret: delete what is called so"
    if at["unreadable"]:
        yield f"{count(_sum(at['unreadable']), 'object')} could not be read and stay as they are"


_STATUS = {
    "running": "going on",
    "waiting": "done once; it goes over everything again in a while",
    "completed": "done",
}


def _sum(*counts: Any) -> int:
    return sum(sum(each.values()) for each in counts)
