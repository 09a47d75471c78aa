"""Contexts that are asked for at once, answers that are lost, and results that are shown as they were shown."""

from dataclasses import replace
from typing import Any

import pytest

from strandline.domain.errors import Aborted, Unavailable
from strandline.domain.message import MAX_ANSWER_BYTES, dumps
from strandline.pipeline import prompt
from strandline.pipeline.prompt import Prompt
from strandline.ports import Ambiguous
from strandline.storage.layout import Life
from strandline.storage.log import ref
from tests.pipeline.context_talk import ask, everything, say, seqs, talk, words
from tests.pipeline.faults import FAULTS, going_on
from tests.pipeline.test_context import full, shown
from tests.pipeline.world import World


@pytest.fixture
def world() -> World:
    return World()


def call(name: str, tool: str = "Read") -> dict[str, Any]:
    part = {
        "type": "tool",
        "tool_id": name,
        "tool_name": tool,
        "tool_input": {"n": 1},
        "tool_status": "running",
    }
    return {"role": "assistant", "parts": [part]}


def result(name: str, text: str, tool: str = "Read") -> dict[str, Any]:
    part = {"type": "tool", "tool_id": name, "tool_name": tool, "tool_output": text}
    return {"role": "user", "parts": [part]}


def outputs(made: Prompt) -> dict[str, str]:
    """What is shown of each result, by its id."""
    parts = (part for message in made.assembled.messages for part in message.get("parts", ()))
    return {part["tool_id"]: part["tool_output"] for part in parts if part.get("tool_output") is not None}


BUDGET = {"tool_result_budget": {"max_chars": 300, "group_chars": 100_000, "preview_chars": 150}}
LOOSE = {"tool_result_budget": {"max_chars": 3_000, "group_chars": 100_000, "preview_chars": 150}}


def test_two_at_once_give_what_one_of_them_has_decided(world: World) -> None:
    """The second has other limits and comes between the first one's look and its write."""
    say(world, {"role": "user", "content": "read it"}, call("a"), result("a", "x" * 1_000))
    there: list[Prompt] = []
    put = 2  # GETs of head and state come first
    world.next(put, lambda: there.append(ask(world, window=10_000, compaction=LOOSE)))
    first = ask(world, window=10_000, compaction=BUDGET)
    assert outputs(there[0]) == outputs(first) == {"a": "x" * 1_000}
    assert shown(ask(world, window=10_000, compaction=BUDGET)) == shown(first)


def test_of_two_at_once_one_asks_for_the_compaction(world: World) -> None:
    full(world)
    there: list[Prompt] = []
    world.next(2, lambda: there.append(ask(world)))
    first = ask(world)
    assert (first.status, there[0].status) == ("scheduled", "scheduled")
    assert first.state.compaction == there[0].state.compaction
    assert len(world.commit_queue) == 1


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("point", range(9))
def test_whatever_goes_wrong_in_a_call_one_archive_is_all_that_comes_of_it(
    world: World, kind: str, point: int
) -> None:
    full(world)
    FAULTS[kind](world, point)
    with going_on():
        ask(world)
    world.mend()
    world.clock.advance(121)
    with going_on():
        ask(world)
    world.heal()
    world.clock.advance(1_100)
    ask(world)
    world.heal()
    made = ask(world)
    assert (made.covered_through, made.status, world.head("s").commit_count) == (7, "none", 1)
    assert everything(made) == list(range(1, 10))


def test_a_state_that_cannot_be_written_is_no_answer(world: World) -> None:
    """What the caller shows its model must be what is remembered."""
    full(world)
    for nth in range(1, 30):
        world.objects.faults.before("put", Ambiguous("down"), nth=nth)
    with pytest.raises(Unavailable):
        ask(world)
    world.mend()
    assert ask(world).status == "scheduled"  # its lease was let go
    assert len(world.commit_queue) == 1


@pytest.mark.parametrize("lost", [True, False])
def test_a_lost_answer_of_the_write_is_found_out(world: World, lost: bool) -> None:
    full(world)
    (world.objects.faults.after if lost else world.objects.faults.before)("put", Ambiguous("lost"))
    made = ask(world)
    assert made.status == "scheduled" and len(world.commit_queue) == 1


def test_a_session_that_goes_on_while_it_is_read(world: World) -> None:
    """The archive is done between the look at the head and that at the state: all is looked at again."""
    full(world)
    ask(world)
    known = world.services()
    ask(world, by=known)

    def done() -> None:
        world.settle()
        ask(world)

    world.next(1, done)  # behind the head's GET
    made = ask(world, by=known)
    assert made.covered_through == 7
    assert everything(made) == list(range(1, 10))


def test_one_that_never_stops_moving_is_told_so(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    full(world)
    ask(world)
    world.settle()
    ask(world)
    stale = world.head("s")
    monkeypatch.setattr(prompt, "_head", lambda *_: replace(stale, live_from=1, commit_count=0))
    with pytest.raises(Aborted):
        ask(world)


# ---- what was shown once is shown so again


def test_a_result_that_was_sent_whole_stays_whole_after_a_restart_and_lower_limits(
    world: World,
) -> None:  # D4
    say(world, {"role": "user", "content": "read it"}, call("a"), result("a", "x" * 1_000))
    ask(world, window=10_000, compaction=LOOSE)
    say(world, {"role": "user", "content": "and that"}, call("b"), result("b", "y" * 1_000))
    made = ask(world, window=10_000, compaction=BUDGET)
    told = outputs(made)
    assert told["a"] == "x" * 1_000 and len(told["b"]) <= 150
    later = ask(world, window=10_000, compaction=LOOSE)
    assert outputs(later) == told  # the same replacement whatever the limits are now


@pytest.mark.parametrize(("length", "whole"), [(50_000, True), (50_001, False)])
def test_a_long_output_is_kept_apart_and_shown_whole_up_to_the_limit(
    world: World, length: int, whole: bool
) -> None:  # D4
    text = "line of text\n" * (length // 13) + "z" * (length % 13)
    assert len(text) == length
    say(world, {"role": "user", "content": "read it"}, call("a"), result("a", text))
    made = ask(world, window=100_000)
    told = outputs(made)["a"]
    assert (told == text) == whole
    if not whole:
        assert len(told) <= 2_000 and told.startswith("line of text\n") and "tool-results/tr_" in told
    assert shown(ask(world, window=100_000)) == shown(made)
    assert [row.chars_before for row in made.assembled.reduced] == ([] if whole else [length])


def test_snip_and_micro_keep_the_newest_five_and_touch_no_other_tool(world: World) -> None:  # D5
    say(world, {"role": "user", "content": "go"})
    for n in range(22):
        say(world, call(f"r{n}"), result(f"r{n}", f"text {n}"))
        say(world, call(f"o{n}", "Other"), result(f"o{n}", f"other {n}", "Other"))
    told = outputs(ask(world, window=100_000, compaction=None))
    assert [n for n in range(22) if told[f"r{n}"] == f"text {n}"] == [17, 18, 19, 20, 21]
    assert all(told[f"o{n}"] == f"other {n}" for n in range(22))
    world.clock.advance(172_800)
    assert outputs(ask(world, window=100_000, compaction=None)) == told


# ---- calls and their results


def test_a_call_whose_result_comes_later_is_not_parted_from_it(world: World) -> None:  # X5
    talk(world, [words(20, f"t{n}x") for n in range(4)])
    say(world, call("a"), call("b"), result("a", words(70)))
    made = ask(world)
    assert made.state.compaction is not None and made.state.compaction.through == 4
    world.settle()
    say(world, result("b", "late"))
    after = ask(world)
    assert (after.covered_through, outputs(after)["b"]) == (4, "late")
    assert everything(after) == list(range(1, 9))


def test_nothing_is_asked_for_while_nothing_can_go(world: World) -> None:
    """Everything comes after a call that may still be answered: the cap alone makes it fit."""
    say(world, call("a"))
    talk(world, [words(40, f"t{n}x") for n in range(5)])
    made = ask(world)
    assert (made.assembled.pressure, made.status) == ("blocking", "none")
    assert not len(world.commit_queue)
    assert made.assembled.tokens <= 200 and everything(made) == list(range(1, 7))
    world.clock.advance(3_601)  # by then nobody answers it any more
    assert ask(world).status == "scheduled"


def test_a_context_of_fewer_tokens_than_the_newest_message_shows_it_cut(world: World) -> None:  # D2
    talk(world, ["old", "older", words(300)])
    made = ask(world, window=50)
    assert seqs(made) == [3] and made.assembled.tokens <= 50
    assert made.assembled.cut[3] > 0
    stored = world.log("s")
    assert stored[2] == (3, words(300))


@pytest.mark.parametrize("window", [10, 30, 60, 120, 200, 1_000, 1_000_000])
def test_it_is_never_over_the_room_and_nothing_is_missing(world: World, window: int) -> None:  # D2 D9
    full(world)
    ask(world)
    world.settle()
    talk(world, [words(30, "a"), words(40, "b"), words(25, "c")])
    made = ask(world, window=window)
    assert made.assembled.tokens <= window
    assert everything(made) == list(range(1, 13))
    assert 12 in seqs(made)


# ---- what HTTP can carry, and what is not there any more


def test_an_answer_is_never_longer_than_http_can_carry(world: World) -> None:
    """Whatever the window: 30 messages of 100,000 bytes are 3 MB."""
    for n in range(30):
        say(world, {"role": ("user", "assistant")[n % 2], "content": f"{n} " + "x" * 100_000})
    for window in (1_000_000_000, None):
        made = ask(world, window=window, compaction={"auto_compact": {"blocking_chars": 100_000_000}})
        size = sum(len(dumps(dict(message))) for message in made.assembled.messages)
        assert 1_000_000 < size <= MAX_ANSWER_BYTES
        assert everything(made) == list(range(1, 31))
        assert {row.reason for row in made.left} == {"over_budget"}
        assert seqs(made)[-1] == 30


def test_messages_that_somebody_removed_are_said_to_be_missing(world: World) -> None:
    talk(world, ["one", "two"])
    world.commit("s")
    talk(world, ["three"])
    (key,) = world.stored("/messages.0")
    world.objects.delete(key)
    made = ask(world)
    assert (seqs(made), everything(made)) == ([3], [1, 2, 3])
    assert [(row.seq_from, row.seq_to, row.reason) for row in made.left] == [(1, 2, "missing")]


def test_a_summary_that_somebody_removed_is_empty(world: World) -> None:
    full(world)
    ask(world)
    world.settle()
    (key,) = world.stored("overview.md")
    world.objects.delete(key)
    made = ask(world)
    assert (made.covered_through, made.beside.summary) == (7, "")
    assert everything(made) == list(range(1, 10))


def test_a_long_summary_leaves_room_for_what_was_said(world: World) -> None:  # D2
    full(world)
    ask(world)
    world.commit_next()
    (number,) = [archive.number for archive in world.head("s").pending]
    key = Life(ref(world.head("s"))).archive_file(number, "overview.md")
    world.objects.put(key, ("# Work\n\n## Worklog\n" + f"- {words(20)}\n" * 50).encode())
    world.settle()
    made = ask(world)
    assert 0 < made.beside.summary_tokens <= 50
    assert made.assembled.tokens <= 200 and seqs(made) == [8, 9]
    small = ask(world, window=30)
    assert small.assembled.tokens <= 30 and 9 in seqs(small)


def test_a_working_memory_is_asked_for_ahead_of_time_once(world: World) -> None:
    """At 10,000 tokens, long before the context is full; then there is nothing left to read when it is."""
    talk(world, [words(2_600, f"t{n}x") for n in range(4)])
    made = [ask(world, window=100_000) for _ in range(3)]
    assert [each.status for each in made] == ["none"] * 3
    assert made[0].state.summarised_through == made[2].state.summarised_through == 4
    assert len(world.extract_queue) == 1
    world.settle()
    assert world.stored("/working/")
    talk(world, ["no", "more"])
    ask(world, window=100_000)
    assert not len(world.extract_queue)
    world.create("plain", memory_policy={"working_memory": {"enabled": False}})
    talk(world, [words(2_600, f"t{n}x") for n in range(4)], name="plain")
    assert ask(world, name="plain", window=100_000).state.summarised_through == 0


def test_what_the_last_call_took_counts_for_its_prompt_and_generation_alone(world: World) -> None:  # D8
    full(world, each=12)  # 9 x 16 = 144
    assert ask(world).assembled.estimate.source == "estimated"
    usage = (150, "prompt")
    made = ask(world, usage=usage)
    assert (made.assembled.estimate.source, made.assembled.estimate.tokens) == ("usage", 150)
    say(world, {"role": "user", "content": words(20, "more")})  # 24 with what each message takes
    made = ask(world, usage=usage)  # of a function that remembers nothing
    assert (made.assembled.estimate.source, made.assembled.estimate.tokens) == ("hybrid", 174)
    assert ask(world, usage=(150, "another")).assembled.estimate.source != "hybrid"
    world.settle()
    after = ask(world, usage=usage)
    assert after.covered_through > 0
    assert after.assembled.estimate.source == "estimated"  # it saw what the summary now stands for
    assert after.assembled.estimate.tokens < 174
