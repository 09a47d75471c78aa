"""The session head as bytes. `tests/property/test_session.py` sends random heads through it."""

import json
from dataclasses import replace
from typing import Any

import pytest

from strandline.domain.session import Archive, Head, Segment
from strandline.storage.codec import HeadCodec
from strandline.storage.document import Stamp

HEAD = Head(
    account_id="a",
    user_id="u",
    session_id="名前",
    incarnation="0" * 32,
    created_at="then",
    updated_at="now",
    auto_commit_policy={"message_count_threshold": 3},
    memory_policy={"types": None},
    metadata={"é": [None, 1.5, "\u2028"]},
    last_seq=12,
    live_from=3,
    pending_tokens=40,
    segments=(Segment(1, 5, 10, 100), Segment(6, 10, 20, 200)),
    tail=(b'{"seq":11,"content":"\\u0000\\n"}', '{"seq":12,"content":"😀"}'.encode()),
    tail_bytes=60,
    ids=bytes(range(256)),
    commit_count=4,
    pending=(Archive(3, 1, 1, "then"), Archive(4, 2, 2, "then")),
    failed=(Archive(1, 1, 1, "then", "no"),),
    completed=1,
    latest_done=2,
    memories_extracted={"events": 2},
    last_message_at="now",
    last_commit_at="now",
    last_auto_commit_at=None,
    auto_commit_last_error="odd",
    auto_commit_last_error_at="now",
    buried_at=None,
)
STAMP = Stamp(9, (("w", 8), ("v", 9)))


def test_every_field_comes_back() -> None:
    body = HeadCodec().encode(HEAD, STAMP)
    assert HeadCodec().decode(body) == (HEAD, STAMP)
    assert HeadCodec().encode(*HeadCodec().decode(body)) == body


def test_the_body_is_json_with_the_stored_lines_byte_for_byte() -> None:
    body = HeadCodec().encode(HEAD, STAMP)
    row: dict[str, Any] = json.loads(body)
    assert (row["schema"], row["revision"], row["writes"]) == (1, 9, [["w", 8], ["v", 9]])
    assert body.endswith(b'"tail":[\n' + b",\n".join(HEAD.tail) + b"]}")
    assert HeadCodec().encode(replace(HEAD, tail=()), STAMP).endswith(b'"tail":[\n]}')


def test_another_schema_is_not_guessed_at() -> None:
    body = HeadCodec().encode(HEAD, STAMP).replace(b'"schema":1', b'"schema":2')
    with pytest.raises(ValueError, match="schema 2"):
        HeadCodec().decode(body)


def test_a_head_from_before_automatic_commits_is_read() -> None:
    """It has no marker, does not say since when it has live messages, and its archives have no task of their own."""
    body = HeadCodec().encode(replace(HEAD, mark="m", live_since="then"), STAMP)
    meta, tail = body.split(b',"tail":[')
    row = json.loads(meta + b"}")
    row = {name: value for name, value in row.items() if name not in ("mark", "live_since")}
    row |= {name: [archive[:7] for archive in row[name]] for name in ("pending", "failed")}
    old = json.dumps(row, separators=(",", ":")).encode()[:-1] + b',"tail":[' + tail
    assert HeadCodec().decode(old) == (HEAD, STAMP)
