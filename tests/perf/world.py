"""Where the use cases run while they are counted: on the local run's emulators, or on the fakes.

Both are atomic. `library()` is a cold function: a new set of services that remembers nothing.
"""

import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from infra.local import provision, settings
from infra.local.emulators import Emulators
from infra.local.template import Template, resolve
from strandline.domain.contracts import Message
from strandline.pipeline.library import Library
from strandline.pipeline.services import Ports, Rules
from strandline.ports import Queue
from tests.fakes import MemoryBus, MemoryDeadLetters, MemoryItems, MemoryObjects, MemoryQueue
from tests.perf.counting import Counts, Meter, counted
from tests.perf.environment import isolate

ROOT = Path(__file__).parents[2]
KEY = "bench-root-key"


class Outbox:
    """A queue that also keeps what was sent, for the next stage to be called with."""

    def __init__(self, queue: Queue) -> None:
        self.sent: list[Message] = []
        self._queue = queue

    def send(self, message: Message) -> None:
        self._queue.send(message)
        self.sent.append(message)


class World(Protocol):
    """Somewhere to run, and what it cost since it was last asked."""

    name: str

    def library(self) -> Library: ...

    def take(self) -> Counts: ...


class Emulated:
    """The adapters as deployed, on emulated services, counted by the SDK's hooks."""

    name = "SDK hooks, emulated services"

    def __init__(
        self, meter: Meter, template: Template, emulators: Emulators, known: Mapping[str, str]
    ) -> None:
        self.template = template
        self.emulators = emulators
        self.known = known
        self._meter = meter

    def library(self) -> Library:
        from strandline.entry.settings import settings
        from strandline.entry.wiring import ports

        made = ports(settings())
        extract, merge = Outbox(made.extract_queue()), Outbox(made.merge_queue())
        return Library(
            replace(made, extract_queue=lambda: extract, merge_queue=lambda: merge), settings().rules
        )

    def take(self) -> Counts:
        return self._meter.take()


class Faked:
    """The fakes, by their own counters."""

    name = "the fakes' counters"

    def __init__(self) -> None:
        self._objects = MemoryObjects()
        self._items = MemoryItems()
        self._queues = (MemoryQueue(), MemoryQueue(fifo=True))
        self._bus = MemoryBus()
        self._before = self._now()

    def library(self) -> Library:
        from strandline.adapters.clock import SystemClock
        from strandline.adapters.ids import RandomIds
        from strandline.adapters.tokens import TiktokenCounter
        from strandline.entry.wiring import RuleModel

        extract, merge = map(Outbox, self._queues)
        ports = Ports(
            objects=lambda: self._objects,
            items=lambda: self._items,
            ingest_queue=lambda: extract,
            extract_queue=lambda: extract,
            merge_queue=lambda: merge,
            dead_letters=lambda: MemoryDeadLetters(SystemClock()),
            commit_queue=lambda: merge,
            learn_queue=lambda: merge,
            erase_queue=lambda: merge,
            bus=lambda: self._bus,
            model=RuleModel,
            summariser=RuleModel,
            tokens=TiktokenCounter("cl100k_base"),
            clock=SystemClock(),
            ids=RandomIds(),
        )
        return Library(ports, Rules())

    def take(self) -> Counts:
        before, self._before = self._before, self._now()
        found = self._before - before
        kinds = {kind: n for kind, n in found.items() if kind not in ("sent", "received")}
        return Counts(kinds, sent=found["sent"], received=found["received"])

    def _now(self) -> Counter[str]:
        objects, items = self._objects.calls, self._items.calls
        return Counter(
            {
                "S3 PUT": objects["put"],
                "S3 GET": objects["get"],
                "S3 LIST": objects["list"],
                "S3 DELETE": objects["delete"],
                "table write": items["put"] + items["update"] + items["delete"],
                "table read": items["get"] + items["query"],
                "queue send": sum(len(queue.sent) for queue in self._queues),
                "event": len(self._bus.published),
                "sent": self._objects.bytes["put"],
                "received": self._objects.bytes["get"],
            }
        )


@contextmanager
def emulated() -> Iterator[Emulated]:
    """The emulators of the local run with the template's resources, and this process's environment set for them."""
    with ExitStack() as stack:
        data = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="strandline-bench-")))
        chosen = settings.read({"STRANDLINE_DATA_DIR": str(data), "STRANDLINE_LOCAL_KEY": KEY})
        template = Template(ROOT / "template.yaml", chosen.parameters)
        emulators = Emulators(ROOT / ".venv-emulator" / "bin", data, data)
        stack.callback(emulators.stop)
        emulators.wait()
        known = provision.names(template, emulators.environment["AWS_ENDPOINT_URL_SQS"])
        provision.create(template, known, emulators)
        variables = resolve(template.functions()["ApiFunction"].environment, known)
        stack.callback(isolate, dict(os.environ))
        isolate({**emulators.environment, **{name: str(value) for name, value in variables.items()}})
        yield Emulated(stack.enter_context(counted()), template, emulators, known)


def sent(queue: Queue) -> Sequence[Message]:
    """What a library's queue was given."""
    assert isinstance(queue, Outbox)
    return queue.sent
