"""What an assembly costs: it counts what is new, and nothing twice. (X2, S11)"""

import time
from collections import Counter

import pytest

from tests.unit.compaction.talk import Talk, words


class Counted:
    """How often which text was counted."""

    def __init__(self) -> None:
        self.texts: Counter[str] = Counter()

    def __call__(self, text: str) -> int:
        self.texts[text] += 1
        return words(text)


def long_session(messages: int) -> Talk:
    talk = Talk()
    while len(talk.messages) < messages:
        talk.say(
            "user",
            f"Question {len(talk.messages)}, in a text that is too long to be remembered: " + "word " * 20,
        )
        talk.use(f"{len(talk.messages)} " + "out " * 50)
    return talk


def counted_in(talk: Talk, window: int | None) -> Counter[str]:
    counter = Counted()
    Talk(talk.messages, talk.state, talk.now, counter).context(window=window)
    return counter.texts


@pytest.mark.parametrize("window", [None, 1_000_000, 20_000])
def test_no_stored_message_is_counted_again(window: int | None) -> None:
    talk = long_session(3_000)
    talk.context(window=window)
    again = counted_in(talk, window)
    originals = {text for message in talk.messages for text in (message.get("content"),) if text}
    assert not originals & again.keys()
    assert again.total() < 20  # names of tools and placeholders, each once; inputs are short too
    assert max(again.values(), default=1) == 1


def test_what_goes_is_not_counted_for_it() -> None:
    counted = counted_in(long_session(3_000), 20_000)
    assert not any("out out" in text for text in counted)


@pytest.mark.parametrize("window", [None, 60_000])
def test_the_work_grows_as_the_session_does(window: int | None) -> None:
    """Under pressure, when most results go: eight times the messages are eight times the work, not sixty-four."""

    def seconds(talk: Talk) -> float:
        before = time.process_time()
        Talk(talk.messages).context(
            {"history_snip": {"trigger_chars": 100, "target_chars": 1}}, window=window
        )
        return time.process_time() - before

    short, long = long_session(1_000), long_session(8_000)
    assert min(seconds(long) for _ in range(3)) < 24 * min(seconds(short) for _ in range(5))
