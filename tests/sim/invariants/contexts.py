"""Contexts: an answer is all there is of one, so what is promised is held against the answers."""

from collections.abc import Iterator, Sequence

from strandline.pipeline.prompt import Prompt
from tests.sim.history import Given, History
from tests.sim.invariants.raw import Raw


def contexts_are_whole(_: Raw, history: History) -> Iterator[str]:
    """What is covered by the summary, shown and dropped are all messages, each once, those that had been acknowledged
    before among them; and never more tokens than the room."""
    for given in history.of(Given):
        yield from _of_one(given)


def contexts_do_not_go_back(_: Raw, history: History) -> Iterator[str]:
    """Of two contexts the later one begins no earlier, and has decided the same of each tool result."""
    given = list(history.of(Given))
    for index, earlier in enumerate(given):
        for later in given[index + 1 :]:
            if later.incarnation == earlier.incarnation and later.started_step > earlier.ended_step:
                yield from _of_two(earlier, later)


def _of_one(given: Given) -> Iterator[str]:
    made = given.made
    if made.assembled.tokens > given.window:
        yield f"over the room: {made.assembled.tokens}"
    everything = sorted([*range(1, made.covered_through + 1), *_shown(made), *_left(made)])
    if everything != list(range(1, len(everything) + 1)):
        yield f"covered, shown and dropped are not all messages, each once: {everything}"
    if len(everything) < given.last:
        yield f"{given.last} were acknowledged, the context knows of {len(everything)}"


def _shown(made: Prompt) -> Sequence[int]:
    return [m["seq"] for m in made.assembled.messages if m["seq"] > made.covered_through]


def _left(made: Prompt) -> Sequence[int]:
    return [seq for row in made.left for seq in range(row.seq_from, row.seq_to + 1)]


def _of_two(earlier: Given, later: Given) -> Iterator[str]:
    one, two = earlier.made.state, later.made.state
    if (two.generation, two.covered_through) < (one.generation, one.covered_through):
        yield f"the boundary went back from {one.covered_through} to {two.covered_through}"
    for place, decision in one.decisions.items():
        if place[0] > two.covered_through and two.decisions.get(place) != decision:
            yield f"the decision about {place} was undone"


INVARIANTS = (contexts_are_whole, contexts_do_not_go_back)
