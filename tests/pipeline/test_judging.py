"""How a run came out that nobody has judged, as a model says it: believed by words that were said."""

from typing import Any

import pytest

from strandline.domain.errors import ExtractionFailed
from strandline.domain.extraction import Usage
from strandline.domain.learning.insight import Attempt, Insight
from strandline.domain.learning.verdict import Verdict
from strandline.domain.memory import Memory
from strandline.domain.message import MessageIn
from strandline.pipeline import memory
from strandline.pipeline.append import AppendRequest, run_append
from tests.pipeline.runs import ASKED, BAD, GOOD, learn
from tests.pipeline.runs import run as told
from tests.pipeline.test_found_cases import case, finding, paths, read, values
from tests.pipeline.world import ALICE, World

EXPERIENCE = "experiences/cancel-a-reservation.md"
THANKS = "Thank you, it is gone now."


class Judge:
    """Says how each run came out, as it was told to; the first `refusals` times nothing of use."""

    name = "judge/1"

    def __init__(self, outcome: Any, quote: str, refusals: int = 0) -> None:
        self.verdict = Verdict(outcome=outcome, quote=quote)
        self.asked: list[Attempt] = []
        self._refusals = refusals

    def analyse(self, attempt: Attempt) -> Insight:
        self.asked.append(attempt)
        if len(self.asked) <= self._refusals:
            raise ExtractionFailed("the answer is prose")
        usage = Usage(models=("judge",), calls=1, input_tokens=100, output_tokens=10)
        return Insight(model=self.name, approach=("Ask for the id.",), verdict=self.verdict, usage=usage)


def judging(outcome: Any, quote: str, refusals: int = 0) -> tuple[World, Judge]:
    world = finding(case())
    world.analyst = judge = Judge(outcome, quote, refusals)
    return world, judge


def ending(*texts: str) -> list[MessageIn]:
    """A run, and what the user says of it."""
    said = [MessageIn(role="user", content=text, id=f"e{n}") for n, text in enumerate(texts)]
    return [*told(GOOD), *said]


def trajectory(world: World) -> Memory:
    (path,) = paths(world, "trajectories/")
    return read(world, path)


def evidence(found: Memory) -> list[tuple[str, int]]:
    return [(line.text, line.source.seq_from) for line in found.lines if line.field == "evidence"]


def test_the_users_words_show_a_success() -> None:
    world, judge = judging("success", "it is gone now")
    learn(world, "s", ending(THANKS))
    found = trajectory(world)
    assert values(found) == {
        "outcome": "success",
        "judged_by": "judge/1",
        "confidence": "0.70",  # 0.5 + 0.2: nobody has verified it
        "task": ASKED,
    }
    assert evidence(found) == [("Judged by a model: success, since the user said: it is gone now", 7)]
    assert "\nJudged by: judge/1 <!--" in found.body
    experience = read(world, EXPERIENCE)
    assert "Confidence: 0.70 (runs remembered: 1 success; 1 judged by a model)" in experience.body
    assert "- Ask for the id." in experience.body
    (kept,) = [value for field, value in values(experience).items() if field.startswith("run_")]
    assert '"by": "judge/1"' in kept and '"judged_by": "judge/1"' in kept
    (asked,) = judge.asked
    assert asked.to_judge
    assert "result: cancelled" in asked.told


@pytest.mark.parametrize(
    ("outcome", "confidence"), [("failure", "0.30"), ("partial", "0.30"), ("success", "0.70")]
)
def test_a_tools_words_do_too(outcome: str, confidence: str) -> None:
    world, _ = judging(outcome, "cancelled")
    learn(world, "s", told(GOOD))
    found = values(trajectory(world))
    assert (found["outcome"], found["confidence"]) == (outcome, confidence)
    said = f"Judged by a model: {outcome}, since the tool said: cancelled"
    assert evidence(trajectory(world)) == [(said, 5)]


@pytest.mark.parametrize("quote", ["It is done.", "Perfect, thank you!", "", ASKED])
def test_without_them_it_came_out_as_the_rules_say(quote: str) -> None:  # B-C17
    world, _ = judging("success", quote)
    learn(world, "s", ending("And now book me a seat."))
    found = values(trajectory(world))
    assert (found["outcome"], found["confidence"]) == ("unfinished", "0.40")
    assert "judged_by" not in found
    assert evidence(trajectory(world)) == []
    assert "No run has succeeded yet." in read(world, EXPERIENCE).body


@pytest.mark.parametrize(
    ("quote", "said", "believed"),
    [
        ("successful", "The payment was unsuccessful.", False),
        ("It was success", "It was successless.", False),
        ("successful", "It was unsuccessful at first, successful then.", True),
        (", it is gone", "Thanks, it is gone.", True),
        ("已经取消了预订", "谢谢你，已经取消了预订。", True),
    ],
)
def test_half_a_word_bears_nothing_out(quote: str, said: str, *, believed: bool) -> None:  # B-C17
    world, _ = judging("success", quote)
    learn(world, "s", ending(said))
    assert (values(trajectory(world))["outcome"] == "success") is believed


def test_a_model_may_say_that_it_is_unknown() -> None:
    world, _ = judging("unknown", "")
    learn(world, "s", ending("And now book me a seat."))
    assert values(trajectory(world))["outcome"] == "unknown"
    assert evidence(trajectory(world)) == [("Judged by a model: unknown", 7)]


def test_what_a_client_has_judged_is_not_judged_again() -> None:
    world, judge = judging("success", "cancelled")
    learn(world, "s", told(GOOD, case={"name": "cancel"}, judged={"passed": False}))
    found = values(trajectory(world))
    assert (found["outcome"], found["confidence"]) == ("failure", "0.30")
    assert [asked.to_judge for asked in judge.asked] == [False]
    assert "judged_by" not in found


def test_a_case_of_a_client_that_judged_nothing_is_judged() -> None:
    world, _ = judging("success", "cancelled")
    learn(world, "s", told(GOOD, case={"name": "cancel", "task_signature": "Cancel a reservation"}))
    assert values(trajectory(world))["judged_by"] == "judge/1"


def test_only_what_belongs_to_the_task_bears_it_out() -> None:
    """The second task's tool result says nothing of the first, nor the first one's of the second."""
    world = finding(case(), case(request="Now cancel EHGLP, please.", seq=7))
    world.analyst = Judge("success", "reservation not found")
    learn(world, "s", [*told(GOOD), *told(BAD, asked="Now cancel EHGLP, please.", ids="n")])
    runs = [values(read(world, path)) for path in paths(world, "trajectories/")]
    assert {run["task"]: run["outcome"] for run in runs} == {
        ASKED: "unknown",
        "Now cancel EHGLP, please.": "success",
    }


def test_a_judgement_is_made_once() -> None:
    world, judge = judging("success", "it is gone now", refusals=1)
    run_append(world.services(), AppendRequest(ALICE, "s", ending(THANKS)))
    world.commit("s")
    with pytest.raises(ExtractionFailed):
        world.settle()
    assert memory.list_memories(world.services(), ALICE, "experiences/") == {}
    world.settle()
    world.analyst = Judge("failure", "it is gone now")
    world.heal()
    assert len(judge.asked) == 2
    assert values(trajectory(world))["outcome"] == "success"
