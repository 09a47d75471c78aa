"""`strandline context`: what a model would be given of a session before its next call."""

from collections.abc import Iterator, Mapping
from typing import Any

import click

from strandline_sdk.cli.base import Command, Settings, pass_settings
from strandline_sdk.cli.messages import part_text
from strandline_sdk.cli.output import count, emit, for_terminal, shown
from strandline_sdk.connection import given
from strandline_sdk.contexts import ModelContext


@click.command(cls=Command, short_help="Print what a model would be given of a session.")
@click.argument("session_id")
@click.option(
    "--window", "model_context_window_tokens", type=click.IntRange(1), help="Tokens of the model's window."
)
@click.option(
    "--max-output", "max_output_tokens", type=click.IntRange(0), help="Tokens of them for its answer."
)
@click.option("--query", help="Choose memories by this, not by the newest user message.")
@click.option("--no-memory", is_flag=True, help="Without memories.")
@click.option("--as-of", metavar="TIME", help="As it was at this time; decides nothing.")
@pass_settings
def context(settings: Settings, /, session_id: str, no_memory: bool, **options: Any) -> None:
    """Print what a model would be given of a session before its next call: memories, summary, messages.

    It asks as an agent does: what is left out for this window stays so for the next call.
    """
    with settings.client() as client:
        made = client.build_context(session_id, no_memory=no_memory, **given(options))
    emit(made, _lines(made))


def _lines(made: ModelContext) -> Iterator[str]:
    if text := made["memory_block"]["text"]:
        yield for_terminal(text)
        yield ""
    if summary := made["summary"]:
        yield for_terminal(summary["text"])
        yield ""
    for message in made["messages"]:
        yield from _message(message)
    yield from _told(made)


def _message(message: Mapping[str, Any]) -> Iterator[str]:
    yield f"--- {message['seq']} {shown(message.get('peer_id') or message['role'])}"
    said = [message["content"]] if message.get("content") else map(part_text, message.get("parts") or ())
    yield from map(for_terminal, said)


def _told(made: ModelContext) -> Iterator[str]:
    """How full the window is, and what is not shown as it was said."""
    tokens = made["tokens"]
    room = f" of {tokens['effective_window']}" if tokens["effective_window"] else ""
    state = made["compaction"]["status"]
    yield f"--- {tokens['used']}{room} tokens; compaction: {state}{', degraded' if made['degraded'] else ''}"
    for each in made["decisions"]:
        tool = shown(each["tool_id"] or each["message_id"])
        yield f"{each['action']}: {tool}, {each['chars_after']} of {each['chars_before']} characters"
    for each in made["cut"]:
        yield f"cut: message {each['seq']}, {count(each['chars'], 'character')} left out"
    for each in made["dropped"]:
        yield f"left out: {each['seq_from']} to {each['seq_to']} ({each['reason']})"
