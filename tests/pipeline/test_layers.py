"""Indexes in layers, under everything that can happen to them: heads so small that each merge makes a layer."""

import json
from collections.abc import Iterator

import pytest

from strandline.domain import layers
from strandline.domain.errors import Corrupt
from strandline.pipeline import memory, session
from strandline.pipeline.restore import run_restore
from strandline.ports import Ambiguous
from strandline.storage.layout import layers_of
from strandline.storage.parsing import layer_of
from tests.handlers.test_canaries import readable
from tests.pipeline import erasing
from tests.pipeline import test_memory_races as races
from tests.pipeline.faults import FAULTS, going_on, run
from tests.pipeline.test_embedding import Embedding
from tests.pipeline.test_remains import every_version, quoting
from tests.pipeline.world import ALICE, DAY, World, counted

TOPICS = ("tea", "sport", "rain", "wool", "music", "bread", "birds", "chess")
anything = memory.matching(None, absent=False)


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layers, "HEAD_WEIGHT", 200)


def line(topic: str) -> str:
    return f"I say this of {topic} and mean it"


def remember(world: World, *topics: str) -> None:
    for topic in topics:
        world.remember(f"on-{topic}", f"{topic}: {line(topic)}")


def layer_keys(world: World, head: str) -> list[str]:
    return [key for key in world.stored(layers_of(head)) if layer_of(key)]


MEMORIES, MESSAGES = ALICE.index("memories"), ALICE.index("messages")


def test_every_merge_makes_a_layer_and_four_become_one(world: World) -> None:
    counts = []
    for topic in TOPICS:
        remember(world, topic)
        counts.append(len(layer_keys(world, MEMORIES)))
    assert counts == [1, 2, 3, 1, 2, 3, 4, 2]
    assert sorted(world.find("say mean", limit=50)) == sorted(map(line, TOPICS))
    assert sorted(world.find("say mean", limit=50, context_type="message")) == sorted(
        f"{topic}: {line(topic)}" for topic in TOPICS
    )


def test_a_warm_search_is_one_conditional_get_however_many_layers(world: World) -> None:
    remember(world, *TOPICS[:3])
    services = world.services()
    _, cold = counted(world, lambda: memory.list_memories(services, ALICE, ""))
    world.objects.bytes.clear()
    _, warm = counted(world, lambda: memory.list_memories(services, ALICE, ""))
    assert (cold, warm) == ({"objects.get": 4}, {"objects.get": 1})
    assert world.objects.bytes["get"] == 0


def before_the_merge() -> World:
    """Three layers, and an archive to be merged that makes them one."""
    world = World()
    remember(world, *TOPICS[:3])
    world.append("new", f"tea: {line('milk')}", f"wool: {line('wool')}")
    world.commit("new")
    world.extract_next()
    return world


def calls_of_the_merge() -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layers, "HEAD_WEIGHT", 200)
        world = before_the_merge()
        before = len(world.calls.names)
        world.merge_next()
    return len(world.calls.names) - before


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("at", range(calls_of_the_merge()))
def test_one_fault_anywhere_in_a_merge_of_layers_changes_nothing_in_the_end(at: int, kind: str) -> None:
    world = before_the_merge()  # B-B17
    FAULTS[kind](world, at)
    run(world, lambda world: world.merge_next())
    world.mend()
    world.heal()
    wanted = [line(topic) for topic in (*TOPICS[:4], "milk")]
    assert sorted(world.find("say mean", limit=50)) == sorted(wanted)
    assert len(world.find("say mean", limit=50, context_type="message")) == 5
    listed = memory.list_memories(world.services(), ALICE, "")
    assert list(listed) == [f"preferences/{topic}.md" for topic in sorted(TOPICS[:4])]
    assert world.head("new").completed == 1


@pytest.mark.parametrize("act", [races.add_a_line, races.replace_all, races.remove])
def test_the_index_agrees_with_the_files_whoever_comes_in_between(act: races.Act) -> None:  # B-C10 B-C15
    for _, world in races.races(act):
        races.expect_index_like_files(world)


def test_a_deleted_memory_is_gone_at_once_though_its_layer_is_there(world: World) -> None:  # B-C15
    remember(world, *TOPICS[:3])
    old = layer_keys(world, MEMORIES)
    warm = world.services()
    memory.list_memories(warm, ALICE, "")

    memory.delete(world.services(), ALICE, "preferences/tea.md", anything)

    assert set(old) <= set(layer_keys(world, MEMORIES))
    assert sorted(world.find("say mean")) == sorted(map(line, TOPICS[1:3]))
    assert list(memory.list_memories(warm, ALICE, "")) == ["preferences/rain.md", "preferences/sport.md"]


def test_of_a_deleted_session_no_version_of_any_layer_is_left(world: World) -> None:  # B-A15
    remember(world, *TOPICS)
    assert len(said_of(world, "tea")) > 1
    session.delete(world.services(), ALICE, "on-tea")
    assert said_of(world, "tea") == []
    assert len(world.find("say mean", limit=50, context_type="message")) == len(TOPICS) - 1


def said_of(world: World, topic: str) -> list[str]:
    """Keys of the message index of which a version quotes what was said on it."""
    found = [(key, body) for key, body in every_version(world) if "/index/messages" in key and body]
    return [key for key, body in found if line(topic) in readable(key, body)]


@pytest.mark.parametrize("kind", FAULTS)
def test_a_delete_that_dies_is_finished_and_nothing_is_left(kind: str) -> None:  # B-A15 B-B17
    for world in dying_deletes(kind):
        world.mend()
        world.heal()
        world.clock.advance(2 * DAY)
        world.heal()
        assert said_of(world, "tea") == []
        assert quoting(world, line("tea")) == []


def dying_deletes(kind: str) -> Iterator[World]:
    for at in range(0, 80, 2):
        world = World()
        remember(world, *TOPICS[:5])
        FAULTS[kind](world, at)
        with going_on():
            session.delete(world.services(), ALICE, "on-tea")
        if world.calls.trip is not None:
            return
        if world.head("on-tea").buried_at:
            yield world
    raise AssertionError("a delete of so many calls")


def test_what_is_lost_is_made_again(world: World) -> None:
    remember(world, *TOPICS)
    world.objects.delete(MEMORIES)
    world.objects.delete(layer_keys(world, MESSAGES)[0])
    with pytest.raises(Corrupt):
        world.find("say", context_type="message")

    assert run_restore(world.services())["indexes"] == 2

    assert sorted(world.find("say mean", limit=50)) == sorted(map(line, TOPICS))
    assert len(world.find("say mean", limit=50, context_type="message")) == len(TOPICS)
    assert run_restore(world.services())["indexes"] == 0


def test_a_rebuilt_index_finds_what_the_old_one_found(world: World) -> None:
    remember(world, *TOPICS)
    memory.delete(world.services(), ALICE, "preferences/tea.md", anything)
    before = world.find("say of rain and mean it", limit=50)
    world.objects.delete(MEMORIES)
    run_restore(world.services())
    assert world.find("say of rain and mean it", limit=50) == before


def test_everything_of_an_erased_user_goes(world: World) -> None:
    remember(world, *TOPICS[:3])
    task_id = erasing.begin(world, ALICE)
    erasing.finish(world)
    assert erasing.receipt(world, task_id)["objects"]["index"] == 2 + 3 + 3
    erasing.nothing_left(world, ALICE)


@pytest.fixture
def embedding() -> Embedding:
    return Embedding()


def test_vectors_lie_in_layers_too(embedding: Embedding) -> None:
    for n, word in enumerate(("oolong", "oars", "cello", "brew", "music", "boat")):
        embedding.remember(f"s{n}", f"topic{n}: I like {word}")
    key = ALICE.vectors("memories")
    top = json.loads(embedding.body(key).split(b"\n")[0])
    assert len(top["layers"]) == len(layer_keys(embedding, key)) > 0
    assert embedding.find("rowing")[0] in ("I like oars", "I like boat")
    asked = [text for batch in embedding.embedder.asked for text in batch]
    assert len(asked) == len(set(asked))


def test_the_vectors_of_a_deleted_session_are_in_no_layer(embedding: Embedding) -> None:
    for n, word in enumerate(("oolong", "oars", "cello", "brew", "music")):
        embedding.remember(f"s{n}", f"topic{n}: I like {word}")
    key = ALICE.vectors("messages")
    services = embedding.services()
    before = services.vectors.read(key)
    assert before is not None and len(before.value.rows) == 5

    session.delete(embedding.services(), ALICE, "s0")

    found = services.vectors.read(key)
    assert found is not None and len(found.value.rows) == 4
    names = {layer.name for layer in found.value.layers}
    versions = {k for k, _ in every_version(embedding, layers_of(key))}
    assert {layer[0] for k in versions if (layer := layer_of(k))} == names


def test_a_store_that_is_silent_at_the_tidying_stops_no_merge(world: World) -> None:
    world = before_the_merge()
    world.objects.faults.before("list", Ambiguous("down"))
    world.merge_next()
    assert world.head("new").completed == 1
