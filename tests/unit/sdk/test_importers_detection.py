"""Which format a file is of, told by what is in it; and what becomes of packed, cut and broken files."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from strandline_sdk.importers import FORMATS, InputError, json_list, read_sessions
from tests.unit.sdk.chats import HELLO, imported
from tests.unit.sdk.test_importers_locomo import TALK

THOUGHT = {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm."}]}
CALLED = {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "kiln", "arguments": "{}"}}]}
LOG = {"type": "user", "uuid": "u", "sessionId": "s", "message": HELLO}
BEGINNINGS: dict[str, Any] = {
    "openai": [[HELLO], {"messages": [HELLO]}, {"traj": [HELLO, CALLED]}, {"history": [HELLO]}, [[CALLED]]],
    "anthropic": [
        [HELLO, THOUGHT],
        {"system": "x", "messages": [HELLO]},
        [{"messages": [THOUGHT]}],
        [[HELLO], [THOUGHT]],
    ],
    "sharegpt": [{"conversations": [{"from": "human", "value": "x"}]}, [{"from": "gpt", "value": "x"}]],
    "claude-code": [[{"type": "summary", "summary": "x"}, LOG]],
    "locomo": [TALK, [TALK]],
}


def chosen(path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The format that reads a file."""
    found: list[str] = []
    for name, importer in FORMATS.items():
        spy = type(importer)(
            importer.recognises, lambda _, __, n=name: iter(found.append(n) or ()), importer.is_text
        )  # type: ignore[misc]
        monkeypatch.setitem(FORMATS, name, spy)
    list(read_sessions(path))
    (name,) = found
    return name


@pytest.mark.parametrize(("name", "document"), [(n, d) for n, all_of in BEGINNINGS.items() for d in all_of])
@pytest.mark.parametrize("suffix", ["json", "txt"])
def test_the_content_tells_the_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, document: Any, suffix: str
) -> None:
    path = tmp_path / f"chat.{suffix}"
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    assert chosen(path, monkeypatch) == name


@pytest.mark.parametrize(("name", "document"), [(n, d) for n, all_of in BEGINNINGS.items() for d in all_of])
def test_json_lines_tell_it_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, document: Any
) -> None:
    path = tmp_path / "chat.log"
    entries = document if isinstance(document, list) else [document]
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries * 2), encoding="utf-8")
    assert chosen(path, monkeypatch) == name


@pytest.mark.parametrize(
    ("document", "candidates"),
    [
        ([HELLO, THOUGHT, CALLED], "openai or anthropic"),
        ({"system": "x", "messages": [HELLO, CALLED]}, "openai or anthropic"),
        ({"messages": [HELLO], "conversations": [{"from": "human", "value": "x"}]}, "openai or sharegpt"),
        ({**TALK, "messages": [HELLO]}, "openai or locomo"),
    ],
)
def test_what_could_be_either_must_be_named(tmp_path: Path, document: Any, candidates: str) -> None:
    with pytest.raises(InputError, match=rf"chat.json: could be {candidates}: say which with --format"):
        imported(tmp_path, document)


def test_a_named_format_settles_it(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    both = {"messages": [HELLO], "conversations": [{"from": "human", "value": "x"}]}
    path.write_text(json.dumps(both), encoding="utf-8")
    said = {name: next(read_sessions(path, name)).messages[0]["content"] for name in ("openai", "sharegpt")}
    assert said == {"openai": HELLO["content"], "sharegpt": "x"}


def test_a_block_that_comes_late_names_the_other_format(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"item 500.*'thinking': import it with --format anthropic or make it"
    ):
        imported(tmp_path, [*[HELLO] * 499, THOUGHT])


# ---- packed, cut and broken


def test_gzip_is_unpacked_whatever_its_name(tmp_path: Path) -> None:
    plain = tmp_path / "chat.json"
    plain.write_text(json.dumps([HELLO]), encoding="utf-8")
    for name in ("chat.json.gz", "chat"):
        (tmp_path / name).write_bytes(gzip.compress(plain.read_bytes()))
        assert list(read_sessions(tmp_path / name)) == list(read_sessions(plain))


@pytest.mark.parametrize("cut", [30, 1000])
def test_cut_gzip_is_reported_behind_what_could_be_read(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "chat.jsonl.gz"
    lines = "".join(json.dumps({"id": f"c{n}", "messages": [{**HELLO, "n": n}]}) + "\n" for n in range(2000))
    path.write_bytes(gzip.compress(lines.encode())[:-cut])
    bad: list[str] = []
    found = list(read_sessions(path, "openai", bad=lambda error: bad.append(str(error))))
    assert 0 < len(found) <= 2000
    assert "the gzip data is cut or damaged" in bad[-1]


def survivors(path: Path, data: bytes) -> tuple[list[str], list[str]]:
    """Contents of the messages that can be imported, and what is said of the rest."""
    path.write_bytes(data)
    bad: list[str] = []
    sessions = list(read_sessions(path, bad=lambda error: bad.append(str(error))))
    return [str(m.get("content")) for s in sessions for m in s.messages], bad


def test_bad_json_lines_are_reported_one_by_one(tmp_path: Path) -> None:
    good = [json.dumps({"role": "user", "content": str(n)}).encode() for n in range(4)]
    lines = [
        b'{"role": "us',
        good[0],
        good[1],
        b"\xff\xfe",
        b"",
        b'{"role": "human"}',
        good[2],
        b"NaN",
        b'{"ro',
    ]
    kept, bad = survivors(tmp_path / "log.jsonl", b"\n".join(lines))
    assert kept == ["0", "1", "2"]
    assert [problem.partition("log.jsonl, ")[2].partition(":")[0] for problem in bad] == [
        "line 1", "line 4", "line 8", "line 9", "line 6",
    ]  # fmt: skip


def test_the_items_before_a_cut_are_kept(tmp_path: Path) -> None:
    data = json.dumps(
        [{"messages": [{"role": "user", "content": str(n)}]} for n in range(3)], indent=1
    ).encode()
    kept, bad = survivors(tmp_path / "chat.json", data[:-20])
    assert kept == ["0", "1"]
    assert len(bad) == 1
    assert "chat.json: not JSON at line 22, column" in bad[0]


def test_a_bad_message_spares_its_conversation_and_a_bad_conversation_its_file(tmp_path: Path) -> None:
    conversations = [{"messages": [HELLO, {"role": "human"}, HELLO]}, {"title": "x"}, {"messages": [HELLO]}]
    kept, bad = survivors(tmp_path / "chat.json", json.dumps(conversations).encode())
    assert len(kept) == 3
    assert ["item 1, message 2" in bad[0], "item 2" in bad[1], len(bad)] == [True, True, 2]


def test_a_bad_locomo_turn_and_a_bad_date_spare_the_rest(tmp_path: Path) -> None:
    talk = json.loads(json.dumps(TALK))
    talk["conversation"]["session_2"][0] = {"speaker": "Mia"}
    talk["conversation"]["session_10_date_time"] = "soon"
    kept, bad = survivors(tmp_path / "talk.json", json.dumps(talk).encode())
    assert len(kept) == 1
    assert ["session_2, turn 1" in bad[0], "session_10, date_time" in bad[1], len(bad)] == [True, True, 2]


def test_a_message_keeps_its_id_when_a_bad_one_before_it_is_mended(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    ids = []
    for second in ({"role": "human", "content": "x"}, {"role": "user", "content": "x"}):
        path.write_text(json.dumps([HELLO, second, HELLO]), encoding="utf-8")
        (session,) = read_sessions(path, bad=lambda _: None)
        ids.append([message["id"] for message in session.messages])
    assert ids[0] == [ids[1][0], ids[1][2]]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[[{"role": "user", "content": "x"}] x', "line 1, column 37: Expecting ',' or ']'"),
        ('[[{"role": "user", "content": "x"}]] x', "line 1, column 38: Something follows the list"),
        ('[\n[{"role": "user", "content": "x"}],\n\n  }', "line 4, column 3: Expecting value"),
        ('[[{"role": "user", "content": "x"}],', "line 1, column 37: Expecting value"),
    ],
)
def test_where_a_list_breaks(tmp_path: Path, text: str, problem: str) -> None:
    kept, bad = survivors(tmp_path / "chat.json", text.encode())
    assert (kept, len(bad)) == (["x"], 1)
    assert bad[0].endswith(f"chat.json: not JSON at {problem}")


def test_a_list_is_read_item_by_item(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_list, "_CHUNK", 7)
    items = [[{"role": "user", "content": f'{n} 木 \U0001f3fa \\ " \u2028'}] for n in range(50)]
    for text in (json.dumps(items), json.dumps(items, ensure_ascii=False, indent=3)):
        kept, bad = survivors(tmp_path / "chat.json", b"\xef\xbb\xbf" + text.encode())
        assert (kept, bad) == ([item[0]["content"] for item in items], [])


def test_a_broken_byte_in_a_list_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_list, "_CHUNK", 7)
    data = '[[{"role": "user", "content": "木"}], "'.encode() + b"\xff" + b'"]'
    kept, bad = survivors(tmp_path / "chat.json", data)
    assert kept == ["木"]
    assert f"not UTF-8 (byte {data.index(0xFF)})" in bad[0]
