"""Ways through the service, from beginning to end. What a journey is made of must hold wherever `go` is broken."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Protocol

from strandline.domain.errors import NotFound
from strandline.pipeline import session
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


class Farewell:
    """A session is deleted, and days later its user is erased; a neighbour keeps everything."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._had: Mapping[str, Any] = {}
        self._task = ""
        world.remember("s", "tea: I like green tea")
        world.append("s", "live", ids="live")
        world.append("s", "tea: mine is black", owner=BOB)
        self._neighbour = everything(world, lambda user: user == BOB)

    def go(self) -> None:
        for step in (delete, World.heal, a_day_later, World.heal):
            run(self.world, step)
        assert self.world.stored("/alice/sessions/") == []
        assert self.world._quiet(lambda: way.texts(self.world)) == {
            "preferences/tea.md": ["I like green tea"]
        }
        run(self.world, self._erase)
        for _ in range(2):  # it is gone through twice, then the sweep finds it over
            run(self.world, World.heal)

    def _erase(self, world: World) -> None:
        self._had = recount(world, lambda user: user == ALICE)
        self._task = begin(world, ALICE)

    def expect(self) -> None:
        nothing_left(self.world, ALICE)
        found = receipt(self.world, self._task)
        assert {name: found[name] for name in self._had} == self._had
        assert everything(self.world, lambda user: user == BOB) == self._neighbour
        assert self.world.rows("DUE#") == self.world.rows("ERASE#") == []


def delete(world: World) -> None:
    with suppress(NotFound):  # an attempt before this one has deleted it
        session.delete(world.services(), ALICE, "s")


def a_day_later(world: World) -> None:
    world.clock.advance(2 * DAY)
