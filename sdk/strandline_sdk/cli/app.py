"""The top of the command line: the options that all commands share, and the commands."""

from typing import Any

import click
import httpx

from strandline_sdk.cli import (
    bench,
    contexts,
    importing,
    memories,
    notes,
    rebuild,
    scrub,
    search,
    sessions,
    tasks,
    train,
    watching,
)
from strandline_sdk.cli import history as history  # its commands join those of memories
from strandline_sdk.cli.base import Group, Settings
from strandline_sdk.connection import DEFAULT_URL

EXAMPLES = """\b
strandline import chat.json --resume        store conversations, or go on with that
strandline search "what can Ana not eat?"   find what is remembered
strandline watch weekend                    follow a session, like tail -f

\b
Exit code: 0 done; 1 refused, unreachable or failed; 2 misused; 130 interrupted.
"""


@click.group(cls=Group, context_settings={"max_content_width": 100}, epilog=EXAMPLES)
@click.version_option(package_name="strandline")
@click.option(
    "--url",
    envvar="STRANDLINE_URL",
    default=DEFAULT_URL,
    show_default=True,
    show_envvar=True,
    help="Where the service is.",
)
@click.option("--key", envvar="STRANDLINE_KEY", show_envvar=True, help="API key.")
@click.option("--account", help="Act in this account (root key).")
@click.option("--user", help="Act for this user (admin or root key).")
@click.option("--actor-peer", help="Act as this peer of the user.")
@click.pass_context
def main(context: click.Context, /, **options: Any) -> None:
    """Agent memory: import conversations, search them and the memories made of them."""
    transport = context.obj if isinstance(context.obj, httpx.BaseTransport) else None
    context.obj = Settings(**options, transport=transport)


main.add_command(importing.import_)
main.add_command(search.search)
main.add_command(memories.memories)
main.add_command(rebuild.rebuild)
main.add_command(scrub.scrub)
main.add_command(notes.remember)
main.add_command(notes.recall)
main.add_command(sessions.sessions)
main.add_command(sessions.send)
main.add_command(sessions.commit)
main.add_command(contexts.context)
main.add_command(tasks.tasks)
main.add_command(watching.watch)
main.add_command(train.train)
main.add_command(bench.bench)
