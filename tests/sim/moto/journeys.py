"""Ways through the service, from beginning to end. What a journey is made of must hold wherever `go` is broken."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Protocol

from strandline.domain.errors import NotFound
from strandline.pipeline import session
from strandline.storage.layout import User
from tests.pipeline import test_auto_commit as auto_commit
from tests.pipeline import way
from tests.pipeline.erasing import begin, everything, nothing_left, receipt, recount
from tests.pipeline.faults import run
from tests.pipeline.world import ALICE, BOB, DAY, World


class Journey(Protocol):
    """Made in an empty world, where it prepares what it needs."""

    def __init__(self, world: World) -> None: ...

    def go(self) -> None: ...

    def expect(self) -> None: ...


class Remembering:
    """From messages to memories, by two commits."""

    def __init__(self, world: World) -> None:
        self.world = world
        world.create("s")

    def go(self) -> None:
        way.go(self.world)

    def expect(self) -> None:
        way.expect_as_if_nothing_had_happened(self.world)


class ByItself:
    """A session whose policy commits it."""

    def __init__(self, world: World) -> None:
        self.world = world
        auto_commit.begin(world)

    def go(self) -> None:
        auto_commit.go(self.world)

    def expect(self) -> None:
        auto_commit.expect_one_commit(self.world)


class Deleted:
    """A session that is deleted leaves its memories and nothing else, and a neighbour everything."""

    def __init__(self, world: World) -> None:
        self.world = world
        world.remember("s", "tea: I like green tea")
        world.append("s", "live", ids="live")
        self._neighbour = neighbour(world)

    def go(self) -> None:
        for step in (delete, heal_once, days_later):
            run(self.world, step)

    def expect(self) -> None:
        assert self.world.stored("/alice/sessions/") == []
        assert self.world.rows("TASKS#") == self.world.rows("DUE#") == []
        assert way.texts(self.world) == {"preferences/tea.md": ["I like green tea"]}
        assert everything(self.world, is_neighbour) == self._neighbour


class Erased:
    """A user who is erased leaves nothing but an exact receipt, and a neighbour everything."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._had: Mapping[str, Any] = {}
        self._task = ""
        world.append("s", "tea: I like green tea")
        self._neighbour = neighbour(world)

    def go(self) -> None:
        run(self.world, self._begin)
        for _ in range(2):  # all is gone through twice, then the sweep finds it over
            run(self.world, World.heal)

    def _begin(self, world: World) -> None:
        self._had = recount(world, lambda user: user == ALICE)
        self._task = begin(world, ALICE)

    def expect(self) -> None:
        nothing_left(self.world, ALICE)
        found = receipt(self.world, self._task)
        assert {name: found[name] for name in self._had} == self._had
        assert self.world.rows("DUE#") == self.world.rows("ERASE#") == []
        assert everything(self.world, is_neighbour) == self._neighbour


def neighbour(world: World) -> object:
    """Somebody else, and all that is stored of him."""
    world.append("s", "tea: mine is black", owner=BOB)
    return everything(world, is_neighbour)


def is_neighbour(user: User) -> bool:
    return user == BOB


def delete(world: World) -> None:
    with suppress(NotFound):  # an attempt before this one has deleted it
        session.delete(world.services(), ALICE, "s")


def heal_once(world: World) -> None:
    world.heal(1)


def days_later(world: World) -> None:
    """The sweep looks a second time, and a third when it could not the first time."""
    world.clock.advance(2 * DAY)
    world.heal(4)
