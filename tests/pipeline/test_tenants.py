"""Whose is whose: ids that look alike, contain each other or try to climb out of their place."""

from itertools import permutations

import pytest

from strandline.domain.errors import InvalidArgument, NotFound
from strandline.pipeline import archive, memory, session, task
from strandline.pipeline.commit import Committed, load_head
from strandline.pipeline.context import run_context
from strandline.storage.layout import User
from tests.pipeline.world import ALICE, BOB, World

LOOK_ALIKES = [
    "alice",
    "Alice",
    "alice ",
    "alice/",
    "alice%2F",
    "alice%",
    "al",
    "\u0430lice",  # a Cyrillic a
    "alic\u00e9",
    "alice\u0301",  # the same to the eye: an e and a combining accent
    "\uff41\uff4c\uff49\uff43\uff45",  # full-width: NFKC makes it alice
    "alice\u200b",  # a zero-width space at the end
    "..",
    "%2e%2e",
    ".",
    "sessions",
]


def remembering(names: list[str]) -> World:
    """Every user has a session of the same name, and says something only of himself."""
    world = World()
    for n, name in enumerate(names):
        world.remember("s", f"tea: cup {n}", owner=User("acme", name))
    return world


def test_users_that_look_alike_share_nothing() -> None:  # B-A14
    world = remembering(LOOK_ALIKES)
    for n, name in enumerate(LOOK_ALIKES):
        owner = User("acme", name)
        assert world.log("s", owner) == [(1, f"tea: cup {n}")], name
        assert world.find("tea cup", owner, limit=50) == [f"cup {n}"], name
        assert world.find("tea", owner, limit=50, context_type="message") == [f"tea: cup {n}"], name
        assert len(memory.list_memories(world.services(), owner, "")) == 1, name
        page = session.page(world.services(), owner, after=None, limit=50)
        assert len(page.items) == 1, name


@pytest.mark.parametrize(
    ("account", "user", "other"),
    [
        ("a", "b/c", ("a/b", "c")),
        ("a", "b", ("a/b", "")),
        ("a%2Fb", "c", ("a/b", "c")),
        ("a#b", "c", ("a", "b#c")),
    ],
)
def test_account_and_user_do_not_run_into_each_other(account: str, user: str, other: tuple[str, str]) -> None:
    world = World()
    world.remember("s", "tea: mine", owner=User(account, user))
    try:
        prefix = User(*other).prefix
    except InvalidArgument:
        return
    assert world.stored(prefix) == []
    assert session.page(world.services(), User(*other), after=None, limit=50).items == []


def test_sessions_that_look_alike_share_nothing() -> None:
    world = World()
    for n, name in enumerate(LOOK_ALIKES):
        world.append(name, f"text {n}")
    for n, name in enumerate(LOOK_ALIKES):
        assert world.log(name) == [(1, f"text {n}")], name


def test_deleting_one_of_them_leaves_the_others() -> None:  # B-A15
    world = remembering(LOOK_ALIKES)
    session.delete(world.services(), User("acme", "alice"), "s")
    for n, name in enumerate(LOOK_ALIKES[1:], start=1):
        owner = User("acme", name)
        assert world.log("s", owner) == [(1, f"tea: cup {n}")], name
        assert world.find("tea", owner, limit=50, context_type="message") == [f"tea: cup {n}"], name


@pytest.mark.parametrize(("one", "other"), list(permutations(["s", "s/head.json", "s%2Fhead", "S"], 2)))
def test_a_session_inside_the_name_of_another(one: str, other: str) -> None:  # B-A15
    world = World()
    world.append(one, "first")
    world.append(other, "second")
    session.delete(world.services(), ALICE, one)
    assert world.log(other) == [(1, "second")]


def test_another_users_things_are_not_found(world: World) -> None:  # B-A14
    done = world.remember("s", "tea: green")
    services = world.services()
    assert isinstance(done, Committed)
    looks = [
        lambda: load_head(services, BOB, "s"),
        lambda: session.delete(services, BOB, "s"),
        lambda: run_context(services, BOB, "s"),
        lambda: archive.read(services, BOB, "s", "archive_001"),
        lambda: archive.log(services, BOB, "s", archive.Window(limit=10)),
        lambda: task.get(services, BOB, done.task_id),
        lambda: memory.read(services, BOB, "preferences/tea.md"),
        lambda: memory.delete(services, BOB, "preferences/tea.md", memory.matching(None, absent=False)),
        lambda: world.find("tea", BOB, context_type="message", session_id="s"),
    ]
    for look in looks:
        with pytest.raises(NotFound):
            look()
    assert world.find("tea", BOB) == []


CLIMBING = [
    "../../../bob/memories/preferences/tea.md",
    "..%2f..%2fbob/memories/preferences/tea.md",
    "%2e%2e/preferences/tea.md",
    "%2E%2E/preferences/tea.md",
    "preferences/../../../bob/memories/preferences/tea.md",
    "preferences/./tea.md",
    "preferences//tea.md",
    "/preferences/tea.md",
    "preferences/tea.md/",
    "preferences\\..\\tea.md",
    "preferences/%5c..%5ctea.md",
    "preferences/te\x00a.md",
    "preferences/te%00a.md",
    "preferences/te\na.md",
    "..",
    "",
    ".md/..",
]


@pytest.mark.parametrize("path", CLIMBING)
def test_a_path_that_climbs_is_refused(world: World, path: str) -> None:  # B-A14 B-C18
    world.remember("s", "tea: bob's", owner=BOB)
    start = len(world.calls.names)
    anything = memory.matching(None, absent=False)
    for attempt in (
        lambda: memory.read(world.services(), ALICE, path),
        lambda: memory.write(world.services(), ALICE, path, "mine", anything),
        lambda: memory.delete(world.services(), ALICE, path, anything),
    ):
        with pytest.raises(InvalidArgument):
            attempt()
    assert world.calls.names[start:] == []


@pytest.mark.parametrize("path", ["preferences/tea.txt", "preferences/tea", "tea.MD", "index/memories.idx"])
def test_a_memory_is_a_markdown_file(world: World, path: str) -> None:
    with pytest.raises(InvalidArgument):
        memory.read(world.services(), ALICE, path)


PEERS = ["Bob", "小明", "José", "bob smith", "b%41", "😀", "...", "~", "index.md", "a#c&d=e"]


@pytest.mark.parametrize("peer", PEERS)
def test_whatever_is_listed_can_be_read_where_it_is_listed(world: World, peer: str) -> None:
    from strandline.domain.message import MessageIn
    from strandline.pipeline.append import AppendRequest, run_append

    message = MessageIn(role="user", content="tea: I like it", peer_id=peer)
    run_append(world.services(), AppendRequest(ALICE, "s", [message]))
    world.commit("s")
    world.settle()

    (path,) = memory.list_memories(world.services(), ALICE, "")

    assert path == f"peers/{peer}/preferences/tea.md"
    assert memory.read(world.services(), ALICE, path).peer == peer
