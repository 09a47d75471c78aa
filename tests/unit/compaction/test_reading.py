"""What a reader of the log has to know before there is a context."""

from typing import Any

import pytest

from strandline.domain.compaction.limits import ToolResultBudget
from strandline.domain.compaction.reading import speaks, unread, wanted
from strandline.domain.compaction.state import ContextState, Decision
from tests.unit.compaction.talk import Message, Talk, call, output_of, result

REF = {"id": "tr_" + "1" * 32, "total_chars": 30_000, "sha256": "f"}


def kept_apart(total: int, shown: str = "line\n" * 400) -> list[Message]:
    """The part of a result that is an object of its own: its first 2,000 characters are in the message."""
    return [{**result("c", shown)[0], "ref": {**REF, "total_chars": total}}]


def message(role: str, body: Any, **more: Any) -> Message:
    return Talk().say(role, body, **more)


def test_the_least_that_a_message_can_be() -> None:
    said = message("user", "one two three")
    assert (unread(said, in_tokens=True), unread(said, in_tokens=False)) == (7, 13)
    asked = message("assistant", call("call-1"))  # {"of":"call-1"} and Read: two words; 4 and 3 for the id
    assert (unread(asked, in_tokens=True), unread(asked, in_tokens=False)) == (4 + 2 + 4 + 3, 15 + 4)
    answer = message("user", result("call-1", "out " * 100))
    assert (unread(answer, in_tokens=True), unread(answer, in_tokens=False)) == (4 + 4 + 3, 4)
    spoken = message("tool", "out " * 100)
    assert (unread(spoken, in_tokens=True), unread(spoken, in_tokens=False)) == (4, 0)


@pytest.mark.parametrize(
    ("role", "body", "says"),
    [
        ("user", "Hello.", True),
        ("user", [{"type": "text", "text": "Hello."}, *result("a", "out")], True),
        ("user", [{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}], True),
        ("user", result("a", "out"), False),
        ("assistant", "Hello.", False),
        ("system", "Hello.", False),
        ("tool", "out", False),
    ],
)
def test_whether_a_user_says_something(role: str, body: Any, says: bool) -> None:
    assert speaks(message(role, body)) is says


@pytest.mark.parametrize(
    ("total", "limits", "whole"),
    [
        (50_000, {}, True),
        (50_001, {}, False),
        (50_001, {"preview_chars": 2_001}, True),
        (30_000, {"max_chars": 29_999}, False),
    ],
)
def test_a_new_output_is_wanted_whole_where_it_may_stay_so(total: int, limits: Any, whole: bool) -> None:
    said = message("user", kept_apart(total))
    assert wanted(said, ContextState("life"), ToolResultBudget(**limits)) == ([0] if whole else [])


def test_one_that_was_sent_is_wanted_as_it_was_sent() -> None:
    limits, said = ToolResultBudget(max_chars=3_000), message("user", kept_apart(30_000))
    sent = ContextState("life", sent_from=1, sent_through=1)
    assert wanted(said, sent, limits) == [0]
    for decision, whole in (
        (Decision("snip"), []),
        (Decision("budget", 2_000), []),
        (Decision("budget", 2_001), [0]),
    ):
        assert wanted(said, ContextState("life", decisions={(1, 0): decision}), limits) == whole


def test_what_is_whole_already_and_what_has_no_object_are_not() -> None:
    for body in (kept_apart(30_000, "x" * 30_000), result("c", "x" * 30_000)):
        assert wanted(message("user", body), ContextState("life"), ToolResultBudget()) == []
    assert wanted(message("tool", "x" * 2_000, ref=REF), ContextState("life"), ToolResultBudget()) == [None]


def test_a_preview_is_the_same_from_the_whole_and_from_what_is_in_the_message() -> None:
    whole = "line\n" * 12_000
    shown = []
    for text in (whole, whole[:1_999]):
        talk = Talk()
        talk.say("assistant", call("c"))
        seq = talk.say("user", kept_apart(60_000, text))["seq"]
        shown.append(output_of(talk.context(), seq))
    assert shown[0] == shown[1]


def test_a_whole_output_is_counted_and_not_what_its_message_has_stored() -> None:
    talk = Talk()
    talk.say("assistant", call("c"))
    talk.say("user", kept_apart(30_000, "word " * 6_000), tokens=400)
    made = talk.context(window=100_000)
    assert made.estimate.tokens == made.tokens == 4 + 2 + 4 + 1 + 4 + 6_001 + 4 + 1
