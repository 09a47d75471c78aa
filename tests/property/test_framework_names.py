"""What the adapters make of a framework's names and objects: the service takes it, and it comes back."""

import json
from typing import Any

from hypothesis import assume, example, given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from strandline.domain.message import Identifier
from strandline.domain.redaction import redact_value
from strandline.pipeline.memory import checked
from strandline.storage.layout import User
from strandline_sdk.frameworks import page
from strandline_sdk.frameworks.names import is_short, legible, session_name, spelled_by, user_name
from strandline_sdk.frameworks.raw import opened, sealed

ANY = st.text(st.characters(), max_size=200)
ODD = st.sampled_from(
    ["", ".", "..", "~", "~41~", "a+b", "a!b", "a/b", "a%2Fb", "%2E", "\\", "\n", "\ud800", "x" * 300]
)
NAME = ANY | ODD | st.text("ab~+!1", max_size=8)
SCALAR = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
KEY = st.text() | st.sampled_from(
    ["signature", "thought_signature", "thought_signed", "signed~", "signed", "text"]
)
JSON = st.recursive(SCALAR, lambda inner: st.lists(inner) | st.dictionaries(KEY, inner), max_leaves=20)
_IDENTIFIER: TypeAdapter[str] = TypeAdapter(Identifier)


@given(NAME)
@example("\U0001f30a" * 128)
@example("字" * 64)
@example("字" * 65)
def test_any_name_is_the_id_of_a_session(name: str) -> None:
    made = session_name(name)
    assert _IDENTIFIER.validate_python(made) == made


@given(NAME)
def test_a_name_that_the_service_takes_stays_as_it_is(name: str) -> None:
    try:
        _IDENTIFIER.validate_python(name)
    except ValueError:
        assert session_name(name).startswith("~")
    else:
        assert session_name(name) == name or name.startswith("~")


@given(NAME, NAME)
@example("x" * 300, "x" * 301)
@example("é", "e\u0301")
def test_different_names_are_different_sessions(one: str, other: str) -> None:
    assume(one != other)
    assert session_name(one) != session_name(other)
    assert legible(one) != legible(other)


@given(st.tuples(NAME, NAME), st.tuples(NAME, NAME))
@example(("a", "b!c"), ("a!b", "c"))
def test_different_pairs_are_different_users(one: tuple[str, str], other: tuple[str, str]) -> None:
    assume(one != other)
    made = user_name("adk", *one)
    assert made != user_name("adk", *other)
    assert made != user_name("adk", one[0])
    assert made.isascii()
    assert made.isprintable()
    assert _IDENTIFIER.validate_python(made) == made


@given(st.lists(NAME, min_size=1, max_size=5))
@example(["x" * 300] * 6)
def test_any_names_are_a_path_of_a_memory(names: list[str]) -> None:
    path = f"langgraph/{'/'.join(map(legible, names))}.md"
    assert checked(path) == path
    assert User("acme", "ann").memory(path).endswith(".md")


@given(NAME)
def test_a_name_that_was_short_comes_back(name: str) -> None:
    segment = legible(name)
    if is_short(segment):
        assert spelled_by(segment) == name
    else:
        assert len(segment) <= 14 + 1 + 32


@given(JSON)
def test_what_was_sealed_comes_back(value: Any) -> None:
    assert opened(json.loads(json.dumps(sealed(value)))) == value


def test_a_providers_signature_is_kept_and_no_other() -> None:
    random = "EqoBCkgIARABGAIiQL2c9"
    thought = {"reasoningText": {"text": "Hm.", "signature": random}, "thoughtSignature": random}
    assert redact_value(sealed(thought)) == (sealed(thought), ())
    assert opened(sealed(thought)) == thought
    other = {"signature": random, "arguments": {"signature": random}}
    assert sealed(other) == other
    assert redact_value(other)[1] == ("secret",)


@given(st.text(), st.dictionaries(st.text(), JSON), st.text())
@example("a`b", {"```": "```\n```json\n{}\n```"}, "`")
def test_a_page_says_what_was_written(title: str, value: dict[str, Any], about: str) -> None:
    assert page.read(page.written(title, {"key": about}, value)) == ({"key": about}, value)
