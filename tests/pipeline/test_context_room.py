"""What is left of a context that a compaction has made shorter."""

import pytest

from strandline.domain.message import MAX_ANSWER_BYTES, dumps
from strandline.storage.layout import Life
from strandline.storage.log import ref
from tests.pipeline.context_talk import MEMORIES, ask, everything, say, seqs, words
from tests.pipeline.world import World, counted


@pytest.fixture
def world() -> World:
    return World()


@pytest.mark.parametrize("window", [600, 1_000, 4_000, 8_000, 40_000])
@pytest.mark.parametrize("question", [1, 13, 40])
def test_what_has_been_made_shorter_is_below_every_threshold(
    world: World, window: int, question: int
) -> None:
    """However long summary, memories and kept messages, and with a question of so many hundredths of the window that
    the summary covers, or that is among them: nothing is asked for anew at once."""
    for n in range(window // 40):
        world.append(f"old{n % 7}", f"lake {n}: I row on the lake {words(12, f'l{n}x')}", ids=f"m{n}x")
    for n in range(min(7, window // 40)):
        world.commit(f"old{n}")
    world.settle()
    say(world, {"role": "user", "content": f"lake {words(window * question // 100, 'q')}"})
    each = window // 13
    for n in range(13):
        say(world, {"role": "assistant", "content": words(each - 4, f"t{n}x")})
    made = ask(world, window=window, compaction=None, memories=MEMORIES)
    assert (made.assembled.pressure, made.status) == ("blocking", "scheduled")
    world.commit_next()
    (archive,) = world.head("s").pending
    long = "# Work\n\n## Worklog\n" + f"- {words(20)}\n" * (window // 10)
    world.objects.put(Life(ref(world.head("s"))).archive_file(archive.number, "overview.md"), long.encode())
    world.settle()
    after = ask(world, window=window, compaction=None, memories=MEMORIES)
    assert after.covered_through and after.beside.summary_tokens and after.beside.memories.tokens
    assert (after.assembled.pressure, after.status, after.left) == ("none", "none", [])
    assert not len(world.commit_queue)
    assert everything(after) == list(range(1, 15))


def test_an_answer_that_http_could_not_carry_is_filled_as_far_as_it_can(world: World) -> None:
    for n in range(200):
        say(world, {"role": ("user", "assistant")[n % 2], "content": f"{n} " + "x" * 20_000})
    made = ask(world, window=1_000_000)
    size = sum(len(dumps(dict(message))) for message in made.assembled.messages)
    assert 0.9 * MAX_ANSWER_BYTES < size <= MAX_ANSWER_BYTES


def test_what_is_left_out_for_one_reason_is_one_row(world: World) -> None:
    """Whether it was read and had no room, or was not even read."""
    for n in range(60):
        say(world, {"role": "assistant", "content": words(11, f"t{n}x")})
    say(world, {"role": "user", "content": words(150, "q")})
    made = ask(world)
    assert [(row.seq_from, row.reason) for row in made.left] == [(1, "over_budget")]


def test_a_tail_without_a_user_message_is_looked_through_once(world: World) -> None:
    never = {"auto_compact": {"enabled": False}}
    for n in range(0, 3_000, 100):
        say(world, *({"role": "assistant", "content": words(40, f"t{n}x{m}x")} for m in range(100)))
    first, looking = counted(world, lambda: ask(world, compaction=never))
    say(world, {"role": "assistant", "content": "I go on."})
    again, calls = counted(world, lambda: ask(world, compaction=never))
    assert looking["objects.get"] > 8
    assert calls["objects.get"] <= 3  # the head, the state, and at most a segment
    assert seqs(again)[-1] == seqs(first)[-1] + 1 == 3_001
    assert [(row.seq_from, row.reason) for row in again.left] == [(1, "over_budget")]
    say(world, {"role": "user", "content": "What have you done?"})
    say(world, *({"role": "assistant", "content": words(40, f"u{m}x")} for m in range(100)))
    assert 3_002 in seqs(ask(world, compaction=never))
    assert 3_002 in seqs(ask(world, compaction=never))


def test_asking_for_a_compaction_costs_no_more_where_there_is_more_to_archive(world: World) -> None:
    """Only the commit reads all of it."""
    gets = []
    for name, texts in (("long", 3_000), ("longer", 5_000)):
        for n in range(0, texts, 100):
            said = [{"role": "assistant", "content": words(40, f"t{n}x{m}x")} for m in range(99)]
            say(world, *said, {"role": "user", "content": "and now?"}, name=name)
        made, calls = counted(world, lambda name=name: ask(world, name=name))  # type: ignore[misc]
        assert made.status == "scheduled"
        gets.append(calls["objects.get"])
    assert gets[0] == gets[1] <= 6
    world.settle()
    assert [ask(world, name=name).covered_through for name in ("long", "longer")] == [2_998, 4_998]
