"""Every key that is built can be parsed, names exactly what it was built from, and stays in its owner's prefix."""

from urllib.parse import unquote

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from strandline.domain import names
from strandline.domain.contracts import SessionRef
from strandline.domain.errors import InvalidArgument
from strandline.storage import layout, parsing
from strandline.storage.layout import Life, User

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=16)
"""Any text without lone surrogates; 16 characters fit in a segment however they are encoded."""
ODD = st.sampled_from(
    [".", "..", "...", "/", "a/b", "../x", "%", "%2E", "%2e%2e", "head.json", "archives", "\x00", "\n"]
)
NAME = TEXT | ODD
NUMBER = st.integers(1, 10**12 - 1)
HEX = st.integers(0, 2**128 - 1).map("{:032x}".format)
REF = st.builds(SessionRef, account_id=NAME, user_id=NAME, session_id=NAME, incarnation=HEX)


@given(NAME)
@example("%")
@example("a%2Fb")
@example("e\u0301")
@example("\u00e9")
def test_any_text_is_one_segment_and_comes_back(name: str) -> None:
    segment = names.encode(name)
    assert names.decode(segment) == name
    assert segment not in ("", ".", "..")
    assert not set(segment) & set('/\\?#*"<>|: \n\r\t\x00\x7f')


@given(NAME, NAME)
def test_different_texts_are_different_segments(one: str, other: str) -> None:
    assert (names.encode(one) == names.encode(other)) == (one == other)


@given(st.text(min_size=1, max_size=400))
@example("x" * 192)
@example("x" * 193)
@example("é" * 97)
def test_a_segment_is_bounded(name: str) -> None:
    try:
        segment = names.encode(name)
    except InvalidArgument:
        return
    assert 1 <= len(segment.encode()) <= 192


@pytest.mark.parametrize("name", ["", "x" * 193, "é" * 97, "/" * 65])
def test_what_is_no_segment(name: str) -> None:
    with pytest.raises(InvalidArgument):
        names.encode(name)


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(InvalidArgument):
        names.encode("\ud800")


@given(NAME, NAME, NAME, NAME)
def test_users_never_share_a_prefix(account: str, user: str, account2: str, user2: str) -> None:
    assume((account, user) != (account2, user2))
    one, other = User(account, user).prefix, User(account2, user2).prefix
    assert not one.startswith(other)
    assert not other.startswith(one)


@given(REF, REF)
def test_lives_of_sessions_never_share_a_prefix(one: SessionRef, other: SessionRef) -> None:
    assume(one != other)
    assert not Life(one).prefix.startswith(Life(other).prefix)
    assert not Life(other).prefix.startswith(Life(one).prefix)


@given(REF, NUMBER, NUMBER, NUMBER, st.lists(NAME, min_size=1, max_size=3))
def test_every_key_lies_under_its_owner(
    ref: SessionRef, n: int, first: int, last: int, path: list[str]
) -> None:
    owner, life = layout.user_of(ref), Life(ref)
    keys = [
        owner.head(ref.session_id),
        owner.journal_head,
        owner.journal_run("id", 1),
        owner.index("memories"),
        life.segment(first, last),
        life.messages(n, first, last),
        life.archive_file(n, "done.json"),
        life.tool_result("tr_0"),
    ]
    for key in keys:
        assert key.startswith(owner.prefix)
        assert not {"", ".", ".."} & set(key.split("/"))
    assert len(set(keys)) == len(keys)
    assert not life.prefix.startswith(owner.memories)
    assert not owner.head(ref.session_id).startswith(life.prefix), "a head outlives its incarnations"


@given(REF, NUMBER, NUMBER, NUMBER)
def test_an_archives_range_is_parsed(ref: SessionRef, number: int, first: int, last: int) -> None:
    life = Life(ref)
    assert parsing.archive_range(life.messages(number, first, last)) == (number, first, last)
    assert parsing.archive_range(life.archive_file(number, "candidates.json")) is None
    assert parsing.archive_range(life.segment(first, last)) is None
    assert parsing.archive_range(layout.user_of(ref).head(ref.session_id)) is None


@given(REF, NAME)
def test_the_id_of_a_tool_output_is_parsed(ref: SessionRef, identity: str) -> None:
    life = Life(ref)
    assert parsing.tool_result_id(life.tool_result(identity)) == identity
    assert life.tool_result(identity).startswith(life.prefix)
    assert parsing.tool_result_id(life.segment(1, 2)) is None
    assert parsing.tool_result_id(life.archive_file(1, "done.json")) is None


@given(REF)
def test_whose_head_a_key_is_is_parsed(ref: SessionRef) -> None:
    key = layout.user_of(ref).head(ref.session_id)
    assert parsing.session_of_head(key) == ref.model_copy(update={"incarnation": ""})
    assert parsing.session_of_head(Life(ref).archive_file(1, "done.json")) is None
    assert parsing.session_of_head(layout.user_of(ref).memory("sessions/head.json")) is None


SEGMENT = NAME.filter(lambda name: "/" not in name)


@given(NAME, NAME, st.lists(SEGMENT, min_size=1, max_size=3).map("/".join))
def test_a_memorys_owner_and_path_are_parsed(account: str, user: str, path: str) -> None:
    owner = User(account, user)
    key = owner.memory(path)
    assert key.startswith(owner.memories)
    assert parsing.memory_path(key) == (owner, path)


def test_a_memory_that_looks_like_an_archive_is_none() -> None:
    path = "topics/archives/000000000001/messages.000000000001-000000000002.jsonl"
    assert parsing.archive_range(User("a", "u").memory(path)) is None


@given(REF, NUMBER, NUMBER)
def test_archives_list_in_order_of_their_numbers(ref: SessionRef, one: int, other: int) -> None:
    life = Life(ref)
    assert (life.archive(one) < life.archive(other)) == (one < other)
    assert life.archive(one).startswith(life.archives)


@given(st.lists(SEGMENT.filter(lambda name: name not in (".", "..")), min_size=1, max_size=4))
def test_segments_of_a_path_are_names_or_refused(names: list[str]) -> None:
    path = "/".join(names)
    odd = any(ord(c) < 32 or c in "/\\\x7f" for name in names for c in unquote(unquote(name)))
    if odd or {unquote(unquote(name)) for name in names} & {"", ".", ".."} or "/" in "".join(names):
        with pytest.raises(InvalidArgument):
            list(layout.segments(path))
    else:
        assert list(layout.segments(path)) == names


def test_a_memory_does_not_look_like_an_archive() -> None:
    """The bucket's policy, whose star spans slashes, would keep it from being changed."""
    for path in (
        "sessions/s/i/archives/000000000001/abstract.md",
        "a/sessions/b/archives/x/2345678901/overview.md",
        "sessions/a/tool-results/b.md",
    ):
        with pytest.raises(InvalidArgument):
            User("a", "u").memory(path)
    assert User("a", "u").memory("sessions/s/archives/abstract.md").endswith("abstract.md")


@pytest.mark.parametrize(
    "path", ["", "/", "a/", "/a", "a//b", ".", "a/../b", "a/%2e%2e", "a/%2E", "a%2Fb", "a%5Cb", "a\x00"]
)
def test_paths_that_climb_or_break_are_refused(path: str) -> None:
    with pytest.raises(InvalidArgument):
        list(layout.segments(path))


def test_a_key_that_s3_cannot_hold_is_refused() -> None:
    with pytest.raises(InvalidArgument):
        User("a" * 128, "u" * 128).memory("/".join(["x" * 256] * 3))


@given(REF)
def test_what_was_used_lies_below_whom_it_belongs_to(ref: SessionRef) -> None:
    owner, life = layout.user_of(ref), Life(ref)
    assert owner.usage.startswith(owner.prefix) and life.usage.startswith(life.prefix)
    assert life.context.startswith(life.prefix)
    for key in (owner.usage, life.usage, life.context):
        assert parsing.is_superseded(key)
        assert parsing.memory_path(key) is None
    for name in ("used.json", "context.json"):
        assert not parsing.is_superseded(owner.memory(f"topics/{name}"))


@given(NAME, NAME, NUMBER, st.binary(min_size=8, max_size=8))
def test_a_layers_name_and_revision_are_parsed(
    account: str, user: str, revision: int, content: bytes
) -> None:
    owner = User(account, user)
    for index in (owner.index("memories"), owner.vectors("memories")):
        name = layout.layer_name(revision, content.hex())
        key = layout.layer(index, name)
        assert key.startswith(layout.layers_of(index)) and key.startswith(owner.prefix)
        assert parsing.layer_of(key) == (name, revision)
        assert parsing.layer_of(index) is None
        assert parsing.is_superseded(key)
        assert parsing.memory_path(key) is None
        assert parsing.area(key) == "index"


def test_layers_of_an_index_and_of_its_vectors_are_told_apart() -> None:
    owner = User("a", "u")
    index, vectors = layout.layers_of(owner.index("memories")), layout.layers_of(owner.vectors("memories"))
    assert not index.startswith(vectors) and not vectors.startswith(index)


def test_a_memory_is_no_layer() -> None:
    assert parsing.layer_of(User("a", "u").memory("index/x.layers/000000000001-0a.idx")) is None
