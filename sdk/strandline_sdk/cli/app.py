"""The top of the command line: the options that all commands share, and the commands."""

import click
import httpx

from strandline_sdk.cli import importing, memories, search, sessions, tasks, watching
from strandline_sdk.cli.base import Group, Settings
from strandline_sdk.connection import DEFAULT_URL


@click.group(cls=Group)
@click.version_option(package_name="strandline")
@click.option("--url", envvar="STRANDLINE_URL", default=DEFAULT_URL, show_default=True, show_envvar=True)
@click.option("--key", envvar="STRANDLINE_KEY", show_envvar=True, help="API key.")
@click.option("--account", help="Act in this account (root key).")
@click.option("--user", help="Act for this user (admin or root key).")
@click.pass_context
def main(context: click.Context, url: str, key: str | None, account: str | None, user: str | None) -> None:
    """Agent memory: import conversations, search them and the memories made of them."""
    transport = context.obj if isinstance(context.obj, httpx.BaseTransport) else None
    context.obj = Settings(url, key, account, user, transport)


main.add_command(importing.import_)
main.add_command(search.search)
main.add_command(memories.memories)
main.add_command(sessions.sessions)
main.add_command(sessions.send)
main.add_command(sessions.commit)
main.add_command(tasks.tasks)
main.add_command(watching.watch)
