"""Whatever a file holds: what can be imported is acceptable to the service, the rest is reported with its place."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from strandline.domain.message import MessageIn
from strandline_sdk.importers import FORMATS, InputError, read_sessions

WORDS = [
    "role", "content", "messages", "conversations", "from", "value", "type", "text", "id", "system", "traj",
    "user", "assistant", "tool", "human", "gpt", "function_call", "observation", "tool_calls", "function", "name",
    "arguments", "tool_use", "tool_result", "tool_use_id", "tool_call_id", "tool_call_ids", "image", "image_url",
    "source", "url", "input", "uuid", "sessionId", "timestamp", "message", "isMeta", "created_at", "summary",
    "conversation", "sample_id", "session_1", "session_1_date_time", "1:56 pm on 8 May, 2023", "speaker", "dia_id",
    "2024-03-02T09:30:00Z", "1709371800", "mapping", "current_node", "parent", "parts",
    "author", "content_type", "thinking", "document", "title", "history", "refusal", "a/b", "",
]  # fmt: skip
SCALARS = st.one_of(
    st.sampled_from(WORDS),
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=5),
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5),
    max_leaves=25,
)
EXAMPLES: list[Any] = [
    {"messages": [{"role": "user", "content": "x", "name": "Mia"}, {"role": "assistant", "content": [{"type": "text"}],
     "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]},
     {"role": "tool", "tool_call_id": "1", "content": "y"}]},
    {"system": "s", "messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f",
     "input": {}}]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [{}]}]}]},
    {"conversations": [{"from": "human", "value": "x"}, {"from": "function_call", "value": '{"name": "f"}'},
     {"from": "observation", "value": "y"}], "system": "s"},
    {"type": "user", "uuid": "u", "sessionId": "s", "timestamp": "2024-03-02T09:30:00Z",
     "message": {"role": "user", "content": [{"type": "text", "text": "x"}]}},
    {"sample_id": "c", "conversation": {"session_1": [{"speaker": "A", "dia_id": "D1:1", "text": "x"}],
     "session_1_date_time": "1:56 pm on 8 May, 2023"}},
    {"id": "c", "current_node": "b", "mapping": {"a": {"message": None}, "b": {"parent": "a", "message": {
     "author": {"role": "user"}, "create_time": 1709371800.5, "content": {"content_type": "text", "parts": ["x"]}}}}},
]  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where something stands in a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, child in inner for place in places(child, (*path, key)))]


def replaced(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    """A copy of the value with something else at a place."""
    if not path:
        return by
    copy = json.loads(json.dumps(value))
    owner = copy
    for key in path[:-1]:
        owner = owner[key]
    owner[path[-1]] = by
    return copy


@st.composite
def damaged(draw: st.DrawFn) -> Any:
    """An export with something else in one of its places."""
    example = draw(st.sampled_from(EXAMPLES))
    return replaced(example, draw(st.sampled_from(places(example))), draw(JSON))


def check(path: Path, format_name: str | None) -> None:
    bad: list[InputError] = []
    for session in read_sessions(path, format_name, bad=bad.append):
        assert session.messages
        assert len(session.messages) == len(session.places)
        for message in session.messages:
            try:
                MessageIn.model_validate(message)
            except ValidationError as error:
                pytest.fail(f"{message}: {error}")
    assert all(str(error).startswith(str(path)) for error in bad)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "chat"


QUIET = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@QUIET
@given(document=damaged(), name=st.sampled_from([None, *FORMATS]), lines=st.integers(0, 3))
def test_a_damaged_export_is_imported_or_reported(
    path: Path, document: Any, name: str | None, lines: int
) -> None:
    text = json.dumps(document)
    path.write_text("\n".join([text] * lines) if lines else f"[{text}]", encoding="utf-8")
    check(path, name)


@QUIET
@given(document=JSON, name=st.sampled_from([None, *FORMATS]))
def test_any_json_is_imported_or_reported(path: Path, document: Any, name: str | None) -> None:
    path.write_text(json.dumps(document), encoding="utf-8")
    check(path, name)


@QUIET
@given(
    data=st.one_of(
        st.binary(max_size=200),
        st.lists(
            st.sampled_from(
                [
                    b"user: ",
                    b"Anna: ",
                    b"\n",
                    b"\r\n",
                    b"x",
                    b"\xff",
                    b"[",
                    b"{",
                    b'"',
                    b"\x1f\x8b",
                    b",",
                    b"]",
                    b"0",
                ]
            )
        ).map(b"".join),
    ),
    name=st.sampled_from([None, *FORMATS]),
)
def test_any_bytes_are_imported_or_reported(path: Path, data: bytes, name: str | None) -> None:
    path.write_bytes(data)
    check(path, name)


@QUIET
@given(document=damaged(), cut=st.integers(1, 60), name=st.sampled_from([None, *FORMATS]))
def test_a_cut_export_is_imported_or_reported(path: Path, document: Any, cut: int, name: str | None) -> None:
    path.write_bytes(json.dumps([document] * 2).encode()[:-cut])
    check(path, name)
