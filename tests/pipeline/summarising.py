"""Sessions whose working memory is looked at: their archives, and the versions made of them."""

from typing import Any

from strandline.domain.contracts import ExtractRequested, SessionRef
from strandline.domain.extraction import Usage
from strandline.domain.working_memory.document import Document, parse
from strandline.pipeline.commit import Committed
from strandline.storage.layout import Life
from strandline.storage.log import ref
from tests.pipeline.models import Notes
from tests.pipeline.world import World

LONG = "word " * 600  # 600 tokens in this world, 750 by the estimate of a range
SPENT = Usage(models=("test:m",), calls=1, input_tokens=100, output_tokens=20)


def notes(world: World, **behaviour: Any) -> Notes:
    made = Notes(**behaviour)
    world.summariser = made
    return made


def committed(world: World, *texts: str, ids: str) -> ExtractRequested:
    """An archive of these messages that nobody has extracted: its request, taken out of the queue."""
    world.append("s", *texts, ids=ids)
    assert isinstance(world.commit("s"), Committed)
    (delivery,) = world.extract_queue.receive(1)
    world.extract_queue.done(delivery)
    assert isinstance(delivery.message, ExtractRequested)
    return delivery.message


def three_archives(world: World) -> list[ExtractRequested]:
    return [committed(world, f"one of {n}", f"two of {n}", ids=f"m{n}-") for n in (1, 2, 3)]


def whose(world: World) -> SessionRef:
    return ref(world.head("s"))


def version(world: World, number: int) -> Document:
    return parse(world.body(Life(whose(world)).archive_file(number, "overview.md")).decode())


def facts(world: World, number: int) -> list[str]:
    return [fact.split(":")[0] for fact in version(world, number).of("facts")]


def through(world: World) -> list[int]:
    """Up to where there are versions that were made ahead."""
    return [int(key[-15:-3]) for key in world.stored("/working/")]


def live(world: World, count: int = 20) -> None:
    world.append("s", *[f"{n} {LONG}" for n in range(1, count + 1)], ids="m")
