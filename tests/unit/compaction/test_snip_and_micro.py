"""Old results go when there is no room for them, or when nobody needs them any more. (B-D5)"""

import pytest

from strandline.domain.compaction.assemble import assemble
from strandline.domain.compaction.limits import TOOLS
from strandline.domain.compaction.replacement import CLEARED, SNIPPED
from tests.unit.compaction.talk import Talk, actions, call, output_of, result, words

HUGE = {"tool_result_budget": {"max_chars": 200_000, "group_chars": 1_000_000}}


def sized(talk: Talk, *outputs: int, tool: str = "Read") -> list[int]:
    """Calls and results of exactly so many characters together, the tool's name included; the seqs of the results."""
    seqs = []
    for size in outputs:
        identity = f"c{len(talk.messages):04}"
        talk.say("assistant", [{"type": "tool", "tool_id": identity, "tool_name": tool, "tool_input": None}])
        part = {"type": "tool", "tool_id": identity, "tool_output": "x" * (size - len(tool))}
        seqs.append(talk.say("user", [part])["seq"])
    return seqs


def test_at_the_trigger_nothing_goes_and_one_over_it_the_oldest_until_the_target() -> None:
    talk = Talk()
    sized(talk, *[60_000] * 10)
    assert talk.context(HUGE).estimate.characters == 600_000
    assert not talk.context(HUGE).reduced

    talk.say("user", "!")
    made = talk.context(HUGE)
    # each that goes leaves 43 characters of text and the 4 of its call: four leave 600,001 - 4 x (59,996 - 43)
    assert actions(made) == {"m2": "snipped", "m4": "snipped", "m6": "snipped", "m8": "snipped"}
    assert output_of(made, 2) == SNIPPED
    assert made.estimate.characters == 600_001 - 4 * (59_996 - len(SNIPPED))
    assert made.reduced[0].chars_before == 59_996 and made.reduced[0].chars_after == len(SNIPPED)


def test_the_newest_five_stay_whatever_the_pressure() -> None:
    talk = Talk()
    sized(talk, *[150_000] * 7)
    assert actions(talk.context(HUGE)) == {"m2": "snipped", "m4": "snipped"}
    assert actions(talk.context(HUGE)) == {"m2": "snipped", "m4": "snipped"}


@pytest.mark.parametrize("tool", TOOLS)
def test_results_of_the_listed_tools_go(tool: str) -> None:
    talk = Talk()
    sized(talk, *[110_000] * 6, tool=tool)
    assert actions(talk.context(HUGE)) == {"m2": "snipped"}


@pytest.mark.parametrize("tool", ["Deploy", "read", "Reader", ""])
def test_results_of_other_tools_stay(tool: str) -> None:
    talk = Talk()
    sized(talk, *[110_000] * 6, tool=tool)
    assert not talk.context(HUGE).reduced
    assert actions(talk.context({**HUGE, "history_snip": {"tools": [tool]}})) == {"m2": "snipped"}


def test_a_tool_message_goes_by_the_name_of_its_call() -> None:
    talk = Talk()
    for n in range(7):
        talk.say("assistant", call(f"c{n}", tool="Bash"))
        talk.say("tool", "x" * 100_000)
    assert actions(talk.context(HUGE)) == {"m2": "snipped", "m4": "snipped"}


def test_previews_are_no_candidates() -> None:
    talk = Talk()
    talk.use("y" * 300_000)  # too long by itself
    sized(talk, *[110_000] * 6)
    assert actions(talk.context(HUGE)) == {"m2": "preview", "m4": "snipped"}


def test_over_the_warning_of_tokens_only_as_many_go_as_are_needed() -> None:
    """Thirty results, a hundred tokens too many: two go, not twenty-five. (X2)"""
    talk = Talk()
    for _ in range(30):
        talk.use("word " * 100)
    full = talk.context({"micro_compact": {"trigger_count": 1_000}}, window=1_000_000).estimate.tokens
    effective = next(n for n in range(full, 2 * full) if n * 85 // 100 == full - 100)
    made = talk.context({"micro_compact": {"trigger_count": 1_000}}, window=effective)
    assert made.thresholds is not None and made.thresholds.warning == full - 100
    assert actions(made) == {"m2": "snipped", "m4": "snipped"}
    assert full - 2 * 100 <= made.estimate.tokens <= full - 100


def test_at_the_warning_nothing_goes() -> None:
    talk = Talk()
    for _ in range(10):
        talk.use("word " * 100)
    full = talk.context(window=1_000_000).estimate.tokens
    effective = next(n for n in range(full, 2 * full) if n * 85 // 100 == full)
    made = talk.context(window=effective)
    assert not made.reduced
    assert made.pressure == "warning"


def test_what_is_shorter_than_its_placeholder_is_not_snipped() -> None:
    talk = Talk()
    for _ in range(8):
        talk.use("ok")
    sized(talk, 150_000)
    limits = {"history_snip": {"trigger_chars": 100_000, "target_chars": 50_000}, **HUGE}
    assert not talk.context(limits).reduced


def test_twenty_results_stay_and_of_twenty_one_the_last_five() -> None:
    talk = Talk()
    for _ in range(20):
        talk.use("out")
    assert not talk.context().reduced
    talk.use("out")
    made = talk.context()
    assert actions(made) == {f"m{2 * n}": "cleared" for n in range(1, 17)}
    assert output_of(made, 2) == CLEARED and output_of(made, 34) == "out"
    assert made.reduced[0].stage == "micro"


def test_after_that_it_counts_from_five_again() -> None:
    talk = Talk()
    for _ in range(21):
        talk.use("out")
    talk.context()
    for _ in range(15):
        talk.use("out")
    assert len(talk.context().reduced) == 16
    talk.use("out")
    assert len(talk.context().reduced) == 32


def test_what_grows_by_being_cleared_may_make_others_go_at_once() -> None:
    """What stands for "out", one token, has five: with 64 more it is too much. The next call finds nothing to do."""
    talk = Talk()
    for _ in range(6):
        talk.use("word " * 100, tool="Deploy")
    for _ in range(21):
        talk.use("out")
    full = talk.ask({"micro_compact": {"trigger_count": 1_000}}, window=1_000_000)
    tokens = assemble(talk.messages, full, talk.state, words).estimate.tokens
    effective = next(n for n in range(tokens, 2 * tokens) if n * 85 // 100 == tokens)
    limits = {"history_snip": {"tools": ["Deploy"]}}
    made = talk.context(limits, window=effective)
    assert actions(made)["m2"] == "snipped" and len(made.reduced) == 17
    assert talk.context(limits, window=effective) == made


def test_other_tools_do_not_count() -> None:
    talk = Talk()
    for n in range(40):
        talk.use("out", tool="Read" if n % 2 else "Deploy")
    assert not talk.context().reduced


@pytest.mark.parametrize(("seconds", "cleared"), [(3_599.999, 0), (3_600, 2), (7_200, 2)])
def test_an_hour_after_the_last_assistant_message_all_but_five_are_cleared(
    seconds: float, cleared: int
) -> None:
    talk = Talk()
    for _ in range(7):
        talk.use("out")
    talk.say("assistant", "Done.")
    talk.wait(seconds)
    talk.say("user", "Are you there?")
    assert len(talk.context().reduced) == cleared


def test_with_nothing_new_said_nothing_is_cleared_whatever_the_time() -> None:
    talk = Talk()
    for _ in range(7):
        talk.use("out")
    first = talk.context()
    talk.wait(100_000)
    assert talk.context() == first
    talk.say("user", "Hello?")
    assert len(talk.context().reduced) == 2


def test_without_an_assistant_there_is_no_pause() -> None:
    talk = Talk()
    for n in range(7):
        talk.say("user", [{**result(f"c{n}", "out")[0], "tool_input": {"q": n}}])
    talk.wait(100_000)
    assert not talk.context().reduced
