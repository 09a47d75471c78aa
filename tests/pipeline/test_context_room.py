"""What is left of a context that a compaction has made shorter."""

import pytest

from strandline.storage.layout import Life
from strandline.storage.log import ref
from tests.pipeline.context_talk import MEMORIES, ask, everything, say, words
from tests.pipeline.world import World


@pytest.mark.parametrize("window", [600, 1_000, 4_000, 8_000, 40_000])
@pytest.mark.parametrize("question", [1, 13, 40])
def test_what_has_been_made_shorter_is_below_every_threshold(window: int, question: int) -> None:
    """However long summary, memories and kept messages, and with a question of so many hundredths of the window that
    the summary covers, or that is among them: nothing is asked for anew at once."""
    world = World()
    for n in range(window // 40):
        world.append(f"old{n % 7}", f"lake {n}: I row on the lake {words(12, f'l{n}x')}", ids=f"m{n}x")
    for n in range(min(7, window // 40)):
        world.commit(f"old{n}")
    world.settle()
    say(world, {"role": "user", "content": f"lake {words(window * question // 100, 'q')}"})
    each = window // 13
    for n in range(13):
        say(world, {"role": "assistant", "content": words(each - 4, f"t{n}x")})
    made = ask(world, window=window, compaction=None, memories=MEMORIES)
    assert (made.assembled.pressure, made.status) == ("blocking", "scheduled")
    world.commit_next()
    (archive,) = world.head("s").pending
    long = "# Work\n\n## Worklog\n" + f"- {words(20)}\n" * (window // 10)
    world.objects.put(Life(ref(world.head("s"))).archive_file(archive.number, "overview.md"), long.encode())
    world.settle()
    after = ask(world, window=window, compaction=None, memories=MEMORIES)
    assert after.covered_through and after.beside.summary_tokens and after.beside.memories.tokens
    assert (after.assembled.pressure, after.status, after.left) == ("none", "none", [])
    assert not len(world.commit_queue)
    assert everything(after) == list(range(1, 15))
