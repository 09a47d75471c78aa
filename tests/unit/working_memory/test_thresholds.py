from strandline.domain.working_memory.thresholds import ABANDONED, due, safe_end, safe_ends
from tests.unit.working_memory.stored import assistant, call, log, result, user

TALK = log(*[user("x", tokens=1_000) for _ in range(10)])


def test_the_first_document_is_due_at_ten_thousand_tokens() -> None:
    assert due(TALK, since=0) == 10
    assert due(TALK[:9], since=0) is None


def test_the_next_one_at_five_thousand() -> None:
    assert due(TALK, since=5) == 10
    assert due(TALK, since=6) is None
    assert due(TALK, since=10) is None
    assert due([], since=0) is None


def test_tools_at_work_are_interrupted_after_three_calls_only() -> None:
    work = [call("bash", "a"), result("a", "ok")]
    two = log(user("go", tokens=10_000), *work, call("bash", "b"), result("b", "ok"))
    assert due(two, since=0) is None
    assert due([*two, *log(call("bash", "c"), result("c", "ok"), first=6)], since=0) == 7
    assert due([*two, *log(assistant("Done."), first=6)], since=0) == 6


def test_it_never_ends_on_an_open_call() -> None:
    open_call = log(user("go", tokens=10_000), assistant("I will."), call("bash", "a"))
    assert due(open_call, since=0) == 2
    assert safe_end(log(call("bash", "a"))) == 0
    parallel = log(call("x", "a"), call("x", "b"), result("a", "1"), user("hm"), result("b", "2"))
    assert safe_end(parallel[:4]) == 0
    assert safe_ends(parallel) == [5]


def test_a_call_that_nobody_answers_is_not_waited_for_for_ever() -> None:
    lost = log(call("x", "a"), *[user("hm") for _ in range(ABANDONED + 5)])
    assert safe_end(lost[:ABANDONED]) == 0
    assert safe_end(lost) == ABANDONED + 6
    later = log(call("x", "a"), user("hm", created_at="2024-03-06T11:15:00.000Z"))
    assert safe_end(later) == 2


def test_a_call_whose_result_is_in_the_same_part_is_not_open() -> None:
    both = call("bash", "a")
    both["parts"][0]["tool_output"] = "ok"
    assert safe_ends(log(user("go"), both)) == [1, 2]
