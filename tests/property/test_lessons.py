"""What runs of one case leave in its files: the same in any order, once, and of the newest only, for any lessons."""

from collections.abc import Iterable, Sequence
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from strandline.domain.candidates import Candidates
from strandline.domain.learning.case import Case
from strandline.domain.learning.lesson import Place, gathered, lesson
from strandline.domain.learning.newest import LINKS
from strandline.domain.learning.task import tasks_of
from strandline.domain.memory import Memory
from strandline.domain.merging import Addition, absorb, without
from strandline.storage.markdown import parse, render

CASE = Case("cases/cancel.md", "cancel", "Cancel a reservation", "Cancel it.")
SOME = settings(max_examples=40, deadline=None)
FILES = (CASE.path, "experiences/cancel-a-reservation.md")


def taught(number: int, day: int, outcome: str, *, reads: bool) -> tuple[Addition, ...]:
    """What a run on that day adds to files. `reads`: it had read the experience."""
    at = f"2026-05-{day:02d}T07:00:00.000Z"
    said = [
        {"role": "user", "content": "Cancel it.", "metadata": {"case": {"name": "cancel"}}},
        {"role": "system", "content": "", "metadata": {"evaluation": {"outcome": outcome}}},
    ]
    messages = [{**message, "seq": n, "created_at": at} for n, message in enumerate(said, start=1)]
    (task,), _ = tasks_of(messages)
    place = Place(f"s{number}", 1, f"{number:012d}")
    learnt = [lesson(place, task, CASE, {FILES[1]: CASE.signature} if reads else {})]
    return tuple(
        Candidates(
            extraction=place.lesson,
            extractor="rules/1",
            session_id=place.session_id,
            archive=1,
            abstract="",
            files=gathered(learnt),
            rejected=(),
        ).additions()
    )


OUTCOME = st.sampled_from(["success", "failure", "partial", "unfinished", "unknown"])
RUNS = st.lists(st.tuples(st.integers(1, 28), OUTCOME, st.booleans()), min_size=1, max_size=6).map(
    lambda rows: [taught(n, day, outcome, reads=reads) for n, (day, outcome, reads) in enumerate(rows)]
)


def files(lessons: Iterable[Sequence[Addition]]) -> dict[str, Memory]:
    """Case and experience as they are stored after these lessons."""
    found: dict[str, Memory] = {}
    for addition in (each for some in lessons for each in some if each.path in FILES):
        memory = absorb(found.get(addition.path), addition)
        assert memory is not None
        found[addition.path] = memory
    return {path: parse(render(memory)) for path, memory in found.items()}


@SOME
@given(RUNS, st.randoms(use_true_random=False), st.integers(1, 8))
def test_any_order_and_any_repeats_leave_the_same_files(
    lessons: list[tuple[Addition, ...]], random: object, kept: int
) -> None:  # B-C9
    again = [*lessons, *lessons]
    random.shuffle(again)  # type: ignore[attr-defined]
    with patch("strandline.domain.learning.newest.LINKS", kept):
        assert files(again) == files(lessons) == files(reversed(lessons))


@SOME
@given(RUNS, st.integers(1, 3))
def test_the_newest_links_stay_and_counters_tell_of_all(
    lessons: list[tuple[Addition, ...]], kept: int
) -> None:
    with patch("strandline.domain.learning.newest.LINKS", kept):
        case = files(lessons)[CASE.path]
    runs = sorted(link.at or "" for some in lessons for each in some for link in each.links if link.at)
    there = [link.at for link in case.links if link.at]
    assert len(there) == min(kept, len(lessons))
    assert max(there, default="") == max(runs)  # type: ignore[type-var]
    counted = {value.field: value.value for value in case.values}
    assert sum(int(value) for value in counted.values()) == len(lessons)


@SOME
@given(RUNS)
def test_a_lesson_that_is_taken_back_leaves_what_the_others_taught(
    lessons: list[tuple[Addition, ...]],
) -> None:
    assert len(lessons) < LINKS
    (*before, last) = lessons
    there = files(lessons)
    rest = {each.path: without(there[each.path], each) for each in last if each.path in there}
    was = files(before)
    for path, memory in rest.items():
        left = memory.body if memory else None
        assert left == (was[path].body if path in was else None)
