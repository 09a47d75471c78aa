"""`ports.Queue`, on every backend."""

import json

import pytest
from pydantic import TypeAdapter

from strandline.adapters.sqs import group_id
from strandline.domain.contracts import CommitRequested, Message, SessionRef
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


def test_group_ids_are_what_sqs_takes() -> None:
    assert group_id("account/user") == "account/user"
    for owner in ("a/" + "u" * 127, "a/名前", "a/b c", "a/b\n"):
        group = group_id(owner)
        assert group.isascii()
        assert len(group) == 64
    assert group_id("a/名前") != group_id("a/名")
