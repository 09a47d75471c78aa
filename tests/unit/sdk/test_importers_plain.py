from pathlib import Path

import pytest

from strandline_sdk.importers import InputError, read_sessions


def said(tmp_path: Path, text: str | bytes, format_name: str | None = None) -> list[tuple[str, str]]:
    """Peer or role, and content, of every message."""
    path = tmp_path / "chat.txt"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return [
        (message.get("peer_id", message["role"]), message["content"])
        for session in read_sessions(path, format_name)
        for message in session.messages
    ]


def test_roles_under_their_names(tmp_path: Path) -> None:
    text = "system: Be kind.\nUser: Hi\nAI: Hello\nhuman: Bye\nAssistant:  So long\ntool: done\n"
    assert said(tmp_path, text) == [
        ("system", "Be kind."),
        ("user", "Hi"),
        ("assistant", "Hello"),
        ("user", "Bye"),
        ("assistant", "So long"),
        ("tool", "done"),
    ]


def test_names_are_peers(tmp_path: Path) -> None:
    text = "Anna: Hi\nJean-Luc O’Neill: Hello\nDr. Ben Ito (host): Welcome\nassistant: Noted\n小明：你好\n"
    assert said(tmp_path, text) == [
        ("Anna", "Hi"),
        ("Jean-Luc O’Neill", "Hello"),
        ("Dr. Ben Ito (host)", "Welcome"),
        ("assistant", "Noted"),
        ("小明", "你好"),
    ]


def test_a_message_goes_on_over_lines_and_blank_lines(tmp_path: Path) -> None:
    text = "\n\nuser: A list:\n- one\n\n  - two\n\n\nassistant: Fine.\n\n"
    assert said(tmp_path, text) == [("user", "A list:\n- one\n\n  - two"), ("assistant", "Fine.")]


def test_among_roles_a_name_begins_no_message(tmp_path: Path) -> None:
    text = "user: Tell them\nNote: bring shoes\nhttp://example.org: no\n12:30: lunch\nassistant: I will"
    assert said(tmp_path, text) == [
        ("user", "Tell them\nNote: bring shoes\nhttp://example.org: no\n12:30: lunch"),
        ("assistant", "I will"),
    ]


def test_among_names_an_indented_line_begins_no_message(tmp_path: Path) -> None:
    assert said(tmp_path, "Anna: Look\n  Note: shoes\nhttps://example.org\nBen: Yes") == [
        ("Anna", "Look\n  Note: shoes\nhttps://example.org"),
        ("Ben", "Yes"),
    ]


def test_a_text_may_begin_on_the_next_line(tmp_path: Path) -> None:
    assert said(tmp_path, "user:\nHello\nassistant:\n\nHi\nuser:\n") == [
        ("user", "Hello"),
        ("assistant", "Hi"),
    ]


def test_byte_order_mark_and_line_ends_of_windows(tmp_path: Path) -> None:
    text = "\ufeffuser: Hi\r\nthere\r\n\r\nassistant: Hello\r\n"
    assert said(tmp_path, text) == [("user", "Hi\nthere"), ("assistant", "Hello")]


def test_separators_of_unicode_are_no_line_ends(tmp_path: Path) -> None:
    assert said(tmp_path, "user: a\u2028assistant: b\x0bc\n") == [("user", "a\u2028assistant: b\x0bc")]


def test_the_session_is_named_after_the_file_and_its_opening(tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"
    ids = []
    for text in ("user: Hi", "user: Hi\nassistant: Hello", "user: Ho"):
        path.write_text(text, encoding="utf-8")
        (session,) = read_sessions(path)
        ids.append((session.session_id, session.messages[0]["id"]))
    assert ids[0] == ids[1] != ids[2]
    assert all(session_id.startswith("chat-1-") for session_id, _ in ids)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Once upon a time", r"chat.txt, line 1: not one of the known formats"),
        (b"user: caf\xe9\nassistant: ok", r"chat.txt, line 1: not UTF-8 \(byte 9\): convert the file"),
        ("user: x".encode("utf-16"), r"not UTF-8 \(byte 0\)"),
        ("\n \n", r"chat.txt: the file is empty"),
    ],
)
def test_what_is_no_chat_is_reported(tmp_path: Path, text: str | bytes, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        said(tmp_path, text)


def test_lines_that_nobody_says_are_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"line 1: nobody says this: begin with 'user: ' or a name"):
        said(tmp_path, "Once upon a time\nuser: hi", "plain")
