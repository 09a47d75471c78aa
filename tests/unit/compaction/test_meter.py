"""What the caller's last model call cost counts while it is of this prompt and this generation. (B-D3, B-D8)"""

from dataclasses import replace

import pytest

from strandline.domain.compaction.assembly import Room
from strandline.domain.compaction.room import thresholds
from strandline.domain.compaction.state import Compaction, ContextState, Decision, covered
from strandline.domain.errors import InvalidArgument
from tests.unit.compaction.talk import Talk, actions


def test_thresholds() -> None:
    found = thresholds(Room(window=1_000, max_output=100))
    assert found is not None
    assert (found.effective, found.warning, found.auto, found.blocking) == (900, 765, 810, 855)
    found = thresholds(Room(window=1_000, max_output=100, reserved=101))
    assert found is not None
    assert (found.effective, found.warning, found.auto, found.blocking) == (799, 679, 719, 759)
    assert thresholds(Room()) is None


@pytest.mark.parametrize(
    ("room", "field"),
    [
        (Room(window=0), "model_context_window_tokens"),
        (Room(window=100, max_output=100), "max_output_tokens"),
        (Room(window=100, reserved=100), "reserved_tokens"),
        (Room(window=100, max_output=60, reserved=40), "reserved_tokens"),
    ],
)
def test_a_room_without_room(room: Room, field: str) -> None:
    with pytest.raises(InvalidArgument) as raised:
        thresholds(room)
    assert raised.value.details["field"] == field


def talked() -> Talk:
    talk = Talk()
    for role in ("user", "assistant", "user"):
        talk.say(role, "one two three four five six")
    return talk


def test_without_a_report_it_is_estimated() -> None:
    made = talked().context(window=1_000, beside=7)
    assert (made.estimate.tokens, made.estimate.source, made.estimate.characters) == (37, "estimated", 3 * 27)


def test_what_is_told_of_a_memory_counts() -> None:
    talk = Talk()
    talk.say("user", [{"type": "context", "uri": "viking://user/u/memories/x.md", "abstract": "I row."}])
    made = talk.context(window=1_000)
    assert (made.estimate.tokens, made.estimate.characters) == (4 + 2, 6)


def test_a_report_counts_and_what_was_said_since_is_added() -> None:
    talk = talked()
    talk.context(window=1_000)
    made = talk.context(window=1_000, usage=(500, "f"), reserved=20, beside=7)
    assert (made.estimate.tokens, made.estimate.source) == (480, "usage")
    talk.say("assistant", "one two three four five six")
    made = talk.context(window=1_000, usage=(500, "f"), reserved=20, beside=7)
    assert (made.estimate.tokens, made.estimate.source) == (490, "hybrid")


def test_the_next_report_is_of_the_next_call() -> None:
    talk = talked()
    talk.context(window=1_000)
    talk.context(window=1_000, usage=(500, "f"))
    talk.say("assistant", "one two three four five six")
    talk.context(window=1_000, usage=(500, "f"))
    talk.say("user", "one two")
    made = talk.context(window=1_000, usage=(515, "f"))  # of the call that saw four messages
    assert (made.estimate.tokens, made.estimate.source) == (521, "hybrid")


def test_who_has_asked_for_nothing_yet_was_answered_by_a_call_of_its_own() -> None:
    made = talked().context(window=1_000, usage=(100, "f"))
    assert (made.estimate.tokens, made.estimate.source) == (
        120,
        "hybrid",
    )  # the answer, and the question after it
    talk = Talk()
    talk.say("user", "one two three four five six")
    made = talk.context(window=1_000, usage=(100, "f"))
    assert (made.estimate.tokens, made.estimate.source) == (100, "usage")


def test_a_report_of_another_prompt_does_not_count_until_there_is_a_second() -> None:
    talk = talked()
    talk.context(window=1_000)
    assert talk.context(window=1_000, usage=(500, "f")).estimate.source == "usage"
    made = talk.context(window=1_000, usage=(500, "g"), beside=7)
    assert (made.estimate.tokens, made.estimate.source) == (37, "estimated")
    assert talk.context(window=1_000, usage=(500, "g"), beside=7) == made
    assert talk.context(window=1_000, usage=(501, "g")).estimate.source == "usage"


def test_a_report_of_before_a_compaction_does_not_count() -> None:
    """X1: a session that shrank must not be judged by what it was."""
    talk = talked()
    talk.context(window=1_000)
    talk.context(window=1_000, usage=(900, "f"))
    talk.state = covered(talk.state, 2)
    made = talk.context(window=1_000, usage=(900, "f"))
    assert (made.estimate.tokens, made.estimate.source, made.pressure) == (10, "estimated", "none")
    talk.say("assistant", "one two three four five six")
    made = talk.context(window=1_000, usage=(900, "f"))
    assert (made.estimate.tokens, made.estimate.source) == (20, "estimated")
    talk.context(window=1_000)
    assert talk.context(window=1_000, usage=(900, "f")).estimate.source == "estimated"
    made = talk.context(window=1_000, usage=(44, "f"))
    assert (made.estimate.tokens, made.estimate.source) == (44, "usage")


def test_a_call_without_a_report_is_estimated_and_forgets_nothing() -> None:
    talk = talked()
    talk.context(window=1_000)
    talk.context(window=1_000, usage=(500, "f"))
    assert talk.context(window=1_000).estimate.source == "estimated"
    assert talk.context(window=1_000, usage=(500, "f")).estimate.source == "usage"


def test_a_report_of_a_call_that_cannot_have_seen_all_does_not_count() -> None:
    talk = talked()
    talk.context(window=25)
    made = talk.context(window=25, usage=(20, "f"))
    assert (made.estimate.tokens, made.estimate.source, made.pressure) == (30, "estimated", "blocking")
    assert talk.context(window=1_000, usage=(20, "f")).estimate.source == "estimated"


def test_what_the_stages_take_is_taken_off_the_report() -> None:
    """X2: the estimate moves with each result that goes."""
    talk = Talk()
    for _ in range(10):
        talk.use("word " * 100)
    talk.context(window=4_000)
    talk.say("user", "one two three four five six")
    made = talk.context(window=4_000, usage=(3_500, "f"))
    # 3,510 tokens, 110 over the warning: a result that goes frees 93, so two go
    assert actions(made) == {"m2": "snipped", "m4": "snipped"}
    assert made.estimate.tokens == 3_510 - 2 * 93
    assert talk.context(window=4_000, usage=(3_500, "f")) == made


@pytest.mark.parametrize(
    ("tokens", "pressure"),
    [
        (764, "none"),
        (765, "warning"),
        (809, "warning"),
        (810, "auto"),
        (854, "auto"),
        (855, "blocking"),
        (901, "blocking"),
    ],
)
def test_pressure_by_tokens(tokens: int, pressure: str) -> None:
    talk = Talk()
    talk.say("user", "word " * (tokens - 4))
    assert talk.context(window=1_000, max_output=100).pressure == pressure


@pytest.mark.parametrize(
    ("characters", "pressure"),
    [(699_999, "none"), (700_000, "auto"), (779_999, "auto"), (780_000, "blocking")],
)
def test_pressure_by_characters_where_no_window_is_known(characters: int, pressure: str) -> None:
    talk = Talk()
    talk.say("user", "x" * characters)
    made = talk.context()
    assert (made.pressure, made.thresholds, len(made.messages)) == (pressure, None, 1)


def test_the_boundary_moves_only_ahead() -> None:
    state = ContextState(
        "life",
        generation=4,
        covered_through=10,
        decisions={(11, 0): Decision("snip"), (20, None): Decision("budget", 9), (21, 0): Decision("micro")},
        sent_from=3,
        sent_through=30,
        failures=2,
        compaction=Compaction("task", 20, "2026-01-01T00:00:00.000Z"),
    )
    assert covered(state, 10) is state and covered(state, 9) is state
    moved = covered(state, 20)
    assert moved == replace(state, generation=5, covered_through=20, decisions={(21, 0): Decision("micro")})
