"""The hard cap: never over, nothing parted, and the newest user message in. (B-D2, B-D9)"""

import pytest

from strandline.domain.compaction.assemble import assemble
from strandline.domain.compaction.assembly import Assembled, Left
from strandline.domain.compaction.orphans import LEFT_OUT
from strandline.domain.compaction.state import ContextState
from tests.unit.compaction.talk import Talk, actions, call, output_of, result, words


def seqs(made: Assembled) -> list[int]:
    return [message["seq"] for message in made.messages]


def ten_each(talk: Talk, *roles: str) -> None:
    """Messages of 6 words: 10 tokens each with what a message costs."""
    for role in roles:
        talk.say(role, "one two three four five six")


def test_what_just_fits_is_whole_and_one_token_less_costs_the_oldest() -> None:
    talk = Talk()
    ten_each(talk, "user", "assistant", "user", "assistant")
    made = talk.context(window=40)
    assert (seqs(made), made.tokens, made.left) == ([1, 2, 3, 4], 40, [])
    made = talk.context(window=39)
    assert (seqs(made), made.tokens, made.left) == ([2, 3, 4], 30, [Left(1, 1, "over_budget")])
    assert made.estimate.tokens == 40


def test_what_is_beside_the_messages_counts() -> None:
    talk = Talk()
    ten_each(talk, "user", "assistant", "user")
    assert seqs(talk.context(window=37, beside=7)) == [1, 2, 3]
    made = talk.context(window=37, beside=8)
    assert (seqs(made), made.tokens, made.estimate.tokens) == ([2, 3], 28, 38)


def test_max_output_and_reserved_are_off_the_room() -> None:
    talk = Talk()
    ten_each(talk, "user", "user", "user")
    assert seqs(talk.context(window=50, max_output=11, reserved=9)) == [1, 2, 3]
    assert seqs(talk.context(window=50, max_output=11, reserved=10)) == [2, 3]


def test_a_call_goes_with_its_result_and_the_user_stays() -> None:
    talk = Talk()
    talk.say("user", "Look it up.")
    for _ in range(3):
        talk.use("out " * 10, tool="Deploy")
    needed = talk.context(window=10_000).estimate.tokens
    made = talk.context(window=needed - 1)
    assert seqs(made) == [1, 4, 5, 6, 7]
    assert made.left == [Left(2, 3, "over_budget")]


def test_parallel_calls_and_all_their_results_go_together() -> None:
    talk = Talk()
    talk.say("user", "Do both.")
    talk.say("assistant", call("a", "b"))
    talk.say("user", result("a", "out"))
    talk.say("user", "And be quick.")
    talk.say("user", result("b", "out"))
    talk.say("assistant", "Done.")
    full = talk.context(window=10_000).estimate.tokens
    assert seqs(talk.context(window=full - 1)) == [2, 3, 4, 5, 6]  # the oldest first
    made = talk.context(window=full - 8)
    assert seqs(made) == [4, 6]
    assert made.left == [Left(1, 3, "over_budget"), Left(5, 5, "over_budget")]


def test_a_late_result_does_not_hold_what_is_between_it_and_its_call() -> None:
    talk = Talk()
    talk.say("assistant", call("slow"))
    ten_each(talk, "user", "assistant", "user")
    talk.say("user", result("slow", "out"))
    made = talk.context(window=30)
    assert seqs(made) == [2, 3, 4]
    assert made.left == [Left(1, 1, "over_budget"), Left(5, 5, "over_budget")]


def test_an_old_user_message_outlives_all_work_that_came_after_it() -> None:
    talk = Talk()
    ten_each(talk, "user", "user")
    ten_each(talk, *["assistant"] * 9)
    assert seqs(talk.context(window=45)) == [2, 9, 10, 11]


def test_the_newest_user_message_alone_is_whole_as_long_as_it_fits() -> None:
    talk = Talk()
    ten_each(talk, "user", "assistant")
    talk.say("user", "word " * 50)
    made = talk.context(window=54)
    assert (seqs(made), made.messages[0]["content"], made.cut) == ([3], "word " * 50, {})


def test_then_it_is_cut_and_marked_and_nothing_else_is_there() -> None:
    talk = Talk()
    ten_each(talk, "user")
    talk.say("user", "first " + "word " * 500 + "last")
    talk.say("assistant", "Hm.")
    made = talk.context(window=100)
    (message,) = made.messages
    text = message["content"]
    assert text.startswith("first word ") and text.endswith(" last")
    lost = made.cut[2]
    assert f"[… {lost} characters left out …]" in text
    kept = len(text) - len(f"[… {lost} characters left out …]")
    assert kept + lost == len(talk.messages[1]["content"])
    assert 70 <= made.tokens <= 100
    assert made.left == [Left(1, 1, "over_budget"), Left(3, 3, "over_budget")]
    assert (message["role"], message["id"], message["seq"]) == ("user", "m2", 2)


@pytest.mark.parametrize("window", range(1, 16))
def test_even_where_there_is_hardly_any_room(window: int) -> None:
    """A mark has six words and its message four tokens more; "…" is the least that may be said."""
    talk = Talk()
    talk.say("user", "word " * 500)
    made = talk.context(window=window)
    assert made.tokens <= window
    texts = [message["content"] for message in made.messages]
    if window >= 10:
        assert "characters left out" in texts[0]
    else:
        assert texts == (["…"] if window >= 5 else [])
    if window < 5:
        assert made.left == [Left(1, 1, "over_budget")]


def test_a_cut_message_is_filled_though_its_text_is_not_the_same_all_over() -> None:
    talk = Talk()
    talk.say("user", "x" * 3_000 + " word" * 1_000 + " " + "y" * 3_000)
    made = talk.context(window=200)
    assert 120 <= made.tokens <= 200


def test_a_cut_message_of_parts_keeps_its_texts_and_images() -> None:
    talk = Talk()
    image = {"type": "image_url", "image_url": {"url": "https://example.com/boat.png"}}
    body = [{"type": "text", "text": "begin"}, image, {"type": "text", "text": "word " * 500 + "end"}]
    body.append({"type": "context", "uri": "viking://user/u/memories/x.md", "abstract": "word " * 100})
    talk.say("user", body)
    made = talk.context(window=50)
    text, kept = made.messages[0]["parts"]
    assert kept == image
    assert text["text"].startswith("begin\nword") and text["text"].endswith("end")


def test_without_a_window_characters_are_capped() -> None:
    talk = Talk()
    for role in ("user", "assistant", "user"):
        talk.say(role, "x" * 100)
    caps = {"auto_compact": {"blocking_chars": 250, "trigger_chars": 240, "target_chars": 100}}
    assert seqs(talk.context(caps)) == [2, 3]
    assert seqs(talk.context(caps, beside_chars=51)) == [3]
    caps = {"auto_compact": {"blocking_chars": 60, "trigger_chars": 59, "target_chars": 1}}
    made = talk.context(caps)
    assert len(made.messages[0]["content"]) <= 60 and made.cut


def test_a_huge_result_after_the_newest_user_message_is_cut_to_stay() -> None:
    talk = Talk()
    ten_each(talk, "user")
    seq = talk.use("word " * 2_000, tool="Deploy")
    made = talk.context(window=600)
    assert seqs(made) == [1, 2, 3]
    assert actions(made) == {"m3": "preview"}
    assert output_of(made, seq).startswith("word word ")
    assert made.tokens <= 600
    assert made.estimate.tokens <= 600  # measured with the preview: so the next time it is the same
    assert talk.context(window=600) == made


def test_in_very_little_room_only_a_short_one_is_left_of_it() -> None:
    talk = Talk()
    ten_each(talk, "user")
    seq = talk.use("word " * 2_000, tool="Deploy")
    made = talk.context(window=60)
    assert seqs(made) == [1, 2, 3]
    assert len(output_of(made, seq)) < 200 and made.tokens <= 60


def test_as_much_is_left_of_it_as_there_is_room_for() -> None:
    talk = Talk()
    ten_each(talk, "user")
    seq = talk.use(
        "word " * 2_000, tool="Deploy"
    )  # 2,000 characters of it are about 390 tokens, 500 about 90
    made = talk.context(window=200)
    assert seqs(made) == [1, 2, 3]
    assert 400 <= len(output_of(made, seq)) <= 500


def test_what_takes_more_than_half_of_the_room_is_cut_also_when_there_is_newer_work() -> None:
    talk = Talk()
    ten_each(talk, "user")
    talk.use("word " * 2_000, tool="Deploy")
    ten_each(talk, "assistant")
    made = talk.context(window=600)
    assert seqs(made) == [1, 2, 3, 4] and actions(made) == {"m3": "preview"}


def test_a_huge_result_that_cannot_be_saved_is_left_out_and_undecided() -> None:
    talk = Talk()
    ten_each(talk, "user")
    talk.use("word " * 2_000, tool="Deploy")
    made = talk.context(window=20)
    assert seqs(made) == [1] and not made.reduced and not talk.state.decisions


def test_of_several_results_the_longest_are_cut_and_no_more_than_needed() -> None:
    talk = Talk()
    ten_each(talk, "user")
    talk.say("assistant", call("a", "b", "c", tool="Deploy"))
    talk.say("user", result("a", "word " * 300, "Deploy"))
    talk.say("user", result("b", "word " * 900, "Deploy"))
    talk.say("user", result("c", "word " * 100, "Deploy"))
    made = talk.context(window=900)
    assert actions(made) == {"m4": "preview"} and seqs(made) == [1, 2, 3, 4, 5]


def test_older_work_is_dropped_before_a_result_is_cut_and_older_results_are_not_cut() -> None:
    talk = Talk()
    talk.use("word " * 500, tool="Deploy")
    ten_each(talk, "user")
    talk.use("word " * 500, tool="Deploy")
    made = talk.context(window=700)
    assert seqs(made) == [3, 4, 5] and not made.reduced


def test_what_is_not_shown_is_not_among_the_decisions() -> None:
    talk = Talk()
    talk.use("word " * 15_000, tool="Deploy")
    ten_each(talk, "user")
    made = talk.context(window=20)
    assert seqs(made) == [3] and not made.reduced
    assert list(talk.state.decisions) == [(2, 0)]


def test_a_covered_user_message_that_is_shown_first_is_never_left_out() -> None:
    talk = Talk()
    ten_each(talk, "user", "assistant", "assistant")
    state = ContextState("life", generation=1, covered_through=2)
    made = assemble([talk.messages[0], talk.messages[2]], talk.ask(window=19), state, words)
    assert (seqs(made), made.left) == ([1], [Left(3, 3, "over_budget")])
    made = assemble([talk.messages[0], talk.messages[2]], talk.ask(window=4), state, words)
    assert (seqs(made), made.left) == ([], [Left(3, 3, "over_budget")])


def test_a_user_message_that_brings_a_result_stays_when_the_call_goes() -> None:
    talk = Talk()
    talk.say("assistant", [{"type": "text", "text": "word " * 100}, *call("a")])
    talk.say("user", [{"type": "text", "text": "Here it is."}, *result("a", "word " * 30)])
    made = talk.context(window=50)
    (message,) = made.messages
    assert [part["text"] for part in message["parts"]] == ["Here it is.", LEFT_OUT]
    assert made.cut == {2: 150}
    assert seqs(talk.context(window=500)) == [1, 2]


def test_stored_messages_are_shown_as_they_are() -> None:
    talk = Talk()
    ten_each(talk, "system", "user", "assistant")
    assert all(a is b for a, b in zip(talk.context(window=500).messages, talk.messages, strict=True))
