"""Logged runs of tau-bench and tau2-bench: each a session that ends with how it was judged."""

import json
from pathlib import Path
from typing import Any

import pytest

from strandline_sdk.importers import InputError, read_sessions

CALL = {"id": "c1", "type": "function", "function": {"name": "cancel", "arguments": '{"id": "R1"}'}}
RUN: dict[str, Any] = {
    "task_id": 7,
    "trial": 2,
    "reward": 1.0,
    "info": {"reward_info": {"info": {"r_actions": 1.0, "r_outputs": 0.0}}},
    "traj": [
        {"role": "system", "content": "Be polite."},
        {"role": "user", "content": "Cancel R1."},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "name": "cancel", "content": "done"},
    ],
}


def sessions(path: Path, value: Any) -> list[Any]:
    path.write_text(json.dumps(value), encoding="utf-8")
    return list(read_sessions(path))


def test_a_run_names_its_case_and_how_it_was_judged(tmp_path: Path) -> None:
    (session,) = sessions(tmp_path / "gpt-airline.json", [RUN])
    assert session.session_id == "gpt-airline-task-7-2"
    assert [message["role"] for message in session.messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "system",
    ]
    assert session.messages[1]["metadata"] == {"case": {"name": "airline task 7"}}
    last = session.messages[-1]
    assert (last["content"], last["message_kind"]) == ("Evaluation: reward 1.", "evaluation")
    criteria = [{"name": "actions", "passed": True}, {"name": "outputs", "passed": False}]
    assert last["metadata"] == {"evaluation": {"passed": True, "score": 1.0, "criteria": criteria}}
    assert len(session.places) == len(session.messages)


def test_the_simulations_of_tau2(tmp_path: Path) -> None:
    call = {"id": "c1", "name": "cancel", "arguments": {"id": "R1"}, "requestor": "assistant"}
    simulation = {
        "id": "x",
        "task_id": "12",
        "trial": 0,
        "reward_info": {"reward": 0.0, "reward_breakdown": {"DB": 0.0}},
        "messages": [
            {"role": "user", "content": "Cancel R1.", "timestamp": "2026-05-08T07:00:00"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "id": "c1", "content": "Error: no such reservation", "error": True},
        ],
    }
    (session,) = sessions(tmp_path / "runs.json", {"info": {}, "tasks": [], "simulations": [simulation]})
    assert session.session_id == "runs-task-12-0"
    assert session.messages[0]["metadata"] == {"case": {"name": "runs task 12"}}
    (part,) = session.messages[2]["parts"]
    assert (part["tool_id"], part["tool_name"]) == ("c1", "cancel")
    judged = session.messages[-1]["metadata"]["evaluation"]
    assert judged == {"passed": False, "score": 0.0, "criteria": [{"name": "DB", "passed": False}]}


def test_a_file_gives_the_same_every_time(tmp_path: Path) -> None:
    assert sessions(tmp_path / "a.json", [RUN]) == sessions(tmp_path / "a.json", [RUN])


@pytest.mark.parametrize("reward", ["1", None, True])
def test_a_reward_that_is_no_number(tmp_path: Path, reward: Any) -> None:
    with pytest.raises(InputError, match="reward: must be a number"):
        sessions(tmp_path / "a.json", [{**RUN, "reward": reward}])
