"""memory_diff.json: what one archive changed, and nothing else."""

from strandline.domain.errors import Unavailable
from strandline.pipeline import memory
from strandline.pipeline.merge import run_merge
from strandline.ports import Ambiguous
from tests.pipeline.models import Scripted
from tests.pipeline.test_merge import TEA, diff_of, waiting
from tests.pipeline.world import ALICE, World


def test_an_add_carries_what_is_there_after_it(world: World) -> None:  # B-C11
    world.remember("s", "tea: I like green tea")
    diff = diff_of(world, "s")
    (added,) = diff["operations"]["adds"]
    assert added["uri"] == "viking://user/alice/memories/preferences/tea.md"
    assert added["memory_type"] == "preferences"
    assert added["after"] == memory.read(world.services(), ALICE, TEA).body
    assert "before" not in added
    assert diff["operations"]["updates"] == diff["operations"]["deletes"] == []
    assert diff["summary"] == {
        "total_adds": 1,
        "total_updates": 0,
        "total_deletes": 0,
        "by_type": {"total": 1, "preferences": 1},
    }


def test_an_update_carries_both_sides(world: World) -> None:  # B-C11
    world.remember("s", "tea: I like green tea")
    before = memory.read(world.services(), ALICE, TEA).body
    world.remember("s", "tea: never with milk", ids="n")

    diff = diff_of(world, "s", 2)

    (updated,) = diff["operations"]["updates"]
    assert updated["before"] == before
    assert updated["after"] == memory.read(world.services(), ALICE, TEA).body
    assert diff["operations"]["adds"] == []
    assert (diff["summary"]["total_adds"], diff["summary"]["total_updates"]) == (0, 1)


def test_an_extraction_of_nothing_is_zeros_and_empty_lists(world: World) -> None:  # B-C11
    world.remember("s", "no memory in this")
    diff = diff_of(world, "s")
    assert diff["operations"] == {"adds": [], "updates": [], "deletes": []}
    assert diff["summary"] == {
        "total_adds": 0,
        "total_updates": 0,
        "total_deletes": 0,
        "by_type": {"total": 0},
    }
    assert world.head("s").completed == 1


def test_what_a_user_had_written_before_is_the_before_of_the_diff(world: World) -> None:  # B-C11
    memory.write(world.services(), ALICE, TEA, "# My tea\n\nmine\n", memory.matching(None, absent=False))
    world.remember("s", "tea: I like green tea")
    (updated,) = diff_of(world, "s")["operations"]["updates"]
    assert updated["before"] == "# My tea\n\nmine\n"
    assert "mine" in updated["after"] and "I like green tea" in updated["after"]


def test_the_diff_of_a_merge_that_died_after_its_files_is_the_same(world: World) -> None:  # B-C11
    world.remember("old", "tea: from a glass")
    (request,) = waiting(world, {"s": ["tea: I like green tea"]})
    calm = World()
    calm.remember("old", "tea: from a glass")
    run_merge(calm.services(), waiting(calm, {"s": ["tea: I like green tea"]}))
    key = next(k for k in world.stored("/sessions/s/") if k.endswith("candidates.json"))
    diff_key = key.replace("candidates.json", "memory_diff.json")
    for nth in range(1, 4):
        world.objects.faults.before("put", Ambiguous("down"), nth=nth + 3)  # file, two indexes, then the diff

    assert isinstance(run_merge(world.services(), [request])[0], Unavailable)
    assert world.stored("/sessions/s/").count(diff_key) == 0
    run_merge(world.services(), [request])

    assert world.body(diff_key) == calm.body(diff_key)


def test_a_patch_without_a_place_is_told_of_and_the_others_are_applied() -> None:  # B-C4 B-C5
    world = World(model=Scripted())
    world.remember("s", "add|tea|green|", "add|tea|black|")
    world.remember("t", "patch|tea|white|red", "patch|tea|green|jasmine", "drop|tea|black|")
    diff = diff_of(world, "t")
    uri = "viking://user/alice/memories/preferences/tea.md"
    reason = "its search text is not there"
    assert diff["skipped"] == [{"uri": uri, "field": "content", "reason": reason, "seq_from": 1, "seq_to": 1}]
    ((before, after),) = [(op["before"], op["after"]) for op in diff["operations"]["updates"]]
    assert "- green <!--" in before and "- ~~green~~" not in before
    assert "- ~~green~~" in after and "- jasmine <!--" in after and "- ~~black~~" in after
    assert "red" not in after


def test_of_two_patches_in_one_batch_the_second_sees_the_first() -> None:  # B-C5
    world = World(model=Scripted())
    requests = waiting(
        world,
        {"a": ["add|tea|green|"], "b": ["patch|tea|green|jasmine"], "c": ["patch|tea|jasmine|white"]},
    )
    assert set(run_merge(world.services(), requests)) == {None}
    lines = memory.read(world.services(), ALICE, TEA).lines
    assert [(line.text, line.closing is None) for line in lines] == [
        ("green", False),
        ("jasmine", False),
        ("white", True),
    ]
    assert [diff_of(world, name)["skipped"] for name in "abc"] == [[], [], []]


def test_a_patch_that_would_fit_twice_is_passed_over() -> None:  # B-C5
    world = World(model=Scripted())
    world.remember("a", "add|tea|green|")
    world.remember("b", "add|tea|green|")
    world.remember("c", "drop|tea|green|")
    (skipped,) = diff_of(world, "c")["skipped"]
    assert skipped["reason"] == "its search text stands in 2 places"
    assert diff_of(world, "c")["summary"]["total_updates"] == 0  # B-C7
