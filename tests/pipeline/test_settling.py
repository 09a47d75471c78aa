"""Where several sessions meet on one memory file a language model is asked, once; otherwise nobody is."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from strandline.domain.contracts import MergeRequested
from strandline.domain.errors import ExtractionFailed, Unavailable
from strandline.domain.extraction import Usage
from strandline.domain.language_model.meeting import read_ends
from strandline.domain.patch import spelled
from strandline.domain.settlement import Meeting, Settlement
from strandline.pipeline import memory
from strandline.pipeline.merge import run_merge
from strandline.ports import Ambiguous
from tests.pipeline.test_merge import TEA, diff_of, waiting
from tests.pipeline.trips import Killed
from tests.pipeline.world import ALICE, World


@dataclass
class Settling:
    """Says that each line is ended by the last one it is shown; or fails with a reason."""

    name: str = "settling/1"
    reason: str | None = None
    asked: list[Meeting] = field(default_factory=list)

    def settle(self, meeting: Meeting) -> Settlement:
        self.asked.append(meeting)
        usage = Usage(models=("settling",), calls=1, input_tokens=10, output_tokens=2)
        if self.reason:
            raise ExtractionFailed(self.reason, usage=usage)
        *old, last = meeting.lines
        ends = tuple((spelled(line), spelled(last)) for line in old)
        return Settlement(model=self.name, ends=ends, usage=usage)


@pytest.fixture
def model(world: World) -> Settling:
    world.settler = found = Settling()
    return found


def shown(world: World, path: str = TEA) -> list[tuple[str, bool]]:
    """Each line, and whether it has ended."""
    return [
        (line.text, line.closing is not None) for line in memory.read(world.services(), ALICE, path).lines
    ]


def one_session(world: World, archives: int) -> Sequence[MergeRequested]:
    for n in range(archives):
        world.append("s", f"tea: cup {n}", ids=f"m{n}-")
        world.commit("s")
        world.extract_next()
    return [m for m in world.merge_queue.sent if isinstance(m, MergeRequested)]


def test_the_same_session_alone_asks_nobody(world: World, model: Settling) -> None:  # B-C8
    assert run_merge(world.services(), one_session(world, 3)) == [None] * 3
    assert model.asked == []


def test_sessions_on_different_files_ask_nobody(world: World, model: Settling) -> None:  # B-C8
    run_merge(world.services(), waiting(world, {"a": ["tea: green"], "b": ["music: the oboe"]}))
    assert model.asked == []


def test_two_sessions_on_one_file_ask_once(world: World, model: Settling) -> None:  # B-C8
    world.remember("before", "tea: from a glass")
    requests = waiting(world, {"a": ["tea: green", "sport: I row"], "b": ["tea: black"]})
    assert run_merge(world.services(), requests) == [None, None]
    (meeting,) = model.asked
    assert meeting.title == "Preferences: tea"
    assert sorted(line.text for line in meeting.lines) == ["black", "from a glass", "green"]
    ended = [text for text, over in shown(world) if over]
    assert len(ended) == 2
    assert shown(world, "preferences/sport.md") == [("I row", False)]


def test_each_diff_tells_its_own_side_of_it(world: World, model: Settling) -> None:  # B-C8
    run_merge(world.services(), waiting(world, {"a": ["tea: green", "sport: I row"], "b": ["tea: black"]}))
    for session in ("a", "b"):
        diff = diff_of(world, session)
        assert diff["settled"] == [
            {
                "uri": "viking://user/alice/memories/preferences/tea.md",
                "model": "settling/1",
                "ended": 1,
                "tokens": {"models": ["settling"], "calls": 1, "input_tokens": 10, "output_tokens": 2},
                "reason": None,
            }
        ]
        added = {
            op["uri"].rsplit("/", 1)[1] for kind in ("adds", "updates") for op in diff["operations"][kind]
        }
        assert added == ({"tea.md", "sport.md"} if session == "a" else {"tea.md"})


@pytest.mark.parametrize(
    "reason",
    ["the model's answer is text, not the JSON that was asked for", "the model did not answer: busy"],
)
def test_a_failed_answer_leaves_it_to_the_rules_and_says_why(
    world: World, model: Settling, reason: str
) -> None:  # B-C3 B-C4
    model.reason = reason
    requests = waiting(world, {"a": ["tea: green"], "b": ["tea: black"]})
    assert run_merge(world.services(), requests) == [None, None]
    assert [over for _, over in shown(world)] == [False, False]
    assert diff_of(world, "a")["settled"][0]["reason"] == reason
    assert diff_of(world, "a")["summary"]["total_adds"] + diff_of(world, "b")["summary"]["total_adds"] == 1


def merged(kill_at: int | None, *, before: bool) -> tuple[World, Settling, bool]:
    """Two sessions merged, killed at that call and done again; and whether it came to that."""
    world = World()
    world.settler = model = Settling()
    requests = waiting(world, {"a": ["tea: green"], "b": ["tea: black"]})
    killed = False
    if kill_at is not None:
        world.kill(kill_at, before=before)
        try:
            run_merge(world.services(), requests)
        except Killed:
            killed = True
        world.calls.trip = None
    run_merge(world.services(), requests)
    return world, model, killed


@pytest.mark.parametrize("before", [True, False])
def test_a_redelivery_pays_nothing_again_and_gives_the_same_bytes(before: bool) -> None:  # B-B17 B-C9
    undisturbed, _, _ = merged(None, before=before)
    expected = undisturbed.bodies("/memories/")
    calls = []
    for at in range(60):
        world, model, killed = merged(at, before=before)
        if not killed:
            break
        assert world.bodies("/memories/") == expected, f"call {at}"
        calls.append(len(model.asked))
    assert len(calls) > 10
    # only a kill between the answer and its PUT costs a second question
    assert sorted(calls, reverse=True)[:3] == ([2, 1, 1] if before else [1, 1, 1])


def test_an_answer_that_cannot_be_kept_is_asked_for_again(world: World, model: Settling) -> None:
    requests = waiting(world, {"a": ["tea: green"], "b": ["tea: black"]})
    real = world.objects.put

    def put(key: str, *args: Any, **kwargs: Any) -> str:
        if "/settled." in key:
            raise Ambiguous("503")
        return real(key, *args, **kwargs)

    world.objects.put = put  # type: ignore[method-assign]
    assert all(isinstance(error, Unavailable) for error in run_merge(world.services(), requests))
    world.objects.put = real  # type: ignore[method-assign]
    assert run_merge(world.services(), requests) == [None, None]
    assert len(shown(world)) == 2


def test_there_is_no_question_without_time_for_its_answer(world: World, model: Settling) -> None:
    requests = waiting(world, {"a": ["tea: green", "x: y"], "b": ["tea: black", "x: z"]})
    real = model.settle

    def slow(meeting: Meeting) -> Settlement:
        world.clock.advance(40)
        return real(meeting)

    model.settle = slow  # type: ignore[method-assign]
    assert run_merge(world.services(), requests) == [None, None]
    assert len(model.asked) == 1
    reasons = [each["reason"] for each in diff_of(world, "a")["settled"]]
    assert sorted(reasons, key=str) == [None, "there was no time left to ask"]


def test_what_was_taken_out_by_its_owner_meanwhile_is_not_ended(world: World, model: Settling) -> None:
    run_merge(world.services(), waiting(world, {"a": ["tea: green"], "b": ["tea: black"]}))
    (last,) = [text for text, over in shown(world) if not over]
    body = memory.read(world.services(), ALICE, TEA).body
    kept = "\n".join(line for line in body.split("\n") if f"- {last} " not in line)
    memory.write(world.services(), ALICE, TEA, kept, memory.anything)
    world.remember("c", "tea: white")
    assert [over for _, over in shown(world)] == [False, False]  # what had ended the first is gone


ABOUT = Meeting("t", ())


@pytest.mark.parametrize(
    "answer", [None, "", "no", '{"ended": [', "[]", "{}", '{"ended": {}}', {"ended": 1}, "7", {"x": []}]
)
def test_what_is_no_answer(answer: Any) -> None:  # B-C3
    with pytest.raises(ExtractionFailed):
        read_ends(answer, ABOUT)


def test_pairs_that_cannot_be_used_are_left_out(world: World, model: Settling) -> None:
    run_merge(world.services(), waiting(world, {"a": ["tea: green"], "b": ["tea: black"]}))
    (about,) = model.asked
    first, second = map(spelled, about.lines)
    rows: list[Any] = [None, 1, {}, {"old": 2, "new": 1}, {"old": 1, "new": 1}, {"old": 0, "new": 1}]
    rows += [{"old": 1, "new": 3}, {"old": True, "new": 2}, {"old": "1", "new": 2}]
    assert read_ends({"ended": rows}, about) == ()
    assert read_ends({"ended": [{"old": 1, "new": 2}, {"old": 1, "new": 2}]}, about) == ((first, second),)
    assert read_ends({"ended": [{"old": 1, "new": 2}] * 100_000}, about) == ((first, second),)  # B-C17
