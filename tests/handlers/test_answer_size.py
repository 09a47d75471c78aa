"""How long an answer gets: Lambda takes 6 MB of JSON, in which the body is a string once more."""

import json

import pytest

from tests.handlers.service import Client

LAMBDA_BYTES = 6 * 1024 * 1024


@pytest.mark.parametrize("character", ["ж", "語", "😀", '"', "a", "\x01"])
def test_a_log_in_any_script_fits_into_an_answer(alice: Client, character: str) -> None:
    long = character * (1_000_000 // len(json.dumps(character, ensure_ascii=False)[1:-1].encode()))
    for _ in range(4):
        assert alice.append("s", long).status == 200
    answer = alice.get("/sessions/s/messages")
    assert answer.status == 200
    assert [message["seq"] for message in answer.result][:2] == [1, 2]
    assert answer.result[0]["content"] == long
    assert len(json.dumps({"body": answer.text}, ensure_ascii=False).encode()) < LAMBDA_BYTES


def test_text_is_answered_as_it_was_written(alice: Client) -> None:
    alice.append("s", "我住在北京 😀")
    assert "我住在北京 😀" in alice.get("/sessions/s/messages").text
