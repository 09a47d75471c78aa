"""What the simulated outside does to those who call it: each fault is what it says, no more and no less."""

from collections.abc import Callable, Mapping

import pytest

from infra.local.settings import ROOT
from infra.local.template import Template
from strandline.domain.contracts import CommitRequested, SessionRef
from strandline.ports import Ambiguous, ConditionFailed, Contended, IfAbsent
from tests.sim.faults import Exactly
from tests.sim.history import Killed
from tests.sim.network import LATE_SECONDS
from tests.sim.queues import MAX_RECEIVES, Letter, TimedQueue
from tests.sim.scheduler import InTurn
from tests.sim.world import GROUPS, TIMEOUTS, VISIBILITY, NoAnswer, World

KEY = "v1/acme/alice/x"


def run(faults: Mapping[int, str], *actors: Callable[[World], object]) -> tuple[World, list[object]]:
    """The world after the actors have ended, and what each of them came to: its result, or its error."""
    world = World(0, InTurn(), Exactly(faults))
    ends: list[object] = []
    for actor in actors:
        world.scheduler.spawn(actor.__name__, lambda actor=actor: ends.append(_end(actor, world)))
    world.scheduler.run()
    return world, ends


def _end(actor: Callable[[World], object], world: World) -> object:
    try:
        return actor(world)
    except Exception as error:  # noqa: BLE001 - it is what is asked for
        return type(error)


def put(world: World) -> object:
    """A function that stores something where nothing is."""
    return world.invoke("append", lambda library: library.objects.put(KEY, b"1", when=IfAbsent()))


def written(world: World) -> int:
    return len(world.objects.everything().get(KEY, ()))


@pytest.mark.parametrize(
    ("fault", "end", "writes"),
    [
        ("fails", Ambiguous, 0),
        ("lost", Ambiguous, 1),
        ("late", Ambiguous, 1),
        ("killed before", NoAnswer, 0),
        ("killed after", NoAnswer, 1),
        ("resent", ConditionFailed, 1),
        ("slow down", Ambiguous, 0),
        ("contended", Contended, 0),
    ],
)
def test_a_fault_of_a_conditional_put(fault: str, end: object, writes: int) -> None:
    world, ends = run({0: fault}, put)
    assert (ends, written(world)) == ([end], writes)


def test_a_doubled_put_is_answered_as_the_first() -> None:
    world, ends = run({0: "doubled"}, put)
    assert ends == ['"c4ca4238a0b923820dcc509a6f75849b"']  # MD5 of "1", as S3 gives it
    assert written(world) == 1


def test_what_lands_late_has_not_happened_before() -> None:
    """Until then there is nothing, although its sender has long given up."""

    def watch(world: World) -> int:
        return written(world)

    world, ends = run({0: "late"}, put, watch)
    assert ends == [Ambiguous, 0]
    assert written(world) == 1


def test_nothing_lands_when_time_has_jumped_too_far() -> None:
    landed = 0
    for seed in range(20):
        world = World(seed, InTurn(), Exactly({0: "late"}))
        world.scheduler.spawn("put", lambda world=world: _end(put, world))
        world.scheduler.run(lambda world=world: bool(world.network.calls))
        world.network.jump(LATE_SECONDS + 1)
        before = written(world)
        world.scheduler.run()
        assert written(world) == before
        landed += before
    assert 0 < landed < 20


def test_a_killed_function_does_nothing_more_whatever_it_tries() -> None:
    def stubborn(world: World) -> object:
        def work(library) -> None:
            try:
                library.objects.put(KEY, b"1")
            finally:
                library.objects.put(KEY, b"2")

        return world.invoke("append", work)

    world, ends = run({0: "killed before"}, stubborn)
    assert (ends, written(world)) == ([NoAnswer], 0)
    assert [record for record in world.history.records if isinstance(record, Killed)]


def test_a_function_that_has_no_time_left_is_killed() -> None:
    def slow(world: World) -> object:
        return world.invoke(
            "append", lambda library: (library.clock.sleep(30), library.objects.put(KEY, b""))
        )

    world, ends = run({}, slow)
    assert (ends, written(world)) == ([NoAnswer], 0)


def test_two_at_once_are_two_functions_and_a_killed_one_is_never_used_again() -> None:
    used: list[object] = []

    def note(world: World) -> None:
        world.invoke("append", lambda library: (used.append(library), library.objects.get(KEY)))

    run({}, note, note, note)
    assert 1 <= len(set(used)) <= 2  # in turn the two warm ones do
    used.clear()
    run({0: "killed before"}, *[note] * 6)
    assert used.count(used[0]) == 1


def request(name: str) -> CommitRequested:
    return CommitRequested(session=SessionRef(account_id="acme", user_id=name, session_id="s"))


def queue(world: World, **more: object) -> TimedQueue:
    return TimedQueue(world.scheduler, world.chance, visibility=100, **more)  # type: ignore[arg-type]


def users(letters: list[Letter]) -> list[str]:
    return [letter.message.session.user_id for letter in letters]


def test_a_message_that_is_not_deleted_comes_back_and_is_given_up_at_last() -> None:
    world = World(0, InTurn(), Exactly({}))
    waiting = queue(world)
    waiting.send(request("a"))
    for received in range(1, MAX_RECEIVES + 1):
        assert [letter.received for letter in waiting.take(10)] == [received]
        assert waiting.take(10) == []
        world.scheduler.jump(100)
    assert waiting.take(10) == []
    assert (len(waiting), len(waiting.dead)) == (0, 1)


def test_a_group_waits_behind_its_first_message() -> None:
    world = World(0, InTurn(), Exactly({}))
    waiting = queue(world, group=lambda message: message.session.user_id)
    for name in "aab":
        waiting.send(request(name))
    first = waiting.take(1)
    assert users(first) == ["a"]
    assert users(waiting.take(10)) == ["b"]
    waiting.delete(first[0])
    assert users(waiting.take(10)) == ["a"]


def test_without_groups_messages_come_in_any_order() -> None:
    orders = set()
    for seed in range(20):
        world = World(seed, InTurn(), Exactly({}))
        waiting = queue(world)
        for name in "abc":
            waiting.send(request(name))
        orders.add("".join(users(waiting.take(10))))
    assert len(orders) > 2


def test_who_has_a_message_that_comes_twice_may_delete_it_twice() -> None:
    world = World(0, InTurn(), Exactly({}))
    waiting = queue(world)
    waiting.send(request("a"))
    first = waiting.take(1)
    waiting.show(first)
    second = waiting.take(1)
    assert [letter.received for letter in (*first, *second)] == [1, 2]
    waiting.delete(first[0])
    waiting.delete(second[0])
    assert len(waiting) == 0


def test_visibility_and_receives_are_the_templates() -> None:
    queues = Template(ROOT / "template.yaml", {}).resources("AWS::SQS::Queue")
    for name, seconds in VISIBILITY.items():
        queue = queues[f"{name.capitalize()}Queue"]
        assert queue["VisibilityTimeout"] == seconds
        assert queue["RedrivePolicy"]["maxReceiveCount"] == MAX_RECEIVES
        assert bool(queue.get("FifoQueue")) == (name in GROUPS)


def test_timeouts_are_the_templates() -> None:
    functions = Template(ROOT / "template.yaml", {}).resources("AWS::Serverless::Function")
    assert {word: functions[f"{word.capitalize()}Function"]["Timeout"] for word in TIMEOUTS} == TIMEOUTS
