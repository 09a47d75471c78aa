"""A case that is run thousands of times: bytes of its files as the runs go on, and the requests of one lesson more.

    python -m tests.perf.experiences_many 5000

The files absorb what extraction and lesson of each run add, as the stages let them; the last run goes the whole way.
"""

import sys
from collections import Counter
from collections.abc import Iterator

from strandline.domain.candidates import Candidates
from strandline.domain.learning.case import Case
from strandline.domain.learning.lesson import Place, gathered, lesson
from strandline.domain.learning.task import tasks_of
from strandline.domain.line import Line, Source, quote_hash
from strandline.domain.memory import Memory
from strandline.domain.merging import Addition, absorb
from strandline.pipeline.append import AppendRequest, run_append
from strandline.storage.markdown import render
from tests.pipeline.runs import GOOD, run
from tests.pipeline.world import ALICE, World

SIGNATURE = "Cancel a reservation"
CASE = Case("cases/cancel.md", "cancel", SIGNATURE, "Cancel reservation 1.")
FILES = (CASE.path, CASE.experience)
GIVEN = {"name": CASE.name, "task_signature": SIGNATURE}


def moment(number: int) -> str:
    """When a run was made: a minute after the one before."""
    hours, minute = divmod(number, 60)
    days, hour = divmod(hours, 24)
    return f"2026-05-{days + 1:02d}T{hour:02d}:{minute:02d}:00.000Z"


def messages(number: int) -> list[dict[str, object]]:
    asked = f"Cancel reservation {number}."
    said = run(GOOD, asked=asked, case=GIVEN, judged={"passed": True}, at=moment(number))
    rows = [message.model_dump(mode="json", exclude_none=True) for message in said]
    return [{**row, "created_at": moment(number), "seq": n} for n, row in enumerate(rows, start=1)]


def added(number: int) -> Iterator[Addition]:
    """What a run adds to the case and to its experience."""
    ((task,), _) = tasks_of(messages(number))
    place = Place(f"s{number}", 1, quote_hash(f"lesson {number}"))
    source = Source(moment(number), place.session_id, 1, 1, 1, quote_hash(task.asked))
    asked = (Line(source, task.asked, "evidence"),)
    yield Addition(quote_hash(f"extraction {number}"), CASE.path, "cases", CASE.name, None, asked)
    learnt = Candidates(
        extraction=place.lesson,
        extractor="rules/1",
        session_id=place.session_id,
        archive=1,
        abstract="",
        files=gathered([lesson(place, task, CASE, {})]),
        rejected=(),
    )
    yield from (each for each in learnt.additions() if each.path in FILES)


def last_lesson(files: dict[str, Memory], number: int) -> Counter[str]:
    """What the lesson of one run more asks of the outside."""
    world = World()
    for path, memory in files.items():
        world.objects.put(ALICE.memory(path), render(memory).encode())
    said = run(GOOD, asked="Cancel it.", case=GIVEN, judged={"passed": True}, at=moment(number))
    run_append(world.services(), AppendRequest(ALICE, "last", said))
    world.commit("last")
    world.extract_next()
    world.merge_next()
    before = len(world.calls.names)
    world.learn_next()
    return Counter(name.split(" ")[0] for name in world.calls.names[before:])


def measure(runs: int) -> None:
    files: dict[str, Memory] = {}
    for number in range(1, runs + 1):
        for addition in added(number):
            memory = absorb(files.get(addition.path), addition)
            assert memory is not None
            files[addition.path] = memory
        if number in (1, 10, 100, 200, 1_000, runs):
            sizes = [len(render(files[path]).encode()) for path in FILES]
            print(f"{number:6} runs: case {sizes[0]:8,} bytes, experience {sizes[1]:8,} bytes", flush=True)
    asked = last_lesson(files, runs + 1)
    print(f"a lesson more: {sum(asked.values())} requests, {dict(asked)}")


if __name__ == "__main__":
    measure(int(sys.argv[1]))
