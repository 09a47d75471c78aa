import json
from pathlib import Path
from typing import Any

import pytest

from strandline_sdk.importers import ImportedSession, InputError, read_sessions

AT = "2025-06-14T10:00:00.250Z"


def line(uuid: str, content: Any, kind: str = "user", session: str = "s1", **fields: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content}
    chain = {"uuid": uuid, "parentUuid": None, "isSidechain": False, "sessionId": session}
    return {"type": kind, "timestamp": AT, **chain, "message": message, **fields}


def sessions(tmp_path: Path, *lines: dict[str, Any], format_name: str | None = None) -> list[ImportedSession]:
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return list(read_sessions(path, format_name))


def ids(tmp_path: Path, *lines: dict[str, Any]) -> list[str]:
    return [message["id"] for session in sessions(tmp_path, *lines) for message in session.messages]


def test_uuids_times_and_roles_are_kept(tmp_path: Path) -> None:
    (session,) = sessions(
        tmp_path, line("u1", "hello"), line("u2", [{"type": "text", "text": "hi"}], "assistant")
    )
    assert (session.session_id, session.conversation) == ("s1", "s1")
    assert session.messages == [
        {"id": "u1", "role": "user", "content": "hello", "created_at": AT},
        {"id": "u2", "role": "assistant", "parts": [{"type": "text", "text": "hi"}], "created_at": AT},
    ]
    assert [str(place) for place in session.places] == [f"{tmp_path / 'log.jsonl'}, line {n}" for n in (1, 2)]


def test_a_tool_and_its_result_share_id_and_name(tmp_path: Path) -> None:
    use = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "a\nb", "is_error": False}
    (session,) = sessions(
        tmp_path,
        line("u0", "list"),
        line("u1", [use], "assistant"),
        line("u2", [result], toolUseResult={"stdout": "a\nb"}),
    )
    asked, answered = (message["parts"][0] for message in session.messages[1:])
    assert asked == {
        "type": "tool", "tool_id": "toolu_1", "tool_name": "Bash", "tool_input": {"command": "ls"},
        "tool_status": "pending",
    }  # fmt: skip
    assert answered == {
        "type": "tool", "tool_id": "toolu_1", "tool_name": "Bash", "tool_output": "a\nb", "tool_status": "completed",
    }  # fmt: skip
    assert session.messages[2]["role"] == "tool"


@pytest.mark.parametrize(
    "unsaid",
    [
        {"type": "summary", "summary": "Pottery", "leafUuid": "u1"},
        {"type": "system", "uuid": "x", "content": "compacted", "sessionId": "s1"},
        {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}},
        line("x", "I search for glazes.", isSidechain=True),
        line("x", "Caveat: the messages below", isMeta=True),
        line("x", "This session is being continued", isCompactSummary=True),
        line("x", "API Error: 529", "assistant", isApiErrorMessage=True),
        line("x", "<command-name>/clear</command-name>"),
        line("x", "<local-command-stdout></local-command-stdout>"),
        line("x", [{"type": "thinking", "thinking": "Hm."}], "assistant"),
    ],
)
def test_what_nobody_said_is_passed_over(tmp_path: Path, unsaid: dict[str, Any]) -> None:
    assert ids(tmp_path, unsaid, line("u1", "hello"), unsaid, line("u2", "hi", "assistant")) == ["u1", "u2"]


def test_one_session_per_session_id_wherever_its_lines_stand(tmp_path: Path) -> None:
    found = sessions(tmp_path, line("a1", "x"), line("b1", "x", session="s2"), line("a2", "y"))
    assert [(s.session_id, [m["id"] for m in s.messages]) for s in found] == [
        ("s1", ["a1", "a2"]),
        ("s2", ["b1"]),
    ]


def test_a_log_that_has_grown_keeps_the_ids(tmp_path: Path) -> None:
    before = ids(tmp_path, line("u1", "x"), line("u2", "y"))
    assert ids(tmp_path, line("u1", "x"), line("u2", "y"), line("u3", "z"))[:2] == before


def test_several_results_of_a_line_have_ids_of_their_own(tmp_path: Path) -> None:
    results = [{"type": "tool_result", "tool_use_id": f"t{n}", "content": "x"} for n in range(3)]
    assert ids(tmp_path, line("u1", "x"), line("u2", results)) == ["u1", "u2", "u2-2", "u2-3"]


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        ({**line("u2", "x"), "uuid": None}, r"line 2: 'uuid' must be a string of 1 to 200 characters"),
        ({**line("u2", "x"), "sessionId": ""}, r"line 2: 'sessionId' must be a non-empty string"),
        ({**line("u2", "x"), "timestamp": "soon"}, r"line 2, timestamp: 'soon' is no time"),
        ({**line("u2", "x"), "message": "x"}, r"line 2: must be an object whose 'role'"),
        (line("u2", [{"type": "hologram"}]), r"line 2, block 1: cannot import type 'hologram'"),
        ({"uuid": "x"}, r"line 2: no line of a session log"),
    ],
)
def test_bad_lines_are_reported(tmp_path: Path, bad: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        sessions(tmp_path, line("u1", "x"), bad)


@pytest.mark.parametrize(
    "unsaid",
    [
        {"type": "summary", "summary": "x", "leafUuid": "u"},
        {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}},
        line("x", "I search for glazes.", isSidechain=True),
    ],
)
def test_a_log_in_which_nothing_was_said_is_one_all_the_same(tmp_path: Path, unsaid: dict[str, Any]) -> None:
    assert sessions(tmp_path, unsaid, unsaid) == []
