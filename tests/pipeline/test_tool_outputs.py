"""Long tool outputs on their way in: the object first, then the head that refers to it, whatever goes wrong."""

import json
from contextlib import suppress
from typing import Any

import pytest

from strandline.domain.errors import Aborted, NotFound, StrandlineError
from strandline.domain.message import MessageIn, read_line
from strandline.pipeline import session, tool_results
from strandline.pipeline.append import Appended, AppendRequest, run_append
from strandline.pipeline.services import Services
from strandline.ports import Ambiguous
from tests.pipeline.trips import Killed
from tests.pipeline.world import ALICE, World, counted

LONG = "one line of an output\n" * 1_000


def request(output: str = LONG, **fields: Any) -> AppendRequest:
    part = {"type": "tool", "tool_id": "c", "tool_name": "ls", "tool_output": output}
    return AppendRequest(
        ALICE, "s", [MessageIn.model_validate({"role": "assistant", "parts": [part], "id": "m"})], **fields
    )


def append(world: World, wanted: AppendRequest | None = None, by: Services | None = None) -> Appended:
    return run_append(by or world.services(), wanted or request())


def expect_whole(world: World) -> None:
    """One message, whose reference leads to the whole output."""
    head = world.head("s")
    (message,) = [read_line(line) for line in world.services().log.live(head, 1, head.last_seq)]
    identity = message["parts"][0]["ref"]["id"]
    assert tool_results.read(world.services(), ALICE, "s", identity).content == LONG


def test_a_warm_append_is_two_puts_and_without_a_long_output_one(world: World) -> None:
    world.append("s", "hello", ids="x")
    services = world.services()
    world.append("s", "hello", ids="y", by=services)
    _, calls = counted(world, lambda: append(world, by=services))
    assert calls == {"objects.put": 2}
    inline = [MessageIn.model_validate({"role": "tool", "content": "x" * 20_000, "id": "t"})]
    _, calls = counted(world, lambda: run_append(services, AppendRequest(ALICE, "s", inline)))
    assert calls == {"objects.put": 1}
    expect = json.loads(world.body(world.stored("tool-results")[0]).partition(b"\n")[0])
    assert (expect["message_id"], expect["total_chars"]) == ("m", len(LONG))


def test_the_output_is_there_before_the_head_refers_to_it(world: World) -> None:
    world.append("s", "hello", ids="x")
    services = world.services()
    world.append("s", "hello", ids="y", by=services)
    world.kill(1, before=True)
    with pytest.raises(Killed):
        append(world, by=services)
    world.mend()
    assert len(world.stored("tool-results")) == 1
    assert world.head("s").last_seq == 2


def test_what_a_crash_leaves_of_a_new_session_is_deleted_with_it(world: World) -> None:  # B-A15
    for at in range(calls_of_an_append()):
        world.kill(at, before=True)
        with suppress(Killed):
            append(world)
        world.mend()
    append(world)
    session.delete(world.services(), ALICE, "s")
    assert world.stored("tool-results") == []


def test_a_repeat_writes_nothing(world: World) -> None:  # B-A7
    services = world.services()
    append(world, by=services)
    done, calls = counted(world, lambda: append(world, by=services))
    assert [receipt.duplicate for receipt in done.receipts] == [True]
    assert not calls.get("objects.put")


def calls_of_an_append() -> int:
    world = World()
    return sum(counted(world, lambda: append(world))[1].values())


@pytest.mark.parametrize("kind", ["killed before", "killed after", "lost before", "lost after"])
@pytest.mark.parametrize("at", range(calls_of_an_append()))
def test_one_fault_anywhere_and_the_repeat_ends_well(at: int, kind: str) -> None:  # B-B17
    world = World()
    error: type[BaseException] = Killed if kind.startswith("killed") else Ambiguous

    def fail() -> None:
        raise error

    world.next(at, fail, before=kind.endswith("before"))
    try:
        append(world)
    except (Killed, StrandlineError):
        world.mend()
        append(world)
    world.mend()
    expect_whole(world)
    assert len(world.stored("tool-results")) == 1
    assert world.head("s").last_seq == 1


def test_a_session_that_is_replaced_meanwhile_gets_the_output_too(world: World) -> None:  # B-A15
    """The output was written into the life that ended; its successor must not refer into it."""
    world.append("s", "hello", ids="x")
    services = world.services()
    world.append("s", "hello", ids="y", by=services)
    first = world.head("s").incarnation

    def replace_it() -> None:
        world.mend()
        session.delete(world.services(), ALICE, "s")
        world.append("s", "anew", ids="z")

    world.next(1, replace_it)
    append(world, by=services)
    head = world.head("s")
    assert head.incarnation != first
    assert head.last_seq == 2
    message = read_line(head.tail[-1])
    identity = message["parts"][0]["ref"]["id"]
    assert tool_results.read(world.services(), ALICE, "s", identity).content == LONG


@pytest.mark.parametrize("at", [5, 6])  # before the output, before the head that has the message
def test_a_session_that_is_deleted_while_it_begins_begins_anew(world: World, at: int) -> None:  # B-A15
    """The life that was begun for the output, and ended before the message was in it, never comes back."""
    ended: list[str] = []

    def delete_it() -> None:
        world.mend()
        found = world.services().heads.read(ALICE.head("s"))
        if found is not None:
            ended.append(found.value.incarnation)
            session.delete(world.services(), ALICE, "s")

    world.next(at, delete_it)
    append(world)

    head = world.head("s")
    assert head.incarnation not in ended
    identity = read_line(head.tail[-1])["parts"][0]["ref"]["id"]
    assert tool_results.read(world.services(), ALICE, "s", identity).content == LONG


def test_deleting_the_session_takes_them_along(world: World) -> None:  # B-A15
    append(world)
    session.delete(world.services(), ALICE, "s")
    assert world.stored("tool-results") == []
    with pytest.raises(NotFound):
        tool_results.page(world.services(), ALICE, "s", after=None, limit=10)


def test_a_wrong_expectation_leaves_no_output(world: World) -> None:  # B-A10
    world.append("s", "hello", ids="x")
    with pytest.raises(Aborted):
        append(world, request(expected_last_seq=7))
    assert world.stored("tool-results") == []


def test_a_bad_message_in_the_batch_leaves_no_output(world: World) -> None:  # B-A3
    big = MessageIn(role="user", content="x" * (1024 * 1024 + 1), id="big")
    wanted = request()
    with pytest.raises(StrandlineError):
        append(world, AppendRequest(ALICE, "s", [*wanted.messages, big]))
    assert world.stored("") == []


def test_tokens_and_the_context_count_the_preview(world: World) -> None:
    done = append(world)
    assert done.head.pending_tokens < 600


def test_many_outputs_spill_the_tail_as_usual(world: World) -> None:
    services = world.services()
    for n in range(80):
        text = f"{n}\n" * 20_000
        part = {"type": "tool", "tool_name": "ls", "tool_output": text}
        message = MessageIn.model_validate({"role": "assistant", "parts": [part], "id": f"m{n}"})
        run_append(services, AppendRequest(ALICE, "s", [message]))
    head = world.head("s")
    assert head.last_seq == 80
    assert len(head.segments) >= 1
    assert len(world.stored("tool-results")) == 80


def test_a_list_reads_the_beginnings_only(world: World) -> None:
    for n in range(3):
        part = {"type": "tool", "tool_name": "ls", "tool_output": f"{n}" * 1_000_000}
        message = MessageIn.model_validate({"role": "assistant", "parts": [part], "id": f"m{n}"})
        run_append(world.services(), AppendRequest(ALICE, "s", [message]))
    services = world.services()
    before = world.objects.bytes["get"]
    rows, rest = tool_results.page(services, ALICE, "s", after=None, limit=10)
    assert (len(rows), rest) == (3, None)
    assert world.objects.bytes["get"] - before < 60_000
