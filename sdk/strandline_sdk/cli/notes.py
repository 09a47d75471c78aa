"""`strandline remember` and `strandline recall`."""

from typing import Any, BinaryIO, cast

import click

from strandline_sdk.cli.base import Command, Settings, pass_settings
from strandline_sdk.cli.output import emit, shown, utf8_text
from strandline_sdk.connection import given

TYPES = ("user", "feedback", "project", "reference")


@click.command(cls=Command)
@click.argument("text")
@click.option("--name", help="What to call it; the same name is written over.")
@click.option("--type", "memory_type", type=click.Choice(TYPES), help="What it is about.")
@click.option("--description", help="When it is of use.")
@click.option("--summary", help="What it says in short, for the index.")
@click.option("--ttl", "ttl_seconds", type=click.IntRange(1), help="Seconds it lives after each write.")
@pass_settings
def remember(settings: Settings, /, text: str, **fields: Any) -> None:
    """Write TEXT, or stdin for -, down as a topic."""
    content = utf8_text(cast(BinaryIO, click.open_file("-", "rb"))) if text == "-" else text
    with settings.client() as client:
        topic = client.remember(content, **given(fields))
    flagged = "  (sounds like an instruction to a model)" if topic.get("flags") else ""
    emit(topic, [f"{shown(topic['path'])}{flagged}"])


@click.command(cls=Command)
@click.argument("query", required=False)
@click.option("--max-tokens", type=click.IntRange(1), default=1600, show_default=True)
@pass_settings
def recall(settings: Settings, query: str | None, max_tokens: int) -> None:
    """Print what is remembered about QUERY.

    As a prompt would get it; without QUERY, the index of topics.
    """
    with settings.client() as client:
        found = client.topics() if query is None else client.recall(query, max_tokens=max_tokens)
    text = found["index"] if query is None else found["block"]["text"]
    emit(found, map(shown, text.splitlines()) if text else ["nothing found"])
