"""Every invariant finds what it is there to find: a healthy world is spoilt in one place, and just that is said."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from strandline.domain.contracts import MergeRequested
from tests.fakes import MemoryQueue
from tests.sim import spoils_auto, spoils_lessons, spoils_memories, spoils_messages
from tests.sim.healthy import Healthy
from tests.sim.history import Killed, ModelCall
from tests.sim.invariants import INVARIANTS, Violation, check
from tests.sim.spoils import SPOILT, Spoil

assert spoils_auto and spoils_lessons and spoils_memories and spoils_messages  # importing them fills SPOILT
CASES = [(invariant, spoil) for invariant, spoils_it in SPOILT.items() for spoil in spoils_it]


@pytest.mark.parametrize(("invariant", "spoil"), CASES, ids=[spoil.__name__ for _, spoil in CASES])
def test_what_is_spoilt_is_found(invariant: str, spoil: Spoil) -> None:
    it = Healthy()
    spoil(it)
    expect(it, invariant)


def expect(it: Healthy, invariant: str) -> None:
    with pytest.raises(Violation) as caught:
        it.check()
    assert caught.value.invariant == invariant, caught.value


@pytest.mark.parametrize("name", ["pending_tokens", "tail_bytes", "completed", "latest_done"])
def test_counters(name: str) -> None:
    it = Healthy()
    it.change_head("s", lambda head: replace(head, **{name: getattr(head, name) + 1}))
    expect(it, "counters_equal_a_recount")


def test_a_healthy_world_passes() -> None:
    it = Healthy()
    it.check()
    spoils_lessons.taught(it)
    it.check()


def merge_request(it: Healthy, name: str, archive: int) -> MergeRequested:
    return MergeRequested(session=it.life(name).session, archive=archive, first=1, last=1, task_id="t")


def test_a_message_that_is_left() -> None:
    it = Healthy()
    it.world.merge_queue.send(merge_request(it, "s", 1))
    expect(it, "queues_are_empty")


@pytest.mark.parametrize(("archive", "invariant"), [(1, None), (7, "what_was_given_up_has_ended")])
def test_a_dead_letter(archive: int, invariant: str | None) -> None:
    it = Healthy()
    dead = {**it.queues, "merge": given_up(merge_request(it, "s", archive))}
    assert found(it, dead) == invariant


def test_a_tenants_words_in_anothers_message() -> None:
    it = Healthy()
    dead = {
        **it.queues,
        "merge": given_up(merge_request(it, "s", 1).model_copy(update={"task_id": "quince"})),
    }
    assert found(it, dead) == "no_tenants_byte_under_anothers_prefix"


def given_up(message: MergeRequested) -> MemoryQueue:
    queue = MemoryQueue()
    queue.send(message)
    queue.dead, queue._waiting = queue._waiting, []  # type: ignore[attr-defined]
    return queue


def found(it: Healthy, queues: Mapping[str, MemoryQueue]) -> str | None:
    try:
        check(it.world.objects, it.world.items, queues, it.history)
    except Violation as violation:
        return violation.invariant
    return None


def test_a_model_may_be_asked_again_after_a_kill() -> None:
    it = Healthy()
    it.history.append(next(it.history.of(ModelCall)))
    it.history.append(Killed(1, "extract"))
    it.check()


def test_every_invariant_has_been_seen_to_fail() -> None:
    by_themselves = {"queues_are_empty", "what_was_given_up_has_ended"}
    assert {invariant.__name__ for invariant in INVARIANTS} == set(SPOILT) | by_themselves


def test_guarantees_name_every_invariant() -> None:
    page = (Path(__file__).parents[2] / "docs/GUARANTEES.md").read_text()
    checks = page.partition("## What a simulation checks")[2].partition("\n## ")[0]
    named = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", checks))
    assert named - {"pending_tokens", "memories_extracted"} == {
        invariant.__name__ for invariant in INVARIANTS
    }
