"""A language model beside the rules: what it reads, what it costs, and what happens when it fails or a worker dies."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from strandline.domain.contracts import ExtractRequested
from strandline.domain.errors import AnswerCut, ExtractionFailed
from strandline.domain.extraction import Claim, Extraction, Proposal, Transcript, Usage
from strandline.pipeline import memory, task
from strandline.pipeline.commit import Committed
from strandline.pipeline.context import run_context
from strandline.pipeline.services import Rules
from strandline.pipeline.sweep import run_sweep
from tests.pipeline.faults import FAULTS, run
from tests.pipeline.trips import Killed
from tests.pipeline.world import ALICE, HEAL_SECONDS, World

TEXTS = ("tea: I like green tea", "sport: I row", "music: I play the oboe", "home: I live in Bergen")
REASON = "the model's answer is empty"


@dataclass
class Reader:
    """Notes `Heard: <text>` of every message, in `music.md` and so on. `room`: messages whose answer fits; `seconds`
    it takes; its first `failing` answers are none."""

    world: World
    room: int = 100
    seconds: float = 0
    failing: int = 0
    asked: list[tuple[int, int]] = field(default_factory=list)

    def extract(self, transcript: Transcript) -> Extraction:
        self.asked.append((transcript.turns[0].seq, transcript.turns[-1].seq))
        self.world.clock.advance(self.seconds)
        usage = Usage(models=("test:m",), calls=1, input_tokens=10 * len(transcript.turns), output_tokens=5)
        if len(self.asked) <= self.failing:
            raise ExtractionFailed(REASON, usage=usage)
        if len(transcript.turns) > self.room:
            raise AnswerCut("it does not fit", final=True, usage=usage)
        return Extraction(
            extractor="test:m/1",
            abstract=f"Read {self.asked[-1]}.",
            proposals=tuple(_noted(turn.seq, turn.text) for turn in transcript.turns),
            usage=usage,
        )


def _noted(seq: int, text: str) -> Proposal:
    topic, _, said = text.partition(": ")
    claim = Claim(text=f"Heard: {said}", seq_from=seq, seq_to=seq, quote=said)
    return Proposal(memory_type="preferences", fields={"topic": topic}, claims=(claim,))


def read_by(world: World, **behaviour: Any) -> Reader:
    """Configures a reader. A message is 34 tokens: three to a part of 110."""
    reader = Reader(world, **behaviour)
    world.language_model = reader
    return reader


def small_parts(**more: Any) -> World:
    return World(Rules(heal_seconds=HEAL_SECONDS, part_tokens=70, **more))


def committed(world: World, *texts: str) -> Committed:
    world.append("s", *(texts or TEXTS))
    done = world.commit("s")
    assert isinstance(done, Committed)
    return done


def lines(world: World) -> dict[str, list[str]]:
    found = memory.list_memories(world.services(), ALICE, "")
    return {path: [x.text for x in memory.read(world.services(), ALICE, path).lines] for path in found}


BOTH = {
    "preferences/home.md": ["Heard: I live in Bergen", "I live in Bergen"],
    "preferences/music.md": ["Heard: I play the oboe", "I play the oboe"],
    "preferences/sport.md": ["Heard: I row", "I row"],
    "preferences/tea.md": ["Heard: I like green tea", "I like green tea"],
}


def sorted_lines(world: World) -> dict[str, list[str]]:
    return {path: sorted(found) for path, found in lines(world).items()}


def tokens(world: World, done: Committed) -> Any:
    return task.get(world.services(), ALICE, done.task_id)["result"]["tokens"]


def test_the_models_facts_stand_beside_the_rules_lines(world: World) -> None:
    reader = read_by(world)
    done = committed(world)
    world.settle()

    assert sorted_lines(world) == BOTH
    assert reader.asked == [(1, 4)]
    (candidates,) = world.bodies("candidates.json").values()
    assert json.loads(candidates)["extractor"] == "echo/1+test:m/1"
    assert tokens(world, done) == {"model": "test:m", "input": 40, "output": 5, "calls": 1}


def test_without_a_model_no_tokens_are_told(world: World) -> None:
    done = committed(world)
    world.settle()
    assert tokens(world, done) is None


def test_an_archive_of_one_part_costs_no_further_request(world: World) -> None:
    read_by(world)
    committed(world)
    world.settle()
    assert world.stored("/part.") == []


def test_who_said_nothing_is_not_read(world: World) -> None:
    reader = read_by(world)
    committed(world, "  ")
    world.settle()
    assert reader.asked == []
    (candidates,) = world.bodies("candidates.json").values()
    assert json.loads(candidates)["extractor"] == "echo/1"


# ---- it fails  # B-B15 B-C3


def test_a_failing_model_fails_the_task_and_its_retry_completes_it(world: World) -> None:
    reader = read_by(world, failing=5)
    done = committed(world)
    for _ in range(4):
        with pytest.raises(ExtractionFailed):
            world.extract_next()
    world.extract_next()

    failed = task.get(world.services(), ALICE, done.task_id)
    assert (failed["status"], failed["error"], len(reader.asked)) == ("failed", REASON, 5)
    assert lines(world) == {}
    assert [m["content"] for m in run_context(world.services(), ALICE, "s").messages] == list(TEXTS)

    task.retry(world.services(), ALICE, done.task_id)
    world.settle()
    assert task.get(world.services(), ALICE, done.task_id)["status"] == "completed"
    assert sorted_lines(world) == BOTH
    assert run_context(world.services(), ALICE, "s").messages == []


def test_one_message_about_which_no_answer_fits_fails_at_once(world: World) -> None:
    reader = read_by(world, room=0)
    done = committed(world, TEXTS[0])
    world.extract_next()
    assert task.get(world.services(), ALICE, done.task_id)["error"] == "it does not fit"
    assert reader.asked == [(1, 1)]


# ---- it is long


def test_parts_are_read_one_after_the_other_and_put_together() -> None:
    world = small_parts()
    reader = read_by(world)
    done = committed(world)
    world.settle()

    assert reader.asked == [(1, 2), (3, 4)]
    assert sorted_lines(world) == BOTH
    assert tokens(world, done) == {"model": "test:m", "input": 40, "output": 10, "calls": 2}


def test_a_part_whose_answer_does_not_fit_is_read_in_halves(world: World) -> None:
    reader = read_by(world, room=1)
    done = committed(world)
    world.settle()

    assert reader.asked == [(1, 4), (1, 2), (1, 1), (2, 2), (3, 4), (3, 3), (4, 4)]
    assert sorted_lines(world) == BOTH
    assert tokens(world, done) == {"model": "test:m", "input": 40 + 40 + 40, "output": 35, "calls": 7}


def test_what_takes_too_long_for_one_delivery_goes_on_in_another() -> None:
    world = small_parts(max_receives=1)
    reader = read_by(world, seconds=60)
    done = committed(world)

    world.extract_next()
    assert (reader.asked, len(world.extract_queue)) == ([(1, 2)], 1)
    world.extract_next()
    world.settle()

    assert reader.asked == [(1, 2), (3, 4)]
    assert sorted_lines(world) == BOTH
    assert tokens(world, done)["calls"] == 2


def test_a_failed_part_does_not_cost_the_others_again() -> None:
    world = small_parts()
    reader = read_by(world)
    done = committed(world)
    reader.room = 0  # nothing fits: fails for good at (3, 3), after (1, 2) has been answered
    answered = Reader(world)

    class OnlyTheFirst:
        def extract(self, transcript: Transcript) -> Extraction:
            model = answered if transcript.turns[0].seq == 1 else reader
            return model.extract(transcript)

    world.language_model = OnlyTheFirst()
    world.extract_next()
    assert task.get(world.services(), ALICE, done.task_id)["status"] == "failed"

    task.retry(world.services(), ALICE, done.task_id)
    reader.room = 100
    world.settle()
    assert answered.asked == [(1, 2)]
    assert sorted_lines(world) == BOTH


def test_the_sweep_leaves_an_archive_alone_while_it_is_being_read() -> None:
    world = small_parts()
    reader = read_by(world, seconds=700)
    committed(world)
    world.extract_next()  # 700 s
    world.clock.advance(150)
    world.extract_next()  # begins at 850 s: the task has moved on
    world.extract_next()  # there was no time left for the working memory
    run_sweep(world.services())
    assert len(world.extract_queue) == 0
    world.settle()
    assert reader.asked == [(1, 2), (3, 4)]


# ---- a worker dies  # B-B17


def way(world: World) -> None:
    for step in (lambda w: w.extract_next(), lambda w: w.merge_next()):
        run(world, step)


def died(at: int | None, kind: str = "killed before") -> tuple[World, Reader]:
    world = small_parts()
    reader = read_by(world)
    committed(world)
    if at is not None:
        FAULTS[kind](world, at)
    way(world)
    world.heal()
    return world, reader


CALLS = 25


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("at", range(CALLS))
def test_one_fault_anywhere_costs_at_most_one_part_again(at: int, kind: str) -> None:
    calm, _ = died(None)
    world, reader = died(at, kind)
    for part in ("/memories/", "candidates.json", "overview.md"):
        assert world.bodies(part) == calm.bodies(part)
    assert {row["status"] for row in world.rows("TASKS#")} == {"completed"}
    assert (world.rows("DUE#"), world.head("s").pending) == ([], ())
    assert len(reader.asked) <= 3


def test_the_faults_reach_past_the_reading() -> None:
    world = small_parts()
    read_by(world)
    committed(world)
    before = len(world.calls.names)
    world.extract_next()
    assert len(world.calls.names) - before < CALLS


def test_killed_between_two_parts_only_the_second_is_asked_about() -> None:
    world = small_parts()
    reader = read_by(world)
    committed(world)
    calls = [name for name in names_of_an_extraction() if name == "objects.put"]
    assert len(calls) >= 2
    first_put = names_of_an_extraction().index("objects.put")
    world.kill(first_put, before=False)
    with pytest.raises(Killed):
        world.extract_next()
    world.settle()
    assert reader.asked == [(1, 2), (3, 4)]


def names_of_an_extraction() -> list[str]:
    world = small_parts()
    read_by(world)
    committed(world)
    before = len(world.calls.names)
    world.extract_next()
    return world.calls.names[before:]


def test_two_workers_at_once_store_one_extraction() -> None:  # B-B16
    world = small_parts()
    read_by(world)
    committed(world)
    (delivery,) = world.extract_queue.receive(1)
    request = delivery.message
    assert isinstance(request, ExtractRequested)
    world.extract_queue.back(delivery)
    world.extract_queue.send(request)
    world.settle()
    assert world.writes(world.stored("candidates.json")[0]) == 1
    assert sorted_lines(world) == BOTH
