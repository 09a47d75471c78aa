"""Which requests ask the same."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strandline.domain.learning.anchor import alike, may_hold, sought

CHANGE = "Hi! I need to change my return flight from Texas to Newark to a later one on May 27."

VAGUE = "I'd like to make some changes to my upcoming flight reservation."


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (
            CHANGE,
            "I have a return flight from Texas to Newark. Please change it to a later one, May 27.",
            True,
        ),
        (CHANGE, CHANGE, True),
        (CHANGE, "Hi! I need to change my return flight from Texas to Boston.", False),
        # as general as that asks for anything
        (VAGUE, VAGUE, False),
        # much in common, and much more that is not
        (CHANGE, CHANGE + " " + " ".join(f"word{n}" for n in range(40)), False),
        # 取消 (cancel) and the polite words around it are no request of their own
        ("您好，我想取消我的航班预订，谢谢。", "您好，我想取消我的酒店预订，谢谢。", False),
        ("", "", False),
    ],
)
def test_requests_that_ask_the_same(one: str, other: str, same: bool) -> None:
    assert alike(one, other) is alike(other, one) is same


WORDS = st.lists(st.sampled_from([f"stem{n}x" for n in range(14)]), max_size=14).map(" ".join)


@settings(max_examples=50, deadline=None)
@given(WORDS, WORDS, WORDS)
def test_it_is_symmetric_and_what_asks_the_same_is_not_passed_over(one: str, other: str, more: str) -> None:
    assert alike(one, other) is alike(other, one)
    if alike(one, other):
        assert may_hold(one, f"{other} {more}")


@pytest.mark.parametrize(
    ("request_", "found_by"),
    [
        ("Hi there! I'd like to cancel my flight, please.", "there! I'd to cancel my flight,"),
        ("Can you help me, please?", "Can you help me, please?"),
        ("Help!", "Help!"),
        ("我想取消航班", "我想取消航班"),
    ],
)
def test_a_request_is_looked_for_without_words_of_courtesy(request_: str, found_by: str) -> None:
    assert sought(request_) == found_by
