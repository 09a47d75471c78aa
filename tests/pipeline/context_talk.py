"""A session whose context is asked for before each call of a model, as an agent does it."""

from collections.abc import Mapping, Sequence
from typing import Any

from strandline.domain.compaction.assembly import Room
from strandline.domain.message import MessageIn
from strandline.pipeline.append import Appended, AppendRequest, run_append
from strandline.pipeline.beside import WantedMemories
from strandline.pipeline.library import Library
from strandline.pipeline.prompt import Prompt, Wanted, run_prompt
from tests.pipeline.world import ALICE, World

TINY = {"auto_compact": {"keep_recent": 2, "cool_down_seconds": 60}}
WINDOW = 200
"""Tokens, each a word: the thresholds are 170, 180 and 190."""


def words(number: int, name: str = "w") -> str:
    """A text of that many tokens."""
    return " ".join(f"{name}{n}" for n in range(number))


def say(world: World, *messages: Mapping[str, Any], name: str = "s") -> Appended:
    """Appends the messages; those of role user are (role, content) only."""
    made = [MessageIn.model_validate(message) for message in messages]
    return run_append(world.services(), AppendRequest(ALICE, name, made))


def talk(world: World, texts: Sequence[str], name: str = "s") -> None:
    """User and assistant in turns."""
    for n, text in enumerate(texts):
        say(world, {"role": ("user", "assistant")[n % 2], "content": text}, name=name)


def ask(world: World, *, by: Library | None = None, name: str = "s", **fields: Any) -> Prompt:
    """The context; without memories unless some are asked for. Each time by a function that remembers nothing."""
    room = Room(fields.pop("window", WINDOW), fields.pop("max_output", 0), fields.pop("reserved", 0))
    wanted = {"compaction": TINY, "memories": None, **fields}
    return run_prompt(by or world.services(), ALICE, name, Wanted(room, **wanted))


def seqs(made: Prompt) -> list[int]:
    return [message["seq"] for message in made.assembled.messages]


def everything(made: Prompt) -> list[int]:
    """Seqs that are covered, shown or left out, those behind the boundary once."""
    shown = {seq for seq in seqs(made) if seq > made.covered_through}
    left = {seq for row in made.left for seq in range(row.seq_from, row.seq_to + 1)}
    assert not shown & left
    return sorted([*range(1, made.covered_through + 1), *shown, *left])


MEMORIES = WantedMemories()
