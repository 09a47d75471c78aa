import copy
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from strandline_sdk.importers import ImportedSession, InputError, read_sessions

SHARED = Path(__file__).parents[4] / "shared" / "data" / "locomo7.json"

TALK = {
    "sample_id": "talk-7",
    "conversation": {
        "speaker_a": "Mia",
        "speaker_b": "Ben Ito",
        "session_10_date_time": "12:05 am on 1 April, 2024",
        "session_10": [{"speaker": "Mia", "dia_id": "D10:1", "text": "Still up?"}],
        "session_2_date_time": "9:30 am on 2 March, 2024",
        "session_2": [
            {"speaker": "Mia", "dia_id": "D2:1", "text": "I fired my first bowl yesterday! 🏺"},
            {
                "speaker": "Ben Ito",
                "dia_id": "D2:2",
                "text": "Show me.",
                "img_url": ["https://example.org/bowl.jpg"],
                "blip_caption": "a photo of a blue bowl",
            },
        ],
        "session_11_date_time": "1:00 pm on 2 April, 2024",
        "session_12_date_time": "1:00 pm on 3 April, 2024",
        "session_12": [],
    },
    "qa": [],
}


def imported(tmp_path: Path, document: object) -> list[ImportedSession]:
    path = tmp_path / "talk.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return list(read_sessions(path))


def test_a_conversation_becomes_one_session_per_dated_session(tmp_path: Path) -> None:
    second, tenth = imported(tmp_path, [TALK])
    assert (second.session_id, second.conversation) == ("talk-7-session-2", "talk-7")
    assert second.messages == [
        {
            "id": "D2:1",
            "role": "user",
            "peer_id": "Mia",
            "content": "I fired my first bowl yesterday! 🏺",
            "created_at": "2024-03-02T09:30:00.000Z",
        },
        {
            "id": "D2:2",
            "role": "user",
            "peer_id": "Ben Ito",
            "content": "Show me. [image: a photo of a blue bowl]",
            "created_at": "2024-03-02T09:30:00.000Z",
        },
    ]
    assert (tenth.session_id, tenth.messages[0]["created_at"]) == (
        "talk-7-session-10",
        "2024-04-01T00:05:00.000Z",
    )


def test_one_conversation_a_list_and_json_lines_are_the_same(tmp_path: Path) -> None:
    other = {**TALK, "sample_id": "talk-8"}
    lines = tmp_path / "talks.jsonl"
    lines.write_text(f"{json.dumps(TALK)}\n\n{json.dumps(other)}\n", encoding="utf-8")
    assert imported(tmp_path, TALK) == imported(tmp_path, [TALK])
    assert list(read_sessions(lines)) == imported(tmp_path, [TALK, other])


@pytest.mark.parametrize(
    ("spoken", "stamp"),
    [
        ("12:00 pm on 29 February, 2024", "2024-02-29T12:00:00.000Z"),
        ("12:59 am on 1 January, 2024", "2024-01-01T00:59:00.000Z"),
        ("11:59 PM on 31 december 2023", "2023-12-31T23:59:00.000Z"),
        ("1:56 pm on 8 May, 2023", "2023-05-08T13:56:00.000Z"),
    ],
)
def test_the_session_time_is_taken_as_utc(tmp_path: Path, spoken: str, stamp: str) -> None:
    talk = copy.deepcopy(TALK)
    talk["conversation"]["session_2_date_time"] = spoken  # type: ignore[index]
    assert imported(tmp_path, talk)[0].messages[0]["created_at"] == stamp


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            {"session_2_date_time": "8 May 2023"},
            r"session_2, date_time: '8 May 2023' is no time: write it like",
        ),
        ({"session_2_date_time": "13:56 pm on 8 May, 2023"}, r"is no time"),
        ({"session_2_date_time": "1:56 pm on 30 February, 2023"}, r"is no time"),
        ({"session_2_date_time": "1:56 pm on 30 Nothing, 2023"}, r"is no time"),
        ({"session_2_date_time": None}, r"None is no time"),
        ({"session_2": "hello"}, r"session_2: must be a list of turns"),
        ({"session_2": ["hello"]}, r"session_2, turn 1: must be an object"),
        (
            {"session_2": [{"speaker": "Mia", "text": "x"}]},
            r"turn 1: 'dia_id' must be a non-empty string, not None",
        ),
        (
            {"session_2": [{"speaker": "a/b", "text": "x", "dia_id": "1"}]},
            r"turn 1: speaker 'a/b' cannot name a peer",
        ),
        ({"session_2": [{"speaker": "a\n", "text": "x", "dia_id": "1"}]}, r"cannot name a peer"),
    ],
)
def test_bad_input_is_reported_with_its_place(tmp_path: Path, change: dict[str, Any], problem: str) -> None:
    talk = {**TALK, "conversation": {**TALK["conversation"], **change}}  # type: ignore[dict-item]
    with pytest.raises(InputError, match=problem) as refused:
        imported(tmp_path, [talk])
    assert str(refused.value).startswith(f"{tmp_path / 'talk.json'}, item 1, conversation talk-7, session_2")


def test_an_item_that_is_no_conversation_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"item 2: no LoCoMo conversation"):
        imported(tmp_path, [TALK, {"sample_id": "talk-8"}])
    with pytest.raises(InputError, match=r"item 1: 'sample_id' must be"):
        imported(tmp_path, [{"conversation": {}}])


@pytest.mark.skipif(not SHARED.exists(), reason="the LoCoMo conversations are not on this machine")
def test_the_real_conversations_are_read_whole() -> None:
    sessions = list(read_sessions(SHARED))
    messages = Counter[str]()
    for session in sessions:
        messages[session.conversation] += len(session.messages)
    assert messages["conv-26"] == 419
    assert (len(sessions), messages.total()) == (187, 4124)
    assert all(len({m["id"] for m in session.messages}) == len(session.messages) for session in sessions)
