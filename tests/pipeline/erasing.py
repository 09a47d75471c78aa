"""Users and accounts that are erased: what they had, how the erasure goes on, what its receipt must say."""

from collections import Counter
from collections.abc import Callable

from strandline.domain.contracts import SessionRef
from strandline.pipeline import erase, memory, session, task
from strandline.pipeline.sweep import run_sweep
from strandline.ports import Item
from strandline.storage.keys import KeyOwner, hash_key
from strandline.storage.layout import User
from strandline.storage.parsing import area, owner_of
from tests.pipeline.faults import going_on
from tests.pipeline.world import HEAL_SECONDS, World

ROOT = User("default", "default")
ANN = User("acme", "a")
NEIGHBOURS = (
    User("acme", "ab"),
    User("acme", "a-b"),
    User("acme", "a/b"),
    User("acme", "A"),
    User("ac", "a"),
    User("acme2", "a"),
)


def use(world: World, owner: User) -> None:
    """A registered user with two keys, an archived and a live session, a deleted one, memories and an old version."""
    services = world.services()
    services.accounts.add_user(owner, "user")
    for n in (1, 2):
        services.keys.add(hash_key(f"{owner} {n}"), KeyOwner(owner.account_id, owner.user_id, "user"))
    world.remember("s", "tea: I like green tea", "sport: I row on Sundays", owner=owner)
    world.append("live", "tea: not yet", owner=owner)
    world.append("gone", "tea: forget it", owner=owner)
    session.delete(services, owner, "gone")
    memory.write(services, owner, "topics/mine.md", "# Mine\n", anything)
    memory.write(services, owner, "topics/mine.md", "# Mine, again\n", anything)
    memory.delete(services, owner, "topics/mine.md", anything)


def anything(_: object) -> None:
    """No guard."""


def heal(world: World, rounds: int) -> None:
    """The queues run empty, time passes and the sweep runs: so many times."""
    for _ in range(rounds):
        with going_on():
            world.settle(200)
        world.clock.advance(HEAL_SECONDS + 1)
        with going_on():
            run_sweep(world.services())
    world.settle(200)


def begin(world: World, whose: User, by: User = ROOT) -> str:
    ref = SessionRef(account_id=whose.account_id, user_id=whose.user_id, session_id="")
    return erase.begin(world.services(), ref, by).task_id


def finish(world: World, rounds: int = 8) -> None:
    """Until no erasure is going on."""
    heal(world, rounds)
    assert world.rows("ERASE#") == []
    assert [row for row in world.rows("DUE#") if row["kind"] == "erase"] == []


def receipt(world: World, task_id: str, by: User = ROOT) -> Item:
    found = task.get(world.services(), by, task_id)
    assert (found["status"], found["stage"], found["error"]) == ("completed", "done", None)
    return dict(found["result"])


def versions(world: World, prefix: str = "v1/") -> list[tuple[str, bool]]:
    """(key, whether a plain GET finds it) of every version, delete markers included."""
    page = world._quiet(lambda: world.objects.versions_below(prefix, limit=100_000))
    assert page.next is None
    return [(v.key, v.latest and not v.deleted) for v in page.versions]


def recount(world: World, mine: Callable[[User], bool]) -> Item:
    """What a receipt must say if all of it were erased now."""
    stored = [(area(key), current) for key, current in versions(world) if mine(owner_of(key))]
    kinds = {"SESSIONS#": "session_list", "TASKS#": "tasks", "REPLAYS#": "replays", "USERS#": "register"}
    items: Counter[str] = Counter()
    for prefix, kind in kinds.items():
        items[kind] += sum(mine(_owner(row)) for row in world.rows(prefix))
    return {
        "keys": sum(mine(_owner(row)) for row in world.rows("KEYS#")),
        "objects": dict(Counter(name for name, current in stored if current)),
        "versions": dict(Counter(name for name, _ in stored)),
        "items": {kind: count for kind, count in items.items() if count},
    }


def _owner(row: Item) -> User:
    """Whose a row is, by its partition."""
    account, _, user = row["pk"].partition("#")[2].partition("/")
    return User(account, (user or row["sk"]).replace("%2F", "/"))


def nothing_left(world: World, owner: User) -> None:
    assert versions(world, owner.prefix) == []
    assert [row for row in world.rows("") if _owner(row) == owner and not row["pk"].startswith("DUE#")] == []


def everything(world: World, mine: Callable[[User], bool]) -> object:
    """All that is stored of others."""
    page = world._quiet(lambda: world.objects.versions_below("v1/", limit=100_000))
    kept = [v for v in page.versions if mine(owner_of(v.key))]
    rows = [row for row in world.rows("") if not row["pk"].startswith(("DUE#", "ERASE#", "KEY#"))]
    return kept, [row for row in rows if row["pk"] != "ACCOUNTS" and mine(_owner(row))]


def is_ann(user: User) -> bool:
    return user == ANN


def is_other(user: User) -> bool:
    return user in NEIGHBOURS
