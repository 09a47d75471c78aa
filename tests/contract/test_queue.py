"""`ports.Queue` and `ports.DeadLetters`, on every backend."""

import json
from datetime import timedelta

import pytest
from pydantic import TypeAdapter

from strandline.adapters.sqs import group_id
from strandline.domain.contracts import CommitRequested, Message, SessionRef
from strandline.ports import DeadLetters, Letter
from tests.contract.conftest import Backend

pytestmark = pytest.mark.contract

READ = TypeAdapter[Message](Message)
TRACE = "Root=1-67891233-abcdef012345678912345678;Parent=53995c3f42cd8ad8;Sampled=1"
ODD = "名前 \x00\x1f\x7f\ufffe\uffff\u2028😀<&>\"'"


def _message(user: str = "user", session: str = "s", keep: int = 0) -> CommitRequested:
    ref = SessionRef(account_id="account", user_id=user, session_id=session, incarnation="0" * 32)
    return CommitRequested(session=ref, keep_recent_count=keep)


@pytest.mark.parametrize("fifo", [False, True], ids=["standard", "fifo"])
@pytest.mark.parametrize("text", ["plain", ODD], ids=["plain", "odd"])
def test_a_message_arrives_as_it_was_sent(backend: Backend, fifo: bool, text: str) -> None:
    queue, arrived = backend.queue(fifo=fifo)
    queue.send(_message(user=text, session=text))
    (sent,) = arrived()
    assert READ.validate_json(sent.body) == _message(user=text, session=text)
    assert json.loads(sent.body)["type"] == "CommitRequested"


def test_a_fifo_queue_groups_by_user_and_keeps_order(backend: Backend) -> None:
    queue, arrived = backend.queue(fifo=True)
    for keep in range(3):
        queue.send(_message(keep=keep))
    sent = arrived()
    assert [json.loads(s.body)["keep_recent_count"] for s in sent] == [0, 1, 2]
    assert {s.group for s in sent} == {"account/user"}


@pytest.mark.parametrize("fifo", [False, True], ids=["standard", "fifo"])
def test_a_message_goes_on_in_its_trace(backend: Backend, fifo: bool) -> None:
    queue, arrived = backend.queue(fifo=fifo, trace=lambda: TRACE)
    queue.send(_message())
    assert [sent.trace for sent in arrived()] == [TRACE]


def test_the_same_message_sent_again_arrives_again(backend: Backend) -> None:
    """Within SQS's five minutes of deduplication too: a retry that was asked for must not be swallowed."""
    queue, arrived = backend.queue(fifo=True)
    queue.send(_message())
    queue.send(_message())
    assert len(arrived()) == 2


def test_a_message_that_is_let_go_comes_again_at_once_and_its_group_with_it(backend: Backend) -> None:
    queue, arrived = backend.queue(fifo=True)
    queue.send(_message(keep=0))
    (hidden,) = arrived()
    queue.send(_message(keep=1))
    assert arrived() == []
    queue.release(hidden.receipt)
    assert [json.loads(s.body)["keep_recent_count"] for s in arrived()] == [0, 1]


# ---- dead letters


def all_of(letters: DeadLetters) -> list[Letter]:
    """Takes until nothing more is shown."""
    taken: list[Letter] = []
    while found := letters.take():
        assert len(found) <= 10
        taken += found
    return taken


@pytest.mark.parametrize("fifo", [False, True], ids=["standard", "fifo"])
def test_letters_are_taken_once_until_they_are_given_back(backend: Backend, fifo: bool) -> None:
    letters, put = backend.dead_letters(fifo=fifo)
    bodies = {f"名前 😀 <&> {number}" for number in range(12)}
    for number, body in enumerate(sorted(bodies)):
        put(body, f"g{number}")
    taken = all_of(letters)
    assert {letter.body for letter in taken} == bodies
    assert len({letter.id for letter in taken}) == 12
    assert {letter.sent_at.utcoffset() for letter in taken} == {timedelta(0)}
    assert letters.take() == []
    letters.give_back(taken)
    again = all_of(letters)
    assert sorted(letter.id for letter in again) == sorted(letter.id for letter in taken)


@pytest.mark.parametrize("fifo", [False, True], ids=["standard", "fifo"])
def test_removed_letters_are_gone_and_the_others_are_not(backend: Backend, fifo: bool) -> None:
    letters, put = backend.dead_letters(fifo=fifo)
    for number in range(23):
        put(str(number), f"g{number}")
    taken = all_of(letters)
    letters.remove([letter for letter in taken if int(letter.body) % 2])
    letters.give_back([letter for letter in taken if not int(letter.body) % 2])
    assert {int(letter.body) for letter in all_of(letters)} == set(range(0, 23, 2))


def test_nothing_removed_and_nothing_given_back(backend: Backend) -> None:
    letters, _ = backend.dead_letters(fifo=True)
    letters.remove([])
    letters.give_back([])
    assert letters.take() == []


def test_a_group_waits_behind_what_is_taken_of_it(backend: Backend) -> None:
    letters, put = backend.dead_letters(fifo=True)
    put("first", "a")
    (first,) = letters.take()
    put("second", "a")
    put("other", "b")
    assert [letter.body for letter in all_of(letters)] == ["other"]
    letters.remove([first])
    assert [letter.body for letter in all_of(letters)] == ["second"]


def test_group_ids_are_what_sqs_takes() -> None:
    assert group_id("account/user") == "account/user"
    for owner in ("a/" + "u" * 127, "a/名前", "a/b c", "a/b\n"):
        group = group_id(owner)
        assert group.isascii()
        assert len(group) == 64
    assert group_id("a/名前") != group_id("a/名")
