import os
from pathlib import Path
from typing import Any

import pytest

from strandline_sdk.importers import InputError
from strandline_sdk.importers.session_ids import accepted
from tests.unit.sdk.chats import HELLO, imported


@pytest.mark.parametrize(
    ("file", "session_id"),
    [
        ("a b.c.json", "a b.c-1-55a4510e"),
        ("窯.jsonl", "窯-1-55a4510e"),
        ("x" * 200, "x" * 119 + "-a45f6f9c"),
        (os.fsdecode(b"\xff.json"), "1-55a4510e-ccd594a4"),
    ],
)
def test_the_session_is_named_after_the_file(tmp_path: Path, file: str, session_id: str) -> None:
    assert imported(tmp_path, [HELLO], file)[0].session_id == session_id


def test_ids_depend_on_session_position_and_content_only(tmp_path: Path) -> None:
    (session,) = imported(tmp_path, [HELLO, HELLO])
    (again,) = imported(tmp_path, {"messages": [dict(reversed(HELLO.items())), HELLO]})
    assert [m["id"] for m in again.messages] == [m["id"] for m in session.messages]
    assert session.messages[0]["id"] == "000001-8078cfac6d3defe0"
    (other,) = imported(tmp_path, [HELLO, HELLO], name="other.json")
    ids = {m["id"] for m in session.messages} | {m["id"] for m in other.messages}
    assert len(ids) == 4


def test_a_longer_export_keeps_the_ids_of_what_was_there(tmp_path: Path) -> None:
    (short,) = imported(tmp_path, [HELLO])
    (longer,) = imported(tmp_path, [HELLO, HELLO])
    assert longer.session_id == short.session_id
    assert longer.messages[0] == short.messages[0]


@pytest.mark.parametrize(
    ("fields", "session_id"),
    [
        ({"id": "weekend", "session_id": "other"}, "weekend"),
        ({"id": None, "session_id": "s 1"}, "s 1"),
        ({"id": "", "conversation_id": 7}, "7"),
        ({"id": "a/b"}, accepted("a/b")),
    ],
)
def test_a_conversation_has_its_own_id(tmp_path: Path, fields: dict[str, Any], session_id: str) -> None:
    (session,) = imported(tmp_path, {**fields, "messages": [HELLO]})
    assert session.session_id == session.conversation == session_id


@pytest.mark.parametrize("odd", [True, 1.5, {"$oid": "1"}, ["a"]])
def test_an_id_that_is_none_is_reported(tmp_path: Path, odd: object) -> None:
    with pytest.raises(InputError, match=r"item 1, conversation_id: must be a string or a whole number"):
        imported(tmp_path, [{"conversation_id": odd, "messages": [HELLO]}])


def test_a_shared_system_prompt_makes_no_shared_session(tmp_path: Path) -> None:
    prompt = {"role": "system", "content": "You are a potter."}
    (first,) = imported(tmp_path, [prompt, HELLO])
    (other,) = imported(tmp_path, [prompt, {"role": "user", "content": "Which glaze is red?"}])
    (grown,) = imported(tmp_path, [prompt, HELLO, {"role": "assistant", "content": "Cobalt."}])
    assert first.session_id != other.session_id
    assert first.session_id == grown.session_id
