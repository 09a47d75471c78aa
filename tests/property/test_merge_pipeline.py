"""Archives with any operations, merged in any order, in any batches, more than once: the same files, byte by byte."""

from collections.abc import Iterator, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from strandline.domain.contracts import MergeRequested
from strandline.pipeline.merge import run_merge
from strandline.storage.markdown import parse
from tests.pipeline.models import Scripted
from tests.pipeline.world import World

TEXTS = ["green tea", "black tea", "no tea"]
OPERATIONS = st.one_of(
    st.tuples(st.just("add"), st.sampled_from(["tea", "drinks"]), st.sampled_from(TEXTS), st.just("")),
    st.tuples(st.just("home"), st.just(""), st.sampled_from(["Oslo", "Rome"]), st.just("")),
    st.tuples(st.just("patch"), st.just("tea"), st.sampled_from(TEXTS), st.sampled_from(TEXTS)),
    st.tuples(st.just("drop"), st.just("tea"), st.sampled_from(TEXTS), st.just("")),
    st.tuples(st.just("call"), st.sampled_from(["grep", "bash"]), st.sampled_from(["1", "2"]), st.just("")),
)
SESSIONS = st.lists(st.lists(OPERATIONS, min_size=1, max_size=4), min_size=2, max_size=4)


def extracted(world: World, sessions: Sequence[Sequence[tuple[str, ...]]]) -> list[MergeRequested]:
    """The archives of these sessions, extracted; their merges still to come."""
    for n, operations in enumerate(sessions):
        world.create(f"s{n}", memory_policy={"memory_types": ["profile", "preferences", "tools"]})
        world.append(f"s{n}", *("|".join(operation) for operation in operations))
        world.commit(f"s{n}")
        world.extract_next()
        world.clock.advance(60)
    return [m for m in world.merge_queue.sent if isinstance(m, MergeRequested)]


def batches(
    requests: Sequence[MergeRequested], order: Sequence[int], cuts: Sequence[int]
) -> Iterator[list[MergeRequested]]:
    """The requests in that order, more than once each, in batches of these sizes."""
    chosen = [requests[n % len(requests)] for n in (*order, *range(len(requests)))]
    while chosen:
        size = cuts[len(chosen) % len(cuts)]
        yield chosen[:size]
        chosen = chosen[size:]


@settings(max_examples=25, deadline=None)
@given(SESSIONS, st.lists(st.integers(0, 9), max_size=8), st.lists(st.integers(1, 4), min_size=1, max_size=3))
def test_any_order_any_batches_any_redelivery(
    sessions: Sequence[Sequence[tuple[str, ...]]], order: Sequence[int], cuts: Sequence[int]
) -> None:
    """B-C5 B-C6 B-C9"""
    straight, other = World(model=Scripted()), World(model=Scripted())
    for request in extracted(straight, sessions):
        assert run_merge(straight.services(), [request]) == [None]
    for batch in batches(extracted(other, sessions), order, cuts):
        assert set(run_merge(other.services(), batch)) == {None}
    files = other.bodies("/memories/")
    assert files == straight.bodies("/memories/")
    called = sum(int(op[2]) for session in sessions for op in session if op[0] == "call")
    counted = [value for body in files.values() for value in parse(body.decode()).values]
    assert sum(int(value.value) for value in counted if value.field == "calls") == called
