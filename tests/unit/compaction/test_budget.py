"""What is too long for a context becomes a preview, once and for good. (B-D4)"""

import pytest

from tests.unit.compaction.talk import Talk, actions, call, output_of, result


def test_a_result_of_just_the_limit_is_whole_and_one_more_is_a_preview() -> None:
    talk = Talk()
    exact, over = talk.use("a" * 50_000), talk.use("b" * 50_001)
    made = talk.context()

    assert output_of(made, exact) == "a" * 50_000
    text = output_of(made, over)
    note = "of 50001 characters shown. All: GET …/messages?after_seq=3&limit=1]"
    assert text.startswith("b" * 1_900) and text.endswith(note)
    assert len(text) <= 2_000
    assert made.messages[0] is talk.messages[0]
    (row,) = made.reduced
    assert (row.stage, row.message_id, row.tool_id, row.action) == ("budget", "m4", "call-2", "preview")
    assert (row.chars_before, row.chars_after) == (50_001, len(text))


def test_a_preview_says_in_its_part_what_it_is() -> None:
    talk = Talk()
    seq = talk.use("b" * 60_000)
    message = talk.context().messages[1]
    (part,) = message["parts"]
    assert message["tokens"] == 1 + len(part["tool_output"].split())
    shown = int(part["tool_output"].split("\n[")[1].split()[0])
    assert part["tool_output"] == "b" * shown + "\n" + part["tool_output"].split("\n")[1]
    assert part["tool_output_truncated"] is True
    assert part["tool_output_original_chars"] == 60_000
    assert part["tool_output_preview_chars"] == shown
    assert talk.messages[seq - 1]["parts"][0] == result("call-0", "b" * 60_000)[0]


@pytest.mark.parametrize(
    ("line_end", "ends_there"),
    [(1_500, True), (1_000, True), (900, False)],  # the preview has a little less than 2,000 for the text
)
def test_a_preview_ends_at_a_line_end_that_is_past_its_half(line_end: int, ends_there: bool) -> None:
    talk = Talk()
    seq = talk.use("a" * line_end + "\n" + "b" * 60_000)
    start = output_of(talk.context(), seq).rpartition("\n")[0]
    assert (start == "a" * line_end) is ends_there
    if not ends_there:
        assert len(start) > 1_900


def test_what_is_kept_as_an_object_is_named_and_measured_by_its_whole() -> None:
    talk = Talk()
    talk.say("assistant", call("c"))
    ref = {"id": "tr_" + "0" * 32, "total_chars": 80_000, "sha256": "f"}
    (part,) = result("c", "line\n" * 400)
    seq = talk.say("user", [{**part, "ref": ref}])["seq"]
    text = output_of(talk.context(), seq)
    assert text.endswith(f"of 80000 characters shown. All: GET …/tool-results/tr_{'0' * 32}]")
    assert len(text) <= 2_000
    assert talk.context().reduced[0].chars_before == 80_000


@pytest.mark.parametrize("length", [1, 2, 11, 50, 70, 71, 72, 140, 5_000])
@pytest.mark.parametrize("preview_chars", [0, 1, 69, 70, 4_000])
def test_what_stands_for_a_result_is_always_shorter(length: int, preview_chars: int) -> None:
    talk = Talk()
    seq = talk.use("x" * (length + preview_chars))
    most = max(preview_chars + 1, length + preview_chars - 1)
    made = talk.context({"tool_result_budget": {"max_chars": most, "preview_chars": preview_chars}})
    text = output_of(made, seq)
    if length + preview_chars > most:
        assert len(text) < length + preview_chars
        assert actions(made) == {"m2": "preview"}
    else:
        assert text == "x" * (length + preview_chars)


def test_a_preview_is_at_most_half_of_the_result() -> None:
    talk = Talk()
    seq = talk.use("x" * 2_500)
    made = talk.context({"tool_result_budget": {"max_chars": 2_400}})
    assert 1_200 <= len(output_of(made, seq)) <= 1_250


def group(talk: Talk, *lengths: int) -> list[int]:
    """Parallel calls and their results; the seqs of these."""
    ids = [f"p{n}" for n in range(len(lengths))]
    talk.say("assistant", call(*ids))
    return [
        talk.say("user", result(i, str(n) * size))["seq"]
        for n, (i, size) in enumerate(zip(ids, lengths, strict=True))
    ]


def test_a_group_of_just_the_limit_is_whole() -> None:
    talk = Talk()
    group(talk, 50_000, 50_000, 50_000, 50_000)
    assert not talk.context().reduced


def test_of_a_group_the_largest_go_first_and_only_as_needed() -> None:
    talk = Talk()
    group(talk, 40_000, 49_000, 45_000, 50_000, 30_000)  # 214,000: the 50,000 alone is enough
    assert actions(talk.context()) == {"m5": "preview"}

    talk = Talk()
    group(talk, 50_000, 49_000, 50_000, 50_000, 50_000)  # 249,000: one preview leaves 201,000
    assert actions(talk.context()) == {"m2": "preview", "m4": "preview"}


def test_an_assistant_message_ends_a_group() -> None:
    talk = Talk()
    group(talk, 50_000, 50_000, 50_000)
    talk.say("user", "Go on.")
    group(talk, 50_000, 50_000)
    assert not talk.context().reduced


def test_results_in_the_assistants_own_message_are_a_group_with_what_follows() -> None:
    talk = Talk()
    inside = [result(f"c{n}", str(n) * 50_000)[0] for n in range(4)]
    talk.say("assistant", [*inside, *call("late")])
    assert not talk.context().reduced
    talk.say("user", result("late", "b" * 50_000))
    made = talk.context()
    assert actions(made) == {"m2": "preview"}  # the others have been sent


def test_what_was_sent_whole_stays_whole_and_a_preview_stays_the_same() -> None:
    talk = Talk()
    whole, cut = talk.use("a" * 40_000), talk.use("line\n" * 11_000)
    first = talk.context()
    talk.say("user", "And now?")
    lower = talk.context({"tool_result_budget": {"max_chars": 100, "group_chars": 100, "preview_chars": 10}})
    higher = talk.context({"tool_result_budget": {"max_chars": 1_000_000, "group_chars": 1_000_000}})
    for later in (lower, higher):
        assert output_of(later, whole) == "a" * 40_000
        assert output_of(later, cut) == output_of(first, cut)
        assert later.messages[:4] == first.messages


def test_a_new_result_is_judged_with_those_that_have_been_sent_and_these_stay() -> None:
    talk = Talk()
    ids = [f"p{n}" for n in range(5)]
    talk.say("assistant", call(*ids))
    for n in range(4):
        talk.say("user", result(f"p{n}", "x" * 50_000))
    talk.context()
    talk.say("user", result("p4", "y" * 10_000))
    assert actions(talk.context()) == {"m6": "preview"}


def test_what_could_not_be_read_before_is_judged_when_it_is() -> None:
    """A reader stops where older messages cannot be shown; what it has not read has not been sent."""
    talk = Talk()
    old = talk.use("a" * 60_000)
    talk.say("user", "Hello.")
    unread = Talk(talk.messages[2:])
    assert not unread.context().reduced
    read = Talk(talk.messages, unread.state).context()
    assert output_of(read, old).startswith("aaa") and len(output_of(read, old)) <= 2_000


def test_what_was_read_once_and_is_not_now_stays_judged() -> None:
    talk = Talk()
    whole = talk.use("a" * 40_000)
    talk.say("user", "Hello.")
    talk.context()
    talk.say("user", "Hello?")
    part = Talk(talk.messages[2:], talk.state)
    part.context()
    again = Talk(talk.messages, part.state).context({"tool_result_budget": {"max_chars": 3_000}})
    assert output_of(again, whole) == "a" * 40_000


def test_of_what_was_read_with_a_gap_only_the_end_has_been_judged() -> None:
    """The newest user message may be read alone, with nothing of what came after it."""
    talk = Talk()
    talk.say("user", "Go on.")
    old = talk.use("a" * 60_000)
    talk.use("b")
    gap = Talk([talk.messages[0], *talk.messages[3:]])
    gap.context()
    assert (gap.state.sent_from, gap.state.sent_through) == (4, 5)
    assert len(output_of(Talk(talk.messages, gap.state).context(), old)) <= 2_000


def test_a_tool_message_is_a_result_too() -> None:
    talk = Talk()
    talk.say("assistant", call("c"))
    seq = talk.say("tool", "z" * 50_001)["seq"]
    made = talk.context()
    assert len(output_of(made, seq)) <= 2_000
    assert made.messages[1]["role"] == "tool"
