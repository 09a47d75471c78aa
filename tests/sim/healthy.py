"""A world in which all is well, what its clients saw of it, and a hand that can spoil what is stored."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from strandline.domain.auto_commit import AutoCommitPolicy
from strandline.domain.session import Head
from strandline.pipeline import session
from strandline.storage.codec import HeadCodec
from strandline.storage.layout import Life, User
from strandline.storage.log import ref
from tests.fakes import MemoryQueue
from tests.pipeline.world import ALICE, BOB, DAY, World
from tests.sim.history import Acked, Committed, CommitUnclear, Deleted, History, ModelCall, Read
from tests.sim.invariants import check

POLICY = AutoCommitPolicy(message_count_threshold=2, keep_recent_count=1, pending_token_threshold=0)
CANARIES = {ALICE: "rhubarb", BOB: "quince"}


@dataclass
class Healthy:
    """Alice has `s` (archives 1 and 2, three live messages), `big` (a segment of which half is archived, and a tail),
    `bad` (an archive that failed), `auto` (committed by itself, but for a message) and `again` (deleted, and begun
    anew); Bob has `s` (an archive)."""

    world: World = field(default_factory=World)
    history: History = field(default_factory=History)
    step: int = 0

    def __post_init__(self) -> None:
        self.history.canaries.update(CANARIES)
        self.append("s", "tea: rhubarb leaf", "sport: rhubarb rowing", ids="a")
        self.read("s")
        self.commit("s")
        self.append("s", "tea: rhubarb root", ids="b")
        self.commit("s")
        self.append("s", "one rhubarb", "two rhubarb", "three rhubarb", ids="c")
        self.read("s")
        self.append("big", *["rhubarb" * 3_000] * 3, ids="d")
        self.append("big", "rhubarb" * 3_000, "rhubarb", ids="e")
        self.commit("big", keep=3)
        self.fail()
        self.world.create("auto", auto_commit_policy=POLICY.to_dict())
        self.append("auto", "tea: rhubarb again", "sport: rhubarb run", "more rhubarb", ids="j")
        self.world.settle()
        self.append("again", "tea: rhubarb, not for long", ids="f")
        self.commit("again")
        self.delete("again")
        self.append("again", "coffee: rhubarb", ids="g")
        self.append("s", "tea: quince", owner=BOB, ids="h")
        self.commit("s", owner=BOB)
        self.world.heal(2)
        self.world.clock.advance(DAY)
        self.world.heal(3)

    def append(self, name: str, *texts: str, owner: User = ALICE, ids: str) -> None:
        done = self.world.append(name, *texts, owner=owner, ids=ids)
        self.step += 1
        receipts = [(receipt.id, receipt.seq) for receipt in done.receipts]
        sent = [receipt.id for receipt in done.receipts]
        self.history.append(Acked(owner, name, done.head.incarnation, receipts, self.step, sent, texts))

    def commit(self, name: str, owner: User = ALICE, keep: int = 0) -> None:
        done = self.world.commit(name, owner, keep)
        assert not isinstance(done, session.FailedPrecondition)
        archive = done.archive  # type: ignore[union-attr]
        whose = done.session  # type: ignore[union-attr]
        self.history.append(
            Committed(owner, name, whose.incarnation, archive.number, archive.first, archive.last)
        )
        self.history.append(ModelCall(Life(whose).archive(archive.number)))
        self.world.settle()

    def fail(self) -> None:
        self.append("bad", "tea: rhubarb, badly", ids="i")
        self.world.commit("bad")
        self.history.append(CommitUnclear(ALICE, "bad"))
        key = next(key for key in self.world.stored("/bad/") if "/archives/" in key)
        stored = self.world.objects._entries.pop(key)
        self.world.settle()
        self.world.objects._entries[key] = stored

    def read(self, name: str, owner: User = ALICE) -> None:
        self.step += 2
        head = self.world.head(name, owner)
        lines = [(seq, i) for seq, i in self._lines(name, owner)]
        self.history.append(Read(owner, name, head.incarnation, self.step - 1, self.step, lines))

    def _lines(self, name: str, owner: User) -> list[tuple[int, str]]:
        known = {
            seq: i
            for a in self.history.of(Acked)
            if a.owner == owner and a.session_id == name
            for i, seq in a.receipts
        }
        return sorted(known.items())

    def delete(self, name: str, owner: User = ALICE) -> None:
        incarnation = self.world.head(name, owner).incarnation
        session.delete(self.world.services(), owner, name)
        self.step += 2
        self.history.append(Deleted(owner, name, incarnation, self.step - 1, self.step))

    # ---- what is held against it

    @property
    def queues(self) -> dict[str, MemoryQueue]:
        names = ("extract", "merge", "learn", "erase")
        return {name: getattr(self.world, f"{name}_queue") for name in names}

    def check(self) -> None:
        check(self.world.objects, self.world.items, self.queues, self.history, self.world.bus.published)

    # ---- the hand

    def put(self, key: str, body: bytes) -> None:
        """What is there says something else."""
        entries = self.world.objects._entries
        entries[key][-1] = replace(entries[key][-1], body=body)

    def new(self, key: str, body: bytes) -> None:
        self.world.objects.put(key, body)

    def drop(self, key: str) -> None:
        del self.world.objects._entries[key]

    def change(self, key: str, old: bytes, new: bytes) -> None:
        body = self.world.body(key)
        assert old in body
        self.put(key, body.replace(old, new, 1))

    def change_json(self, key: str, change: Callable[[Any], None]) -> None:
        row = json.loads(self.world.body(key))
        change(row)
        self.put(key, json.dumps(row, ensure_ascii=False).encode())

    def change_head(self, name: str, change: Callable[[Head], Head], owner: User = ALICE) -> None:
        codec = HeadCodec()
        head, stamp = codec.decode(self.world.body(owner.head(name)))
        self.put(owner.head(name), codec.encode(change(head), stamp))

    def set_head(self, name: str, **values: Any) -> None:
        self.change_head(name, lambda head: replace(head, **values))

    def key(self, part: str, owner: User = ALICE) -> str:
        """The one key with this in it."""
        (found,) = [key for key in self.world.stored(part) if key.startswith(owner.prefix)]
        return found

    def life(self, name: str, owner: User = ALICE) -> Life:
        return Life(ref(self.world.head(name, owner)))
