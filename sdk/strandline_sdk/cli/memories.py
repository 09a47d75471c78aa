"""`strandline memories`."""

import re

import click

from strandline_sdk.cli.base import Group, Settings, pass_settings, wants_json
from strandline_sdk.cli.output import emit, emit_text, minute, shown
from strandline_sdk.model import Memory

_URI_PREFIX = re.compile(r"^viking://user/[^/]+/memories/")


@click.group(cls=Group)
def memories() -> None:
    """The memories, one markdown file each."""


@memories.command()
@click.argument("prefix", required=False)
@click.option("--type", "memory_type", help="Only memories of this type, such as events.")
@pass_settings
def ls(settings: Settings, prefix: str | None, memory_type: str | None) -> None:
    """List memories, all or those under PREFIX."""
    with settings.client() as client:
        found = list(client.memories(prefix, memory_type=memory_type))
    emit(found, map(_row, found))


@memories.command()
@click.argument("path")
@pass_settings
def cat(settings: Settings, path: str) -> None:
    """Print a memory's file as it is in the bucket. PATH may also be its viking:// URI, as search shows it."""
    with settings.client() as client:
        memory = client.memory(_URI_PREFIX.sub("", path))
        if wants_json():
            emit(memory, ())
        else:
            emit_text(client.memory_file(memory["uri"]))


def _row(memory: Memory) -> str:
    return f"{minute(memory.get('updated_at'))}  {memory.get('type', '-'):<12}  {shown(memory['path'])}"
