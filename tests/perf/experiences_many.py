"""A case that is run thousands of times: bytes of its files, and requests of one lesson, as the runs go on.

python -m tests.perf.experiences_many 5000
"""

import sys
from collections import Counter

from strandline.pipeline.append import AppendRequest, run_append
from tests.pipeline.runs import GOOD, run
from tests.pipeline.world import ALICE, World

CASE = {"name": "cancel", "task_signature": "Cancel a reservation"}
FILES = ("cases/cancel.md", "experiences/cancel-a-reservation.md")


def taught(world: World, number: int) -> Counter[str]:
    """One run more, asked in words of its own; answers what its lesson asks of the outside."""
    at = f"2026-{1 + number // 1000:02d}-{1 + number // 50 % 20:02d}T{number % 50 % 24:02d}:{number % 60:02d}:00Z"
    name, asked = f"s{number}", f"Cancel reservation {number}."
    messages = run(GOOD, asked=asked, case=CASE, judged={"passed": True}, at=at)
    run_append(world.services(), AppendRequest(ALICE, name, messages))
    world.commit(name)
    world.extract_next()
    world.merge_next()
    before = len(world.calls.names)
    world.learn_next()
    return Counter(name.split(" ")[0] for name in world.calls.names[before:])


def measure(runs: int) -> None:
    world = World()
    marks = {1, 10, 100, 200, 500, 1_000, 2_000, 5_000, runs}
    for number in range(1, runs + 1):
        asked = taught(world, number)
        if number in marks:
            sizes = [len(world.body(ALICE.memory(path))) for path in FILES]
            print(
                f"{number:6} runs: case {sizes[0]:9,} bytes, experience {sizes[1]:9,} bytes, "
                f"{sum(asked.values())} requests: {dict(asked)}",
                flush=True,
            )


if __name__ == "__main__":
    measure(int(sys.argv[1]))
