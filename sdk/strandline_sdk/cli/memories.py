"""`strandline memories`."""

import re
from typing import BinaryIO

import click

from strandline_sdk.cli.base import Group, Settings, pass_settings, wants_json
from strandline_sdk.cli.output import emit, emit_text, minute, shown, utf8_text
from strandline_sdk.client import Client
from strandline_sdk.model import Memory

_URI_PREFIX = re.compile(r"^viking://user/[^/]+/memories/")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@click.group(cls=Group)
def memories() -> None:
    """The memories, one markdown file each."""


@memories.command()
@click.argument("prefix", required=False)
@click.option("--type", "memory_type", help="Only memories of this type, such as events.")
@click.option("--as-of", metavar="TIME", help="Those of an earlier time, such as 2026-05-08T07:00:00Z.")
@pass_settings
def ls(settings: Settings, prefix: str | None, memory_type: str | None, as_of: str | None) -> None:
    """List memories, all or those under PREFIX."""
    with settings.client() as client:
        found = list(client.memories(prefix, memory_type=memory_type, as_of=as_of))
    emit(found, map(_row, found))


@memories.command()
@click.argument("path")
@click.option("--as-of", metavar="TIME", help="As it was at an earlier time, without front matter.")
@click.option("--version", type=click.IntRange(1), help="One of its versions, without front matter.")
@pass_settings
def cat(settings: Settings, path: str, as_of: str | None, version: int | None) -> None:
    """Print a memory's file as it is in the bucket. PATH may also be its viking:// URI, as search shows it."""
    if as_of and version:
        raise click.UsageError("--as-of and --version exclude each other")
    with settings.client() as client:
        memory = _memory(client, path, as_of=as_of, version=version)
        if wants_json():
            emit(memory, ())
        else:
            emit_text(memory["content"] if as_of or version else client.memory_file(memory["uri"]))


@memories.command()
@click.argument("path")
@pass_settings
def rm(settings: Settings, path: str) -> None:
    """Delete a memory. PATH may also be its viking:// URI, as search shows it."""
    with settings.client() as client:
        memory = _memory(client, path)
        client.delete_memory(memory["path"])
    emit({"path": memory["path"], "uri": memory["uri"]}, [f"deleted {shown(memory['path'])}"])


@memories.command()
@click.argument("path")
@click.argument("file", type=click.File("rb"), default="-")
@click.option("--if-match", metavar="SHA256", help="Only over the content with this hash.")
@click.option("--new", is_flag=True, help="Only if there is no such memory yet.")
@pass_settings
def put(settings: Settings, path: str, file: BinaryIO, if_match: str | None, new: bool) -> None:
    """Write FILE, or what stands on stdin, as the memory at PATH. Prints the content's hash for --if-match."""
    if if_match and new:
        raise click.UsageError("--if-match and --new exclude each other")
    if if_match and not _SHA256.fullmatch(if_match):
        raise click.UsageError("--if-match takes the 64 hexadecimal digits of a SHA-256")
    if "://" in path:
        raise click.UsageError("give the memory's path, such as profile.md")
    with settings.client() as client:
        memory = client.put_memory(path, utf8_text(file), if_match=if_match, new=new)
    emit(memory, [f"{shown(memory['path'])}  {memory.get('sha256', '')}"])


def _memory(client: Client, path: str, *, as_of: str | None = None, version: int | None = None) -> Memory:
    """The memory at a path or a URI; a URI of another user's is not taken for one's own."""
    memory = client.memory(_URI_PREFIX.sub("", path), as_of=as_of, version=version)
    if "://" in path and memory["uri"] != path:
        raise click.ClickException(f"{shown(path)} belongs to somebody else: --user says for whom to act")
    return memory


def _row(memory: Memory) -> str:
    return f"{minute(memory.get('updated_at'))}  {memory.get('type', '-'):<12}  {shown(memory['path'])}"
