from hypothesis import given, settings
from hypothesis import strategies as st

from strandline.domain.working_memory.excerpts import OUTPUT_CHARS, both_ends, excerpt, excerpts, ranges
from strandline.domain.working_memory.thresholds import safe_ends
from tests.unit.working_memory.stored import Stored, assistant, call, log, result, user


def test_an_excerpt_says_what_was_said_asked_and_answered() -> None:
    asked, answered = log(
        call("bash", "a", "Let me look.", command="ls -F", timeout=5), result("a", "x\ny", "error", "bash")
    )
    assert excerpt(asked).text == "Let me look.\n[call bash] ls -F"
    assert excerpt(answered).text == "[result bash failed] x\ny"


def test_of_a_long_output_the_beginning_and_the_end_are_shown() -> None:
    (answered,) = log(result("a", "begin" + "x" * 50_000 + "the end"))
    text = excerpt(answered).text
    assert len(text) < OUTPUT_CHARS + 30
    assert "begin" in text
    assert text.endswith("the end")


def test_a_long_range_is_read_in_several() -> None:
    said = log(*[user("word " * 200) for _ in range(50)])  # 251 tokens and 30 for what stands around each
    found = ranges(said, 3_000)
    assert [(r[0]["seq"], r[-1]["seq"]) for r in found] == [(1, 10), (11, 20), (21, 30), (31, 40), (41, 50)]


def test_a_range_is_not_parted_between_a_call_and_its_result() -> None:
    said = log(
        user("word " * 200), call("x", "a", "word " * 200), result("a", "ok"), assistant("word " * 200)
    )
    assert [[m["seq"] for m in part] for part in ranges(said, 590)] == [[1], [2, 3], [4]]
    assert ranges([], 600) == []


def test_very_many_messages_before_a_result_are_shown_in_part() -> None:
    said = log(call("x", "a"), *[user("word " * 50) for _ in range(190)], result("a", "ok"))
    assert len(ranges(said, 2_000)) == 1
    shown = excerpts(said, 2_000)
    assert sum(each.tokens for each in shown) <= 2_000
    assert (shown[0].seq, shown[-1].seq) == (1, 192)


MESSAGE = st.one_of(
    st.builds(user, st.text(alphabet="a b漢", max_size=3_000)),
    st.builds(call, st.just("x"), st.sampled_from("abc"), st.text(max_size=20)),
    st.builds(result, st.sampled_from("abc"), st.text(max_size=2_000)),
)


@given(st.lists(MESSAGE, max_size=40))
@settings(max_examples=150, deadline=None)
def test_every_message_is_in_one_range_and_what_is_read_is_capped(messages: list[Stored]) -> None:
    said = log(*messages)
    found = ranges(said, 1_500)
    assert [m for part in found for m in part] == list(said)
    assert all(sum(e.tokens for e in excerpts(part, 1_500)) <= 1_500 for part in found)
    assert {part[-1]["seq"] for part in found[:-1]} <= set(safe_ends(said))


def test_both_ends() -> None:
    assert both_ends("abcdefghij", 10) == "abcdefghij"
    assert both_ends("abcdefghijk", 10) == "abcdef…ijk"
