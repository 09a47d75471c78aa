"""What the archive does not bear out is not written, whatever stands among the candidates."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from strandline.pipeline import memory
from tests.pipeline.world import ALICE, World

Line = dict[str, Any]
TEA = "preferences/tea.md"


def spoilt(world: World, spoil: Callable[[Line], None]) -> Any:
    """Merges two candidate lines of which one was changed after extraction; answers the diff."""
    world.append("s", "tea: I like green tea", "tea: never with milk")
    world.commit("s")
    world.extract_next()
    (key,) = world.stored("candidates.json")
    candidates = json.loads(world.body(key))
    spoil(candidates["files"][0]["lines"][0])
    world.objects.put(key, json.dumps(candidates).encode())
    world.settle()
    (diff,) = world.bodies("memory_diff.json").values()
    return json.loads(diff)


def another_hash(line: Line) -> None:
    line["quote"] = "0" * 12


def elsewhere(line: Line) -> None:
    line["quoted"]["start"] += 1


def another_message(line: Line) -> None:
    line["quoted"]["seq"] = 2


def an_empty_quote(line: Line) -> None:
    line["quoted"]["chars"] = 0


def messages_beyond(line: Line) -> None:
    line["seq_to"] = 9


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (another_hash, "its quote is not in the messages it cites"),
        (elsewhere, "its quote is not in the messages it cites"),
        (another_message, "its quote is not in the messages it cites"),
        (an_empty_quote, "its quote is not in the messages it cites"),
        (messages_beyond, "cites messages outside the archive"),
    ],
)
def test_a_line_without_its_quote_is_rejected_alone(
    world: World, spoil: Callable[[Line], None], reason: str
) -> None:
    diff = spoilt(world, spoil)
    assert [line.text for line in memory.read(world.services(), ALICE, TEA).lines] == ["never with milk"]
    (rejected,) = diff["rejected"]
    assert (rejected["reason"], rejected["memory_type"], rejected["seq_from"]) == (reason, "preferences", 1)
    assert world.head("s").completed == 1


def test_a_file_without_a_line_is_not_written(world: World) -> None:
    world.append("s", "tea: I like green tea")
    world.commit("s")
    world.extract_next()
    (key,) = world.stored("candidates.json")
    world.objects.put(key, world.body(key).replace(b'"start": 5', b'"start": 6'))
    world.settle()
    assert world.stored("/memories/") == []
    assert world.head("s").completed == 1


def test_candidates_of_an_earlier_version_name_no_place(world: World) -> None:
    def forget(line: Line) -> None:
        del line["quoted"]

    assert spoilt(world, forget)["rejected"] == []
    assert len(memory.read(world.services(), ALICE, TEA).lines) == 2


def test_where_a_quote_stands_is_noted(world: World) -> None:
    world.remember("s", "no memory in this", "tea: I like green tea")
    (candidates,) = world.bodies("candidates.json").values()
    (line,) = json.loads(candidates)["files"][0]["lines"]
    assert line["quoted"] == {"seq": 2, "start": 5, "chars": 16}
