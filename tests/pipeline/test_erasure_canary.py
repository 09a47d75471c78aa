"""A canary that is planted in everything is found nowhere after an erasure: no key, no version, no row, no queue."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from strandline.domain.message import MessageIn, ToolPart
from strandline.domain.ranking.encoding import _decoded
from strandline.pipeline import memory
from strandline.pipeline.append import AppendRequest, run_append
from strandline.storage.layout import User
from tests.pipeline.erasing import ANN, anything, begin, finish
from tests.pipeline.world import World

CANARY = "xylophone-7f3a"


def plant(world: World) -> None:
    """In messages, archived, spilled and live, in tool inputs and outputs, metadata, names; as far as that can be."""
    long = "x" * 40_000
    world.create(CANARY, owner=ANN, metadata={"note": CANARY})
    world.remember(CANARY, f"it is {CANARY}", owner=ANN)
    tool = ToolPart(
        type="tool",
        tool_id=CANARY,
        tool_name=CANARY,
        tool_input={CANARY: CANARY},
        tool_output=f"{CANARY}\n{long}",
    )
    said = [
        MessageIn(role="assistant", parts=[tool], id=CANARY),
        *(MessageIn(role="user", content=f"{CANARY} {long}", id=f"{CANARY}{n}") for n in range(3)),
    ]
    for message in said:
        run_append(world.services(), AppendRequest(ANN, CANARY, [message]))


def remember(world: World) -> None:
    """In what is the user's and no session's."""
    services = world.services()
    world.remember("other", f"{CANARY}: I row {CANARY}", owner=ANN)
    for text in (f"{CANARY} once", f"{CANARY} twice"):
        memory.write(services, ANN, f"topics/{CANARY}.md", text, anything)
    world.objects.put(ANN.replay("k"), json.dumps([CANARY]).encode())
    world.items.put({"pk": "REPLAYS#acme/a", "sk": "k", "body": CANARY})
    world.objects.put(ANN.memory_type("mine", "md"), CANARY.encode())


def everything(world: World) -> Iterator[tuple[str, str]]:
    for key, entries in world.objects._entries.items():
        if entries:
            yield "key", key
        for entry in entries:
            body = entry.body or b""
            yield key, repr(_decoded(body)) if key.endswith(".idx") and body else body.decode()
    yield "rows", repr([row for row in world.rows("") if not row["pk"].startswith("IDLE#")])
    for queue in (
        world.ingest_queue,
        world.commit_queue,
        world.extract_queue,
        world.merge_queue,
        world.erase_queue,
    ):
        yield "queue", f"{CANARY} waits" if len(queue) else ""


def places(world: World) -> set[str]:
    return {where for where, text in everything(world) if CANARY in text}


@pytest.mark.parametrize("whose", [ANN, replace(ANN, user_id="")], ids=["user", "account"])
def test_of_an_erased_user_or_account(whose: User) -> None:  # B-B17
    world = World()
    plant(world)
    remember(world)
    assert {"key", "rows"} < places(world)
    begin(world, whose)
    finish(world)
    assert places(world) - {"rows"} == set()
    left = [row for row in world.rows("") if CANARY in repr(row)]
    assert [row for row in left if not row["pk"].startswith("DUE#")] == []


def test_of_a_deleted_session_a_day_later() -> None:  # B-B17
    world = World()
    plant(world)
    assert {"key", "rows"} < places(world)
    world.delete(CANARY, owner=ANN)
    for _ in range(4):
        world.sweep(13 * 3_600)
        world.settle(200)
    told = {where for where in places(world) if "/journal/" in where}
    assert places(world) == told  # that it was deleted, by its name
    assert not any("it is" in text for where, text in everything(world) if where in told)
