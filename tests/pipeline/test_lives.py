"""What outlives a session does not reach its successor, and what is odd harms only itself."""

from contextlib import suppress

import pytest

from strandline.domain.contracts import MergeRequested
from strandline.domain.errors import Corrupt, NotFound, Unavailable
from strandline.domain.memory import read_lines
from strandline.pipeline import memory, session, sweep
from strandline.pipeline.merge import run_merge
from strandline.ports import Ambiguous, ConditionFailed
from strandline.storage.log import ref
from tests.pipeline.world import ALICE, Killed, World


def anything(_: object) -> None:
    """No guard."""


def test_a_segment_of_a_deleted_session_is_not_put_into_its_successor(world: World) -> None:  # B-A15
    old = world.services()
    world.append("s", *["A" * 10_000] * 6, by=old, ids="a")
    session.delete(world.services(), ALICE, "s")
    world.append("s", *[f"precious {n}" for n in range(20)], ids="p")

    world.append("s", "B" * 12_000, by=old, ids="b")

    assert [text for _, text in world.log("s")] == [*(f"precious {n}" for n in range(20)), "B" * 12_000]


@pytest.mark.parametrize("call", range(1, 8))
def test_an_index_left_behind_by_a_crash_is_put_right_by_the_sweep(world: World, call: int) -> None:  # B-C15
    memory.write(world.services(), ALICE, "topics/old.md", "zebra\n", anything)
    world.kill(call, before=True)
    with pytest.raises(Killed):
        memory.write(world.services(), ALICE, "topics/new.md", "quagga\n", anything)
        memory.delete(world.services(), ALICE, "topics/old.md", anything)
    world.mend()
    world.heal()

    for path, word in (("topics/old.md", "zebra"), ("topics/new.md", "quagga")):
        there = world.objects.get(ALICE.memory(path)) is not None
        assert (world.find(word) != []) == there, word
        assert (path in memory.list_memories(world.services(), ALICE, "")) == there, path


def test_a_lost_race_for_the_index_is_not_said_to_have_written_nothing(world: World) -> None:
    services = world.services()
    services.indexes.write = _lose  # type: ignore[method-assign]
    with pytest.raises(Unavailable):
        memory.write(services, ALICE, "topics/x.md", "text\n", anything)


def _lose(*_: object) -> None:
    raise ConditionFailed("lost")


def test_a_head_that_cannot_be_read_is_an_error_of_its_own(world: World) -> None:  # B-B8
    world.append("bad", "x")
    world.objects.put(ALICE.head("bad"), b"{}")
    with pytest.raises(Corrupt):
        world.services().heads.read(ALICE.head("bad"))


def test_one_broken_head_does_not_stop_the_sweep_of_the_others(world: World) -> None:  # B-B8
    done = [world.append(name, "tea: green") and world.commit(name) for name in ("a", "b", "c")]
    assert len(done) == 3
    world.objects.put(ALICE.head("b"), b'{"schema": 99}')
    world.clock.advance(10_000)

    counts = sweep.run_sweep(world.services())

    assert counts == {"due": 3, "committed": 0, "moved": 0, "healed": 2, "failed": 1}
    assert sweep.run_sweep(world.services())["due"] == 0  # the bad one is put off


@pytest.mark.parametrize(
    "at",
    ["notatime", "2026-13-01T00:00:00.000Z", "2026-01-01T00:00:00Z", "9" * 30, "2026-01-01T00:00:00.000Zx"],
)
def test_a_line_with_an_odd_time_is_somebodys_own_text(at: str) -> None:
    text = f"- foo <!-- s/1#1 {at} q:0123456789ab -->"
    assert read_lines(text) == ([], [text])


def test_an_owner_may_write_lines_that_look_like_ours(world: World) -> None:
    body = "# x\n\n- foo <!-- s/1#1 notatime q:0123456789ab -->\n- bar <!-- s/9999999999999#1 x q:0 -->\n"
    memory.write(world.services(), ALICE, "topics/x.md", body, anything)
    assert memory.read(world.services(), ALICE, "topics/x.md").body == body
    assert world.find("foo") != []


def test_what_has_expired_starts_afresh(world: World) -> None:  # B-C13
    path = "topics/code.md"
    gone = "---\nexpires_at: 2000-01-01T00:00:00Z\n---\n\nold code\n"
    memory.write(world.services(), ALICE, path, gone, anything)
    with pytest.raises(NotFound):
        memory.read(world.services(), ALICE, path)

    memory.write(world.services(), ALICE, path, "new code\n", anything)

    assert memory.read(world.services(), ALICE, path).body == "new code\n"


@pytest.mark.parametrize(
    "front",
    [
        "expires_at: 2026-02-30",
        "created_at: 2026-13-45",
        "title: 2026-02-31",
        "edits: 0x_",
        "applied: 5",
        "edits: " + "9" * 5_000,
        "expires_at: 2026-01-01T25:61:61Z",
        "title: [" * 500,
        "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\ntitle: *b",
    ],
)
def test_a_file_with_odd_front_matter_is_read_and_written(world: World, front: str) -> None:
    key = ALICE.memory("topics/odd.md")
    world.objects.put(key, f"---\n{front}\n---\n\ntext\n".encode())
    assert len(memory.read(world.services(), ALICE, "topics/odd.md").title) <= 200
    memory.write(world.services(), ALICE, "topics/odd.md", f"---\n{front}\n---\n\nmore\n", anything)
    assert world.find("more") != []


def test_a_delete_that_died_before_it_was_true_has_deleted_nothing(world: World) -> None:  # B-A15
    world.remember("s", "tea: green")
    world.append("s", "live", ids="n")
    for call in range(10):
        world.kill(call, before=True)
        with suppress(Killed):
            session.delete(world.services(), ALICE, "s")
        world.mend()
        if world.head("s").buried_at:
            break
        world.clock.advance(10_000)
        world.heal()
        assert [text for _, text in world.log("s")] == ["tea: green", "live"], f"call {call}"
        assert world.find("green", context_type="message") == ["tea: green"], f"call {call}"
    assert call == 3  # read, marker, the gravestone's PUT; killed before the next it is true


def test_a_merge_that_comes_again_does_not_bring_back_what_has_expired(world: World) -> None:  # B-B16 B-C15
    world.remember("s", "tea: green")
    (path,) = memory.list_memories(world.services(), ALICE, "")
    gone = "---\nexpires_at: 2000-01-01T00:00:00Z\n---\n\nold\n"
    memory.write(world.services(), ALICE, path, gone, anything)
    (diff,) = world.stored("memory_diff.json")
    world.objects.delete(diff)

    again = MergeRequested(session=ref(world.head("s")), archive=1, first=1, last=1, task_id="t")
    assert run_merge(world.services(), [again]) == [None]

    assert memory.list_memories(world.services(), ALICE, "") == {}


def test_a_task_that_cannot_be_noted_does_not_keep_the_request_back(world: World) -> None:
    world.append("s", "tea: green")
    world.items.faults.before("update", Ambiguous("no answer"))
    world.commit("s")
    world.mend()
    world.settle()
    assert world.head("s").completed == 1
