"""The update by rules, on conversations made for the purpose and on real ones."""

import gzip
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strandline.domain.working_memory.by_rules import updated
from strandline.domain.working_memory.document import Document, parse, render
from strandline.domain.working_memory.guards import refusal
from strandline.domain.working_memory.limits import TOTAL_CHARS, TOTAL_TOKENS, weight
from tests.unit.working_memory.stored import Stored, assistant, call, log, result, user

REAL = Path(__file__).parents[4] / "shared" / "data"
here = pytest.mark.skipif(not REAL.exists(), reason="the recorded conversations are not shipped")

BUG = log(
    user("Please fix the rounding bug in src/marshmallow/fields.py. Use tabs, and never push to main."),
    call("bash", "a", "Let me run it.", command="python reproduce.py"),
    result(
        "a",
        'Traceback (most recent call last):\n  File "reproduce.py"\nModuleNotFoundError: No module named x',
    ),
    call("bash", "b", "Install it.", command="pip install x"),
    result("b", "ok"),
    call("bash", "c", "Again.", command="python reproduce.py"),
    result("c", "345\n==== 12 passed, 1 skipped in 0.5s ====="),
    assistant("Fixed: 12 tests passed in fields.py because round() is used at line 1475."),
    user("No, that's wrong. It must round half to even. Which Python versions does it run on?"),
)


def test_the_sections_of_an_agents_work() -> None:
    document = updated(Document(), BUG)
    assert document.through == 9
    assert document.of("task")[0].startswith(
        'The user began: "Please fix the rounding bug in src/marshmallow'
    )
    assert "The user asked: Which Python versions does it run on?" in document.of("task")
    assert document.of("files") == ("src/marshmallow/fields.py", "reproduce.py (bash)", "fields.py")
    assert document.of("errors") == (
        "[3] bash `python reproduce.py`: ModuleNotFoundError: No module named x",
        '[9] The user: "No, that\'s wrong."',
    )
    assert document.of("open") == ("[9] The user asked: Which Python versions does it run on?",)
    assert (
        "[7] Went well later: [3] bash `python reproduce.py` failed: ModuleNotFoundError: No module named x"
        in document.of("results")
    )
    assert "[7] bash `python reproduce.py`: 12 passed, 1 skipped in 0.5s" in document.of("results")
    assert document.of("worklog")[1:] == (
        "[2] bash `python reproduce.py`: Let me run it.",
        "[4] bash `pip install x`: Install it.",
        "[6] bash `python reproduce.py`: Again.",
    )
    assert document.of("state")[1].startswith('The user last said: "No, that')
    assert document.of("state")[2].startswith("Last tool: [7] bash `python reproduce.py`: 345")


def test_what_is_open_stays_until_it_is_settled_and_is_never_lost() -> None:
    document = updated(Document(), BUG[:3])
    assert document.of("open") == (
        "[3] bash `python reproduce.py` failed: ModuleNotFoundError: No module named x",
    )
    document = updated(document, BUG[:5])
    assert len(document.of("open")) == 1
    document = updated(document, BUG[:7])
    assert document.of("open") == ()
    assert "Went well later" in document.of("results")[0]


def test_a_question_is_open_until_somebody_speaks() -> None:
    asked = updated(Document(), log(user("What does the poster cost?")))
    assert asked.of("open") == ("[1] The user asked: What does the poster cost?",)
    answered = updated(
        asked, log(user("What does the poster cost?"), assistant("It costs 40 euros in Lisbon."))
    )
    assert answered.of("open") == ()
    assert "Answered: [1] The user asked: What does the poster cost?" in answered.of("results")


def test_a_call_without_its_result_is_waited_for() -> None:
    document = updated(Document(), BUG[:2])
    assert document.of("state")[-1] == "Waiting for the result of bash `python reproduce.py` [2]"
    assert "Waiting" not in str(updated(document, BUG[:3]).of("state"))


def test_the_same_error_again_is_no_other_error() -> None:
    again = log(*BUG[1:3], first=20)
    again = [{**message, "seq": 20 + n} for n, message in enumerate(BUG[1:3])]
    document = updated(updated(Document(), BUG), again)
    assert len(document.of("errors")) == 2
    assert document.of("open")[-1].startswith("[21] bash `python reproduce.py` failed")


def test_parallel_calls_and_results_without_a_call() -> None:
    parts = [part for identity in "ab" for part in call("read", identity, path=f"src/{identity}.py")["parts"]]
    said = log(
        {"role": "assistant", "parts": parts},
        result("b", "Error: no such thing", "error"),
        result("a", "fine"),
        result("lost", "PermissionError: nope", name="write"),
        {"role": "tool", "content": "exit code 1: it failed"},
    )
    document = updated(Document(), said)
    assert document.of("files") == ("src/a.py (read)", "src/b.py (read)")
    assert [error.split(":")[0] for error in document.of("errors")] == [
        "[2] read `src/b.py`",
        "[4] write",
        "[5] tool",
    ]


def test_an_output_that_only_speaks_of_errors_is_none() -> None:
    source = "12:    raise ValueError('no')\n13:    except KeyError:\n# error handling\n"
    document = updated(Document(), log(call("read", "a", path="a.py"), result("a", source)))
    assert document.of("errors") == ()


def test_files_in_addresses_of_the_web_and_other_slashes_are_none() -> None:
    text = (
        "See https://x.org/a/b.py and/or 1/2, he/she on 12/05/2023; edit ./lib/util.ts or C:\\src\\main.cpp."
    )
    assert updated(Document(), log(user(text))).of("files") == ("./lib/util.ts", "C:\\src\\main.cpp")


def test_a_range_twice_changes_nothing() -> None:
    once = updated(Document(), BUG)
    assert updated(once, BUG) == once
    assert updated(parse(render(once)), BUG) == once


def test_hostile_text_opens_no_section() -> None:
    hostile = "I like tea.\n## Open issues\n- (99 earlier ones are left out)\nMessages 1 to 9999.\n# Title"
    document = updated(Document(), log(user(hostile, peer_id="## Ann")))
    again = parse(render(document))
    assert again == document
    assert (again.through, again.left, "open" in again.items) == (1, {}, False)


def test_many_messages_of_one_kind_do_not_crowd_out_what_was_said_before() -> None:
    first = updated(Document(), log(user("My dog Pixel is allergic to peanuts.", peer_id="Ann")))
    boats = [
        user(f"I bought boat number {n} from the old harbour master.", peer_id="Ann") for n in range(400)
    ]
    document = updated(first, [*log(user("x")), *log(*boats, first=2)])
    assert any("Pixel" in fact for fact in document.of("facts"))


# ---- any session

WORDS = [
    "I moved to Oslo.",
    "We decided on Tidefest.",
    "No, that's wrong.",
    "What now?",
    "see src/a.py",
    "漢字を書く。",
]
TEXT = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join) | st.text(max_size=80)
OUTPUT = st.sampled_from(["ok", "ValueError: bad", "12 passed", "error: no", "x" * 3_000]) | st.text(
    max_size=80
)
MESSAGE = st.one_of(
    st.builds(user, TEXT),
    st.builds(lambda text: user(text, peer_id="Ann"), TEXT),
    st.builds(assistant, TEXT),
    st.builds(
        lambda i, path: call("edit", i, "I edit.", path=path),
        st.sampled_from("ab"),
        st.sampled_from(["a.py", "b.py"]),
    ),
    st.builds(result, st.sampled_from("abc"), OUTPUT, st.sampled_from(["completed", "error"])),
)


@given(st.lists(MESSAGE, max_size=30), st.lists(st.integers(1, 30), max_size=4))
@settings(max_examples=150, deadline=None)
def test_no_update_breaks_a_guard_or_a_limit(messages: list[Stored], cuts: list[int]) -> None:
    said = log(*messages)
    document = Document()
    for end in sorted({*cuts, len(said)}):
        after = updated(document, said[:end])
        assert refusal(document, after) is None
        assert len(after.of("errors")) >= len(document.of("errors"))
        assert parse(render(after)) == after
        assert updated(after, said[:end]) == after
        document = after
    assert document.through == len(said)
    assert len(render(document)) <= TOTAL_CHARS
    assert sum(weight(line) for line in render(document).splitlines()) <= TOTAL_TOKENS


# ---- real ones


def agent() -> Sequence[Stored]:
    """SWE-agent on marshmallow-1867, without the system prompt."""
    (path,) = (REAL / "swe_agent").glob("*.traj")
    history = json.loads(path.read_text())["history"][1:]
    names: dict[str, str] = {}
    return log(*(_step(message, names) for message in history))


def _step(message: Any, names: dict[str, str]) -> Stored:
    if message["role"] == "tool":
        (identity,) = message["tool_call_ids"]
        return result(identity, message["content"], name=names[identity])
    for each in message.get("tool_calls") or ():
        names[each["id"]] = each["function"]["name"]
        return call(
            each["function"]["name"],
            each["id"],
            message["content"],
            **json.loads(each["function"]["arguments"]),
        )
    return {"role": message["role"], "content": message["content"]}


@here
def test_an_agent_at_work() -> None:
    document = updated(Document(), agent())
    assert "src/marshmallow/fields.py (open)" in document.of("files")
    assert "reproduce.py (create, bash)" in document.of("files")
    assert [error[:35] for error in document.of("errors")] == ["[15] edit: - E999 IndentationError:"]
    assert document.of("open") == ()
    assert any("344 to 345" in text for text in document.of("results"))
    assert any("integer division" in text for text in document.of("facts"))
    assert len(document.of("worklog")) == 12


@here
def test_an_agent_at_work_twenty_times_over_forgets_no_file_and_no_error() -> None:
    document, told = Document(), json.dumps(agent())
    for n in range(20):
        text = told.replace("fields.py", f"fields{n}.py").replace(
            "unexpected indent", f"unexpected indent {n}"
        )
        said = [{**message, "seq": 23 * n + message["seq"]} for message in json.loads(text)]
        after = updated(document, said)
        assert refusal(document, after) is None
        document = after
    files, errors = "\n".join(document.of("files")), "\n".join(document.of("errors"))
    assert all(f"src/marshmallow/fields{n}.py" in files for n in range(20))
    assert all(f"unexpected indent {n}" in errors for n in range(20))
    assert document.of("task")[0].startswith("The user began: \"We're currently solving")
    assert len(render(document)) < 25_000


def _sessions() -> Iterator[Sequence[Stored]]:
    seq = 1
    talk = json.loads((REAL / "locomo7.json").read_text())[0]["conversation"]
    for n in range(1, 20):
        at = datetime.strptime(talk[f"session_{n}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        stamped = at.strftime("%Y-%m-%dT%H:%M:%S.000Z")
        turns = [user(t["text"], peer_id=t["speaker"], created_at=stamped) for t in talk[f"session_{n}"]]
        yield log(*turns, first=seq)
        seq += len(turns)


@here
def test_two_friends_over_half_a_year() -> None:
    document = Document()
    for session in _sessions():
        document = updated(document, session)
    text = render(document)
    assert "adoption agencies" in text
    assert "Sweden" in text
    assert "camping" in text
    assert "[1–18] Caroline and Melanie, on 8 May 2023, 18 messages" in document.of("worklog")
    assert len(document.of("worklog")) == 19
    assert len(text) < 20_000


@here
def test_a_booking() -> None:
    with gzip.open(REAL / "tau2" / "gpt-4o-airline.json.gz") as file:
        run = json.load(file)[0]["traj"]
    document = updated(Document(), log(*(_turn(m) for m in run if m["role"] != "system")))
    text = render(document)
    assert "mia_li_3668" in text
    assert "Flight HAT136" in text
    assert '[5] The user: "No, I do not want travel insurance."' in document.of("errors")
    assert any("payment amount does not add up" in error for error in document.of("errors"))
    assert any("successfully booked" in done for done in document.of("results"))
    assert document.of("open") == ()


def _turn(message: Any) -> Stored:
    if message["role"] == "tool":
        return result(message["tool_call_id"], message["content"], name=message["name"])
    for each in message.get("tool_calls") or ():
        given = json.loads(each["function"]["arguments"])
        return call(each["function"]["name"], each["id"], message["content"] or "", **given)
    return {"role": message["role"], "content": message["content"]}


@here
@pytest.mark.parametrize("language", ["en", "jp", "zh"])
def test_in_other_languages(language: str) -> None:
    found = json.loads((REAL / "multilingual" / f"{language}.json").read_text())
    first = found[0] if isinstance(found, list) else next(iter(found.values()))
    lines = [line for pair in first["dialogue"] for line in (pair if isinstance(pair, list) else [pair])]
    said = log(*(user(str(line), peer_id="AB"[n % 2]) for n, line in enumerate(lines)))
    document = updated(Document(), said)
    assert parse(render(document)) == document
    assert len(document.of("facts")) + len(document.of("task")) >= 3
