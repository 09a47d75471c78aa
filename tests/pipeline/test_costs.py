"""How many requests each use case makes. The numbers are the design's, not the code's."""

from collections import Counter
from functools import cache

import pytest

from strandline.domain import session
from strandline.domain.gravestone import bury
from strandline.domain.message import Draft
from strandline.domain.session import Head, Segment
from strandline.pipeline import archive
from strandline.pipeline.commit import load_head
from strandline.pipeline.context import run_context
from strandline.pipeline.library import Library
from strandline.pipeline.memory import list_memories
from strandline.pipeline.search import Query, run_search
from strandline.storage.codec import HeadCodec
from strandline.storage.document import Stamp
from tests.pipeline.world import ALICE, World, counted

KIB = 1024
TOLD = {"items.put": 1, "bus.put": 1, "items.delete": 1}  # an event, besides its place in the journal
AT = "2026-01-01T00:00:00.000Z"
LONG = "the quick brown fox jumps over the lazy dog " * 5  # 220 bytes, an ordinary turn


@cache
def long_head(messages: int) -> bytes:
    """A head with that many live messages, grown by the domain's own steps; the segments' objects are left out."""
    head = Head("acme", "alice", "s", "0" * 32, created_at=AT, updated_at=AT)
    for start in range(0, messages, 100):
        head, _ = session.append(head, [_draft(n) for n in range(start + 1, start + 101)], now=AT)
        if session.full(head, 32 * KIB):
            head = session.spill(head, Segment(head.tail_from, head.last_seq, 0, head.tail_bytes))
    return HeadCodec().encode(head, Stamp(1, ()))


def _draft(number: int) -> Draft:
    text = b'{"id":"m%d","created_at":"%s","tokens":45,"role":"user","content":"%s"}'
    return Draft(f"m{number}", text % (number, AT.encode(), LONG.encode()), 45)


def long_session(world: World, messages: int) -> None:
    world.objects.put(ALICE.head("s"), long_head(messages))


def warm(world: World) -> Library:
    """A function that has just written to the session."""
    service = world.services()
    world.append("s", "warming up", by=service, ids="warm")
    return service


@pytest.mark.parametrize("messages", [0, 1_000, 100_000])
def test_a_warm_append_is_one_put_at_any_length(world: World, messages: int) -> None:  # B-A11
    long_session(world, messages)
    service = warm(world)
    before = world.objects.bytes["put"]

    done, calls = counted(world, lambda: world.append("s", LONG, by=service, ids="n"))

    assert calls == {"objects.put": 1}
    assert done.receipts[0].seq == messages + 2
    # the inline tail (64 KiB), the id window (1,024 ids: 11 KiB as base64) and 30 bytes a segment
    assert world.objects.bytes["put"] - before < 128 * KIB


@pytest.mark.parametrize("messages", [0, 100_000])
def test_a_cold_append_reads_the_head_and_nothing_else(world: World, messages: int) -> None:  # B-A11
    long_session(world, messages)

    _, calls = counted(world, lambda: world.append("s", LONG, ids="n"))

    assert calls == {"objects.get": 1, "objects.put": 1}


def test_a_warm_batch_is_one_put(world: World) -> None:  # B-A11
    long_session(world, 0)
    service = warm(world)
    _, calls = counted(world, lambda: world.append("s", *["x"] * 100, by=service, ids="n"))
    assert calls == {"objects.put": 1}


def test_a_full_tail_costs_one_put_more(world: World) -> None:  # B-A11
    long_session(world, 0)
    service = warm(world)
    world.append("s", "x" * 60 * KIB, by=service, ids="big")

    _, calls = counted(world, lambda: world.append("s", "x" * 8 * KIB, by=service, ids="more"))

    # the tail as a segment, then the head
    assert calls == {"objects.put": 2}


def test_a_hundred_appends_are_a_hundred_puts_and_the_spills(world: World) -> None:  # B-A11
    long_session(world, 0)
    service = warm(world)

    def write() -> None:
        for n in range(100):
            world.append("s", "x" * 2 * KIB, by=service, ids=f"m{n}-")

    _, calls = counted(world, write)

    # 200 KiB of text and its JSON: the tail of 64 KiB fills up three times
    assert calls == {"objects.put": 103}


def test_the_first_append_looks_once_lists_the_session_and_writes(world: World) -> None:  # B-A11
    _, calls = counted(world, lambda: world.append("s", LONG))
    # the query: is its user being erased?
    assert calls == {"objects.get": 1, "items.query": 1, "items.update": 1, "objects.put": 1}


def test_a_duplicate_writes_nothing(world: World) -> None:  # B-A7 B-A11
    long_session(world, 0)
    service = warm(world)

    _, calls = counted(world, lambda: world.append("s", "warming up", by=service, ids="warm"))

    assert calls == {"objects.get": 1}  # what a warm copy says about duplicates is checked against the store


def test_a_commit(world: World) -> None:
    world.append("s", "tea: I like tea")
    _, calls = counted(world, lambda: world.commit("s"))
    assert calls == {
        "objects.get": 1,  # the head
        "objects.put": 2,  # the archive, the head
        "items.put": 1,  # the due marker that heals it
        "items.update": 2,  # its task, its line in the session list
        "extract_queue.send": 1,
    }


def test_a_commit_reads_each_segment_once(world: World) -> None:
    for n in range(3):
        world.append("s", "x" * 60 * KIB, ids=f"m{n}-")
    _, calls = counted(world, lambda: world.commit("s"))
    assert (calls["objects.get"], calls["objects.put"]) == (1 + 2, 2)


def test_a_commit_of_nothing_reads_the_head(world: World) -> None:  # B-B1
    world.create("s")
    _, calls = counted(world, lambda: world.commit("s"))
    assert calls == {"objects.get": 1}


def test_an_extraction(world: World) -> None:
    world.append("s", "tea: I like tea")
    world.commit("s")
    _, calls = counted(world, world.extract_next)
    assert calls == {
        # candidates (none yet), the head for the policy, the archive's messages, once, and types (none), the journal;
        # the working memory (none yet)
        "objects.get": 6,
        "objects.list": 1,  # the types that the user has declared
        "objects.put": 4,  # the journal, candidates, abstract, overview
        "items.update": 1,  # the task is running
        "merge_queue.send": 1,
        **TOLD,
    }


@pytest.mark.parametrize("files", [0, 1, 5])
def test_a_merge_reads_and_writes_each_file_once(world: World, files: int) -> None:
    world.append("s", *(f"topic{n}: I like it" for n in range(files)), "no memory in this")
    world.commit("s")
    world.extract_next()

    _, calls = counted(world, world.merge_next)

    # candidates, diff (none yet), both indexes, the archive's messages, the head; each file, and then the journal
    assert calls["objects.get"] == 6 + files + (1 if files else 0)
    # diff, done.json, the head, the message index; each file, and then the memory index and the journal
    assert calls["objects.put"] == 4 + files + (2 if files else 0)
    assert calls["items.update"] == 1  # the task is completed
    del calls["objects.get"], calls["objects.put"], calls["items.update"]
    # what tells the sweep to look at the files: before them, and away behind the index
    assert calls == (Counter(TOLD) + Counter({"items.put": 1, "items.delete": 1}) if files else {})


def test_a_batch_of_ten_archives_writes_a_shared_file_and_the_indexes_once(world: World) -> None:
    for n in range(10):
        world.append(f"s{n}", f"tea: I like tea number {n}")
        world.commit(f"s{n}")
        world.extract_next()

    _, calls = counted(world, world.merge_next)

    # per archive: candidates, diff, messages, head; once: two indexes, the file, the journal
    assert calls["objects.get"] == 10 * 4 + 4
    # per archive: diff, journal, done.json, head; once: two indexes and the file
    assert calls["objects.put"] == 10 * 4 + 3


def test_a_repeated_merge_writes_nothing(world: World) -> None:  # B-B16
    world.remember("s", "tea: I like tea")
    world.merge_queue.send(world.merge_queue.sent[0])
    bytes_before = world.objects.bytes["put"]
    versions = {key: world.writes(key) for key in world.stored()}

    world.settle()

    assert {key: world.writes(key) for key in world.stored()} == versions
    assert world.objects.bytes["put"] - bytes_before == 0


def test_a_search_reads_both_indexes_and_a_warm_one_moves_no_body(world: World) -> None:
    world.remember("s", "tea: I like tea")
    service = world.services()

    _, cold = counted(world, lambda: run_search(service, ALICE, Query("tea")))
    read = world.objects.bytes["get"]
    _, again = counted(world, lambda: run_search(service, ALICE, Query("tea")))

    assert cold == again == {"objects.get": 2}
    assert world.objects.bytes["get"] == read


def test_a_message_search_of_a_session_reads_its_head_too(world: World) -> None:
    world.remember("s", "tea: I like tea")
    query = Query("tea", context_type="message", session_id="s")
    _, calls = counted(world, lambda: run_search(world.services(), ALICE, query))
    assert calls == {"objects.get": 2}


def test_a_look_at_a_long_session_is_one_get(world: World) -> None:  # B-A11
    long_session(world, 10_000)
    _, calls = counted(world, lambda: load_head(world.services(), ALICE, "s"))
    assert calls == {"objects.get": 1}


def test_a_small_context_of_a_long_session_reads_the_head_only(world: World) -> None:  # B-A11
    long_session(world, 10_100)
    _, calls = counted(world, lambda: run_context(world.services(), ALICE, "s", 100))
    assert calls == {"objects.get": 1}


def test_the_newest_messages_of_a_long_session_are_in_its_head(world: World) -> None:  # B-A11
    long_session(world, 10_100)

    found, calls = counted(world, lambda: archive.log(world.services(), ALICE, "s", archive.Window(10_090)))

    assert [m["seq"] for m in found] == list(range(10_091, 10_101))
    assert calls["objects.get"] == 1


def test_a_list_of_memories_is_one_get(world: World) -> None:
    for n in range(5):
        world.remember(f"s{n}", f"topic{n}: I like it")
    _, calls = counted(world, lambda: list_memories(world.services(), ALICE, ""))
    assert calls == {"objects.get": 1}


def _bytes_of(head: Head) -> int:
    return len(HeadCodec().encode(head, Stamp(1, ())))


def test_a_gravestone_holds_nothing_that_was_said(world: World) -> None:  # B-A15
    world.append("s", "my secret")
    buried = bury(world.head("s"), now="2026-01-02T00:00:00.000Z")
    assert b"secret" not in HeadCodec().encode(buried, Stamp(1, ()))
    assert _bytes_of(buried) < 1_000
