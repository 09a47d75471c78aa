"""No result without its call; a call that nothing answers yet is fine. (B-D2)"""

import pytest

from strandline.domain.compaction.assembly import Left
from strandline.domain.compaction.orphans import LEFT_OUT
from strandline.domain.compaction.pairs import find
from tests.unit.compaction.talk import Message, Talk, call, result


def links(*bodies: tuple[str, str | list[Message]]) -> list[tuple[int, int]]:
    """Which messages answer which, by their seqs."""
    talk = Talk()
    for role, body in bodies:
        talk.say(role, body)
    found = find(talk.messages)
    assert not found.orphans
    return [(talk.messages[a]["seq"], talk.messages[b]["seq"]) for a, b in found.links]


def test_by_id() -> None:
    assert links(
        ("assistant", call("a", "b")),
        ("user", result("b", "out")),
        ("user", result("a", "out")),
        ("assistant", call("open")),
    ) == [(1, 2), (1, 3)]


def test_an_intermediate_result_does_not_end_it() -> None:
    assert links(
        ("assistant", call("a")),
        ("user", result("a", "10 %")),
        ("assistant", "Still running."),
        ("user", result("a", "done")),
    ) == [(1, 2), (1, 4)]


def test_an_id_may_be_used_again() -> None:
    assert links(
        ("assistant", call("a")),
        ("user", result("a", "one")),
        ("assistant", call("a")),
        ("user", result("a", "two")),
    ) == [(1, 2), (3, 4)]


def test_of_two_open_calls_with_one_id_the_older_is_answered_first() -> None:
    assert links(
        ("assistant", call("a")),
        ("assistant", call("a")),
        ("user", result("a", "one")),
        ("user", result("a", "two")),
    ) == [(1, 3), (2, 4)]


def test_by_position_where_ids_are_missing() -> None:
    """X32."""
    assert links(
        ("assistant", call("", "")),
        ("user", result("", "one")),
        ("user", result("", "two")),
    ) == [(1, 2), (1, 3)]
    assert links(("assistant", call("abandoned")), ("assistant", call("a")), ("tool", "out")) == [(2, 3)]
    assert links(("assistant", call("")), ("user", result("x", "out"))) == [(1, 2)]


def test_a_call_and_its_result_in_one_part() -> None:
    assert links(("assistant", result("a", "out")), ("assistant", result("a", "out"))) == []
    assert links(("user", [{**result("a", "out")[0], "tool_input": {"q": 1}}])) == []


def test_a_call_that_the_assistant_itself_completes() -> None:
    assert links(("assistant", call("a")), ("assistant", result("a", "out"))) == [(1, 2)]


def test_an_answer_without_an_output_belongs_to_its_call() -> None:
    failed = [{"type": "tool", "tool_id": "a", "tool_name": "Read", "tool_status": "error"}]
    assert links(("assistant", call("a")), ("user", failed)) == [(1, 2)]
    texts = [*failed, {"type": "text", "text": "It did not work."}]
    assert links(("assistant", call("a", "b")), ("tool", texts)) == [(1, 2), (1, 2)]


def test_all_texts_of_a_tool_message_answer_one_call() -> None:
    texts = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    talk = Talk()
    talk.say("assistant", [*call("a", tool="Read"), *call("b", tool="Bash")])
    talk.say("tool", texts)
    talk.say("tool", "three")
    assert [(each.place, each.tool) for each in find(talk.messages).results] == [
        ((2, 0), "Read"),
        ((2, 1), "Read"),
        ((3, None), "Bash"),
    ]


def test_the_text_of_a_tool_message_answers_the_call_that_a_part_of_it_names() -> None:
    talk = Talk()
    talk.say("assistant", [*call("a", tool="Read"), *call("b", tool="Bash")])
    talk.say("tool", [{"type": "tool", "tool_id": "b", "tool_name": ""}, {"type": "text", "text": "out"}])
    assert [(each.place, each.tool) for each in find(talk.messages).results] == [((2, 1), "Bash")]


@pytest.mark.parametrize("role", ["user", "tool"])
def test_a_result_without_a_call_is_not_shown(role: str) -> None:
    talk = Talk()
    talk.say(role, result("nobody", "out"))
    talk.say("user", "Hello.")
    made = talk.context(window=1_000)
    assert [message["seq"] for message in made.messages] == [2]
    assert made.left == [Left(1, 1, "result_without_call")]
    assert made.estimate.tokens == 5


def test_nor_is_one_before_its_call_or_what_a_tool_says_unasked() -> None:
    talk = Talk()
    talk.say("tool", "out")
    talk.say("user", result("a", "out"))
    talk.say("assistant", call("a"))
    assert talk.context(window=1_000).left == [Left(1, 2, "result_without_call")]


def test_what_else_is_in_its_message_stays() -> None:
    talk = Talk()
    talk.say("user", [{"type": "text", "text": "Look."}, *result("nobody", "out" * 9)])
    made = talk.context(window=1_000)
    assert [part["text"] for part in made.messages[0]["parts"]] == ["Look.", LEFT_OUT]
    assert (made.cut, made.left) == ({1: 27}, [])
    assert made.tokens == 4 + 1 + len(LEFT_OUT.split())
    assert len(talk.messages[0]["parts"]) == 2 and talk.messages[0]["parts"][1]["tool_output"] == "out" * 9


def test_messages_without_anything_in_them_are_tolerated() -> None:
    """X27."""
    talk = Talk()
    for empty in ({"parts": []}, {"parts": None}, {"content": None}, {}):
        message = talk.say("assistant", "")
        del message["content"]
        message |= empty
    assert len(talk.context(window=100).messages) == 4
