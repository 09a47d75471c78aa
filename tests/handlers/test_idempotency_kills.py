"""A request with an `Idempotency-Key` dies, or a store falls silent, at every single one of its calls; its client sends
it again. There is one effect, and the answer is what it would have been."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from strandline.entry.wiring import RuleModel
from strandline.pipeline.commit import Committed
from strandline.storage.layout import User
from tests.handlers.service import Answer, Service
from tests.pipeline.faults import FAULTS
from tests.pipeline.trips import Killed, die
from tests.pipeline.world import World

Ask = Callable[["Scene"], Answer]
LEASE = 31
MIA = User("acme", "mia")
TALK = ("I love the cello.", "I moved to Lisbon last week.")
LONG = "# Long\n" + "x" * 20_000


TOOLS = [{"type": "tool", "tool_id": f"t{n}", "tool_output": "x"} for n in range(2)]
MEMORY = "/memories/preferences/a.md"
ASKS: dict[str, Ask] = {
    "append": lambda scene: scene.keyed.append("s", "a"),
    "append to a new session": lambda scene: scene.keyed.append("new", "a"),
    "batch": lambda scene: scene.keyed.batch("s", "a", "b", "c"),
    "tool results": lambda scene: scene.keyed.append("s", parts=TOOLS),
    "create": lambda scene: scene.keyed.create("new", metadata={"a": 1}),
    "create without an id": lambda scene: scene.keyed.create(metadata={"a": 1}),
    "commit": lambda scene: scene.keyed.commit("s"),
    "commit and keep": lambda scene: scene.keyed.commit("s", keep_recent_count=1),
    "write": lambda scene: scene.keyed.put(MEMORY, {"content": "# A\n"}),
    "write much": lambda scene: scene.keyed.put(MEMORY, {"content": LONG}),
    "cancel": lambda scene: scene.keyed.post(f"/tasks/{scene.pending}/cancel"),
    "retry": lambda scene: scene.keyed.post(f"/tasks/{scene.cancelled}/retry"),
    "find": lambda scene: scene.keyed.post("/search/find", {"query": "cello"}),
}


@dataclass
class Scene:
    """A service with a session of two live messages, one committed session, and a client with a key."""

    patch: pytest.MonkeyPatch

    def __post_init__(self) -> None:
        self.world = World(model=RuleModel())
        self.service = Service(self.patch, self.world)
        self.client = self.service.client("mia")
        self.world.remember("old", *TALK, owner=MIA)
        self.world.append("s", *TALK, owner=MIA)
        self.pending, self.cancelled = (self.task(name) for name in ("pending", "cancelled"))
        self.client.post(f"/tasks/{self.cancelled}/cancel")
        self.keyed = self.client.acting(idempotency_key="k")

    def task(self, name: str) -> str:
        """A session with an archive that waits for its extraction."""
        self.world.append(name, "Not extracted yet.", owner=MIA)
        done = self.world.commit(name, MIA)
        assert isinstance(done, Committed)
        return done.task_id

    def begin(self) -> int:
        """The first try is a cold function's; answers how many calls there were before."""
        self.service.cold()
        return len(self.world.calls.names)

    def outcome(self) -> Any:
        """All sessions with how much was said in them and their archives, and all memories, when everything has run."""
        self.world.mend()
        self.service.pump()
        self.service.sweep(901)  # what was not sent is sent again
        self.service.pump()
        names = [row["session_id"] for row in self.client.get("/sessions").result]
        known = {
            name if name in ("s", "old", "new", "pending", "cancelled") else "generated" for name in names
        }
        assert len(known) == len(names), names
        sessions = [
            (
                [(m["seq"], m.get("content")) for m in self.client.get(f"/sessions/{name}/messages").result],
                [(a["status"], a["first_seq"], a["last_seq"]) for a in self.archives(name)],
            )
            for name in names
        ]
        memories = self.client.get("/memories").result
        return (
            known,
            sorted(sessions),
            [(m["path"], self.client.memory(m["path"]).result["content"]) for m in memories],
        )

    def archives(self, name: str) -> list[Any]:
        return list(self.client.get(f"/sessions/{name}/archives").result)


@cache
def calm(name: str) -> tuple[Any, Any, int]:
    """The answer, what came of it, and the number of calls, when nothing goes wrong."""
    with pytest.MonkeyPatch.context() as patch:
        scene = Scene(patch)
        before = scene.begin()
        answer = ASKS[name](scene)
        calls = len(scene.world.calls.names) - before
        return same(answer), scene.outcome(), calls


VARYING = {"created_at", "updated_at", "uri"}  # times, and what is made of them
IDS = ("session_id", "task_id", "message_id")
OF_A_TASK = {"status", "stage", "error", "result", "attempts"}  # follows the archive, not always at once


def same(answer: Answer) -> Any:
    """The result, but for what is another each time."""
    result = dict(answer.result)
    for name in VARYING | (OF_A_TASK if "task_type" in result else set()):
        result.pop(name, None)
    for name in ("task_id", "session_id"):
        if len(str(result.get(name))) > 20:
            result[name] = "generated"
    return result


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("name", ASKS)
def test_one_effect_and_one_answer(
    name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:  # B-A8, B-B17
    wanted, came_of_it, calls = calm(name)
    for at in range(calls):
        with monkeypatch.context() as patch:
            scene = Scene(patch)
            scene.begin()
            FAULTS[kind](scene.world, at)
            last = sent_until_answered(scene, name)
            assert (at, same(last)) == (at, wanted)
            assert (at, scene.outcome()) == (at, came_of_it)
            scene.world.clock.advance(LEASE)
            again = ASKS[name](scene)  # should the first answer not have been kept, it is done once more
            assert (at, same(again)) == (at, wanted)
            assert [again.result.get(name) for name in IDS] == [last.result.get(name) for name in IDS]
            assert (at, scene.outcome()) == (at, came_of_it)
            assert ASKS[name](scene).headers["idempotent-replay"] == "true"


def sent_until_answered(scene: Scene, name: str) -> Answer:
    """As a client does: the same request again, a moment later, when there was no answer or it says so."""
    for _ in range(8):
        try:
            answer = ASKS[name](scene)
        except Killed:
            scene.service.cold()
            scene.world.clock.advance(1)
            continue
        if answer.status == 200:
            return answer
        assert answer.status == 500 or answer.error["retryable"], answer.text
        scene.world.clock.advance(float(answer.headers.get("retry-after", 1)))
    raise AssertionError("never answered")


def test_a_commit_whose_answer_was_lost_does_not_take_what_came_after(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Killed behind the head's PUT; extraction and merge run, and more is said, before the client comes again."""
    behind_the_head = _call_behind_the_head()
    scene = Scene(monkeypatch)
    calls = scene.begin()
    scene.world.next(behind_the_head, die, before=True)
    with pytest.raises(Killed):
        scene.keyed.commit("s")
    assert len(scene.world.calls.names) > calls
    scene.world.mend()
    scene.client.append("s", "said later")
    scene.service.sweep(901)
    scene.service.pump()

    answer = scene.keyed.commit("s").result

    assert (answer["archived"], answer["first_seq"], answer["last_seq"]) == (True, 1, 2)
    assert scene.client.get(f"/tasks/{answer['task_id']}").result["status"] == "completed"
    assert len(scene.archives("s")) == 1
    assert scene.client.look("s").result["message_count"] == 1


@cache
def _call_behind_the_head() -> int:
    """How many calls a commit has made when its head is written: the PUT that follows the due marker."""
    with pytest.MonkeyPatch.context() as patch:
        scene = Scene(patch)
        before = scene.begin()
        scene.keyed.commit("s")
        names = scene.world.calls.names[before:]
    return len(names) - 1 - names[::-1].index("objects.put") + 1


def test_a_session_that_was_deleted_is_not_created_by_a_late_repeat(monkeypatch: pytest.MonkeyPatch) -> None:
    """Created, killed before the answer was kept, deleted by another client; then the first one comes again. A life
    that ended does not begin again: the sweep is going to erase what lies under its incarnation."""
    scene = Scene(monkeypatch)
    scene.world.items.faults.before("update", die, nth=2)  # the list, then the answer
    with pytest.raises(Killed):
        scene.keyed.create("new")
    assert scene.client.delete("/sessions/new").status == 200
    scene.world.clock.advance(LEASE)
    assert scene.keyed.create("new").refusal == (412, "FAILED_PRECONDITION")
    assert scene.client.look("new").status == 404
    assert scene.keyed.create("new").status == 200  # the key is free: this one is new
