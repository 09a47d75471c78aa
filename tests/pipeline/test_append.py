"""Append: every message once, in order, whatever happens to the answers."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from strandline.domain.auto_commit import AutoCommitPolicy
from strandline.domain.errors import Aborted, InvalidArgument, PayloadTooLarge, Unavailable
from strandline.domain.message import MessageIn
from strandline.domain.session import Receipt
from strandline.pipeline.append import AppendRequest, run_append
from strandline.pipeline.services import Rules
from strandline.ports import Ambiguous, ConditionFailed, Contended
from tests.pipeline.world import ALICE, World, said


def test_the_first_write_creates_the_session_with_the_default_policy() -> None:  # B-A2
    world = World(Rules(default_policy=AutoCommitPolicy()))

    world.append("s", "hello")

    assert world.head("s").auto_commit_policy == {
        "pending_token_threshold": 10_000,
        "message_count_threshold": 50,
        "idle_timeout_seconds": 86_400,
        "keep_recent_count": 2,
        "min_commit_interval_seconds": 0,
    }


def test_without_a_default_the_session_has_no_policy(world: World) -> None:  # B-A2
    world.append("s", "hello")
    assert world.head("s").auto_commit_policy is None


@pytest.mark.parametrize(
    "again", ["at once", "after another message", "after a commit", "by a cold function"]
)
def test_a_message_sent_again_is_acknowledged_with_its_seq(world: World, again: str) -> None:  # B-A7
    warm = world.services()
    world.append("s", "a", "b", by=warm)
    if again == "after another message":
        world.append("s", "c", ids="other")
    if again == "after a commit":
        world.commit("s")

    done = world.append("s", "a", "b", by=None if again == "by a cold function" else warm)

    assert list(done.receipts) == [Receipt("m1", 1, duplicate=True), Receipt("m2", 2, duplicate=True)]
    assert done.added == 0
    assert world.log("s")[:2] == [(1, "a"), (2, "b")]


def test_a_batch_that_was_stored_in_part_adds_only_the_rest(world: World) -> None:  # B-A7
    world.append("s", "a", "b")

    done = world.append("s", "a", "b", "c")

    assert [(r.seq, r.duplicate) for r in done.receipts] == [(1, True), (2, True), (3, False)]
    assert world.log("s") == [(1, "a"), (2, "b"), (3, "c")]


def test_an_id_that_comes_twice_in_a_batch_is_stored_once(world: World) -> None:  # B-A7
    twice = [*said(["a"]), *said(["a"])]

    done = run_append(world.services(), AppendRequest(ALICE, "s", twice))

    assert [(r.seq, r.duplicate) for r in done.receipts] == [(1, False), (1, True)]
    assert world.log("s") == [(1, "a")]


def test_a_thousand_messages_later_an_id_is_still_known(world: World) -> None:  # B-A7
    warm = world.services()
    world.append("s", "first", by=warm)
    for n in range(10):
        world.append("s", *["x"] * 100, by=warm, ids=f"b{n}-")
    world.calls.names.clear()

    done = world.append("s", "first", by=warm)

    assert list(done.receipts) == [Receipt("m1", 1, duplicate=True)]
    assert "objects.list" not in world.calls.names


@pytest.mark.parametrize("warm", [True, False])
@pytest.mark.parametrize("error", [Ambiguous("lost"), Contended("409"), ConditionFailed("412")])
def test_a_lost_answer_is_found_again(world: World, error: Exception, warm: bool) -> None:  # B-A7
    service = world.services()
    world.append("s", "a", by=service)
    world.objects.faults.after("put", error)

    done = world.append("s", "b", by=service if warm else None, ids="n")

    assert list(done.receipts) == [Receipt("n1", 2, duplicate=False)]
    assert world.log("s") == [(1, "a"), (2, "b")]


@pytest.mark.parametrize("others", [1, 10, 31])
def test_a_lost_answer_is_found_under_what_others_wrote_since(world: World, others: int) -> None:  # B-A7
    world.append("s", "a")

    def overtake() -> None:
        for n in range(others):
            world.append("s", f"other {n}", ids=f"o{n}-")
        raise Ambiguous("lost")

    world.objects.faults.after("put", overtake)

    done = world.append("s", "mine", ids="mine")

    assert list(done.receipts) == [Receipt("mine1", 2, duplicate=False)]
    assert [text for _, text in world.log("s")].count("mine") == 1
    assert len(world.log("s")) == others + 2


def test_an_answer_that_never_comes_is_503_and_the_repeat_finds_the_message(world: World) -> None:  # B-A7
    world.append("s", "a")
    for nth in range(1, 40):
        world.objects.faults.after("put", Ambiguous("lost"), nth=nth)
        world.objects.faults.before("get", Ambiguous("down"), nth=nth)
    with pytest.raises(Unavailable):
        world.append("s", "b", ids="n")
    world.mend()

    world.append("s", "b", ids="n")

    assert world.log("s") == [(1, "a"), (2, "b")]


def test_a_write_that_lands_late_is_not_stored_twice(world: World) -> None:  # B-A7
    world.append("s", "a")
    world.objects.faults.late("put")

    world.append("s", "b", ids="n")
    world.objects.faults.land()
    world.append("s", "c", ids="later")

    assert world.log("s") == [(1, "a"), (2, "b"), (3, "c")]


def test_the_same_message_from_many_at_once_is_stored_once(world: World) -> None:  # B-A7
    def send(_: int) -> Receipt:
        return world.append("s", "a").receipts[0]

    with ThreadPoolExecutor(8) as pool:
        receipts = list(pool.map(send, range(8)))

    assert {r.seq for r in receipts} == {1}
    assert [r.duplicate for r in receipts].count(False) == 1
    assert world.log("s") == [(1, "a")]


def test_twenty_writers_of_ten_messages_each(world: World) -> None:  # B-A9
    def write(writer: int) -> list[int]:
        service = world.services()
        return [_until_stored(world, service, f"w{writer}-{n}-") for n in range(10)]

    with ThreadPoolExecutor(20) as pool:
        seqs = [seq for written in pool.map(write, range(20)) for seq in written]

    assert sorted(seqs) == list(range(1, 201))
    assert [seq for seq, _ in world.log("s")] == list(range(1, 201))
    assert len({text for _, text in world.log("s")}) == 200


def _until_stored(world: World, service: object, name: str) -> int:
    for _ in range(100):
        try:
            receipt = world.append("s", f"text {name}", by=service, ids=name).receipts[0]  # type: ignore[arg-type]
        except Aborted:
            continue
        assert not receipt.duplicate, "whoever was told ABORTED had stored nothing"
        return receipt.seq
    raise AssertionError("never stored")


@pytest.mark.parametrize("expected", [0, 1, 3, 1_000])
def test_a_wrong_expected_last_seq_stores_nothing(world: World, expected: int) -> None:  # B-A10
    world.append("s", "a", "b")
    writes = world.writes(ALICE.head("s"))

    with pytest.raises(Aborted) as refused:
        run_append(world.services(), AppendRequest(ALICE, "s", said(["c"], ids="n"), expected))

    assert refused.value.details == {"last_seq": 2}
    assert world.writes(ALICE.head("s")) == writes


def test_the_right_expected_last_seq_stores(world: World) -> None:  # B-A10
    world.append("s", "a", "b")
    run_append(world.services(), AppendRequest(ALICE, "s", said(["c"], ids="n"), 2))
    assert world.log("s") == [(1, "a"), (2, "b"), (3, "c")]


@pytest.mark.parametrize("expected", [1, 2])
def test_what_a_function_remembers_decides_no_expectation(world: World, expected: int) -> None:  # B-A10
    """It remembers seq 1, the session is at 2."""
    warm = world.services()
    world.append("s", "a", by=warm)
    world.append("s", "b", ids="other")
    request = AppendRequest(ALICE, "s", said(["c"], ids="n"), expected)
    if expected == 2:
        assert [r.seq for r in run_append(warm, request).receipts] == [3]
    else:
        with pytest.raises(Aborted):
            run_append(warm, request)
        assert len(world.log("s")) == 2


def test_a_repeat_after_a_lost_answer_is_not_refused_for_its_expected_seq(world: World) -> None:  # B-A7 B-A10
    world.append("s", "a")
    request = AppendRequest(ALICE, "s", said(["b"], ids="n"), 1)
    run_append(world.services(), request)

    again = run_append(world.services(), request)

    assert list(again.receipts) == [Receipt("n1", 2, duplicate=True)]


def test_an_expectation_of_a_session_that_is_not_there_leaves_no_trace(world: World) -> None:  # B-A10
    with pytest.raises(Aborted) as refused:
        run_append(world.services(), AppendRequest(ALICE, "s", said(["a"]), 5))

    assert refused.value.details == {"last_seq": 0}
    assert world.stored() == []
    assert world.rows("SESSIONS#") == []


@pytest.mark.parametrize("position", [0, 1, 99])
def test_one_bad_message_in_a_batch_stores_none(world: World, position: int) -> None:  # B-A3
    batch = list(said(["x"] * 100))
    batch[position] = batch[position].model_copy(update={"content": "\ud800"})

    with pytest.raises(InvalidArgument):
        run_append(world.services(), AppendRequest(ALICE, "s", batch))

    assert world.stored() == [] and world.rows("") == []


@pytest.mark.parametrize("count", [0, 101])
def test_a_batch_holds_1_to_100_messages(world: World, count: int) -> None:  # B-A3
    with pytest.raises(InvalidArgument):
        world.append("s", *["x"] * count)
    assert world.stored() == []


def test_a_mebibyte_is_stored_and_comes_back(world: World) -> None:  # B-A13
    text = "é" * (512 * 1024)
    world.append("s", text)
    assert world.log("s") == [(1, text)]


def test_a_byte_more_is_too_large(world: World) -> None:  # B-A13
    with pytest.raises(PayloadTooLarge):
        world.append("s", "é" * (512 * 1024) + "x")
    assert world.stored() == []


def test_many_large_messages_keep_their_order(world: World) -> None:  # B-A13
    texts = [f"{n} " + "x" * 30_000 for n in range(12)]
    for n, text in enumerate(texts):
        world.append("s", text, ids=f"m{n}-")
    assert world.log("s") == list(enumerate(texts, start=1))


def test_messages_without_ids_are_known_again_by_the_key_of_their_request(world: World) -> None:  # B-A8
    request = AppendRequest(
        ALICE, "s", [MessageIn(role="user", content="a"), MessageIn(role="user", content="b")], repeat_key="k"
    )

    first = run_append(world.services(), request)
    again = run_append(world.services(), request)

    assert [r.duplicate for r in again.receipts] == [True, True]
    assert [r.seq for r in again.receipts] == [r.seq for r in first.receipts] == [1, 2]
    assert again.head.last_seq == 2
