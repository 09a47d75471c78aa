"""The deployed service as its clients and queues meet it, in this process.

The routes, batch sizes and receive limits are the template's, HTTP and queue events are made as the gateway makes
them, the handlers are the functions' own. Behind the ports stand the fakes.
"""

import hashlib
import importlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote, urlencode
from uuid import UUID

import pytest

from infra.local import gateway
from infra.local.template import Template
from infra.local.triggers import batch_event, failed_ids
from strandline.entry import authorizer, settings, telemetry, wiring
from strandline.pipeline.services import Ports
from strandline.storage.keys import KeyOwner, Role
from tests.fakes import Delivery, MemoryQueue
from tests.handlers.declared import differences
from tests.pipeline.trips import Killed
from tests.pipeline.world import World

TEMPLATE = Template(Path(__file__).parents[2] / "template.yaml", {})
ROUTES, FUNCTIONS = TEMPLATE.routes(), TEMPLATE.functions()
TRIGGERS = {trigger.queue: trigger for trigger in TEMPLATE.queue_triggers()}
ROOT_KEY = "root-key-of-the-tests"
ENVIRONMENT = {
    "STRANDLINE_BUCKET": "bucket",
    "STRANDLINE_TABLE": "table",
    "POWERTOOLS_SERVICE_NAME": "strandline",
    "STRANDLINE_ROOT_KEY_SHA256": hashlib.sha256(ROOT_KEY.encode()).hexdigest(),
}
MAX_RECEIVES = 5


@dataclass(frozen=True)
class Answer:
    """What came back over HTTP."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def result(self) -> Any:
        """The result of a good answer, its envelope checked."""
        assert self.status == 200, self.text
        assert self.json["status"] == "ok"
        assert self.headers["content-type"] == "application/json"
        return self.json["result"]

    @property
    def error(self) -> Any:
        """The error of a refusal, its envelope checked."""
        assert self.status >= 400, self.text
        assert set(self.json) == {"status", "error"}
        assert self.json["status"] == "error"
        error = self.json["error"]
        assert set(error) == {"code", "message", "details", "retryable", "request_id"}
        assert error["message"] and error["request_id"]
        assert ("retry-after" in self.headers) == error["retryable"]
        return error

    @property
    def refusal(self) -> tuple[int, str]:
        return self.status, self.error["code"]


class Service:
    """The functions, and what stands behind them in `world`."""

    def __init__(self, patch: pytest.MonkeyPatch, world: World) -> None:
        self.world = world
        self.dead: list[Delivery] = []
        for queue in (
            world.commit_queue,
            world.extract_queue,
            world.merge_queue,
            world.learn_queue,
            world.erase_queue,
        ):
            queue.trace = telemetry.current_trace
        self._patch = patch
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        patch.setattr(wiring, "ports", self._ports)
        self.cold()

    def _ports(self, _config: object) -> Ports:
        return self.world.ports()

    def configure(self, **environment: str) -> None:
        """Deploys with other settings."""
        for name, value in environment.items():
            self._patch.setenv(name, value)
        self.cold()

    def cold(self) -> None:
        """Every function starts anew and remembers nothing."""
        for made in (wiring.services, wiring.library, wiring.quotas, settings.settings):
            made.cache_clear()
        self._patch.setattr(authorizer, "_remembered", authorizer.Remembered())

    def client(self, user: str = "alice", account: str = "acme", role: Role = "user") -> "Client":
        """A client with a key of its own."""
        key = f"key of {user} of {account}, {role}"
        hashed = hashlib.sha256(key.encode()).hexdigest()
        self.world.services().keys.add(hashed, KeyOwner(account, user, role))
        return Client(self, {"X-API-Key": key})

    @property
    def root(self) -> "Client":
        return Client(self, {"X-API-Key": ROOT_KEY})

    @property
    def nobody(self) -> "Client":
        return Client(self, {})

    # ---- HTTP

    def request(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """One HTTP request through gateway, authorizer and function."""
        asked = gateway.Request(method, target, tuple(headers.items()), body, "127.0.0.1")
        found = gateway.match(ROUTES, method, asked.path)
        assert found is not None, f"no route for {method} {target}"
        route, parameters = found
        event = gateway.request_event(asked, route, parameters)
        if route.authorizer:
            allowed = gateway.authorized(
                event, self.invoke(route.authorizer, gateway.authorizer_event(event))
            )
            assert allowed is not None, "the authorizer leaves refusing to the functions"
            event = allowed
        return self.answer(route.function, event)

    def answer(self, function: str, event: Mapping[str, Any]) -> Answer:
        """A function's answer to an HTTP event, which is one that its route declares."""
        response = gateway.response(self.invoke(function, event))
        answer = Answer(response.status, dict(response.headers), response.body.decode())
        asked = event["requestContext"]["http"]
        wrong = differences(asked["method"], event["rawPath"], answer.status, answer.headers, answer.text)
        assert not wrong, "\n".join(wrong)
        return answer

    def invoke(self, function: str, event: Any) -> Any:
        """Calls a function's handler as Lambda does: event and answer cross as JSON."""
        name = FUNCTIONS[function].code.name
        handler = importlib.import_module(f"functions.{name}.handler").handler
        return json.loads(json.dumps(handler(json.loads(json.dumps(event)), SimpleNamespace())))

    # ---- queues

    def pump(self, rounds: int = 100) -> None:
        """Delivers until the queues are empty; what fails comes again, up to the template's limit of receives."""
        for _ in range(rounds):
            busy = [
                self.deliver("IngestQueue", self.world.ingest_queue),
                self.deliver("CommitQueue", self.world.commit_queue),
                self.deliver("ExtractQueue", self.world.extract_queue),
                self.deliver("MergeQueue", self.world.merge_queue),
                self.deliver("LearnQueue", self.world.learn_queue),
                self.deliver("EraseQueue", self.world.erase_queue),
            ]
            if not any(busy):
                return
        raise AssertionError("the queues do not run empty")

    def deliver(self, name: str, queue: MemoryQueue, *, hide: bool = False) -> bool:
        """One batch of a queue; False when there was none. What fails comes again by the next delivery, unless it is to
        `hide` until somebody puts it back."""
        trigger = TRIGGERS[name]
        batch = queue.receive(trigger.batch_size)
        if not batch:
            return False
        failed = self._hand_over(name, [_delivered(delivery) for delivery in batch])
        for number, delivery in enumerate(batch):
            if number not in failed:
                queue.done(delivery)
            elif delivery.received >= MAX_RECEIVES:
                queue.done(delivery)
                self.dead.append(delivery)
                if name == "IngestQueue":
                    self.world.dead_letters.put(delivery.body, delivery.group)
            elif not hide:
                queue.back(delivery)
        return True

    def send_batch(
        self, queue: str, bodies: Sequence[tuple[str, int]], traces: Sequence[str | None] = ()
    ) -> set[int]:
        """Hands (body, receive count) to a queue's function; answers the positions it wants to see again."""
        messages = [_message(UUID(int=n), body, count) for n, (body, count) in enumerate(bodies)]
        for message, trace in zip(messages, traces, strict=False):
            message["Attributes"].update({"AWSTraceHeader": trace} if trace else {})
        return self._hand_over(queue, messages)

    def _hand_over(self, queue: str, messages: Sequence[dict[str, Any]]) -> set[int]:
        trigger = TRIGGERS[queue]
        names = [m["MessageId"] for m in messages]
        try:
            answer = self.invoke(trigger.function, batch_event(queue, messages))
        except (Exception, Killed):  # noqa: BLE001 - Lambda fails the whole batch, whatever it was
            return set(range(len(messages)))
        return {names.index(failed) for failed in failed_ids(answer, names)}

    def sweep(self, seconds: float = 0) -> Any:
        """Time goes by, then the schedule fires."""
        self.world.clock.advance(seconds)
        event = json.loads((Path(__file__).parents[2] / "events/sweep.json").read_text())
        return self.invoke("SweepFunction", event)


def _message(name: UUID, body: str, received: int) -> dict[str, Any]:
    return {
        "MessageId": str(name),
        "ReceiptHandle": f"receipt of {name}",
        "Body": body,
        "MD5OfBody": hashlib.md5(body.encode(), usedforsecurity=False).hexdigest(),
        "Attributes": {"ApproximateReceiveCount": str(received), "SentTimestamp": "1767225600000"},
    }


def _delivered(delivery: Delivery) -> dict[str, Any]:
    message = _message(UUID(int=id(delivery)), delivery.body, delivery.received)
    message["ReceiptHandle"] = delivery.receipt
    message["Attributes"].update({"AWSTraceHeader": delivery.trace} if delivery.trace else {})
    return message


@dataclass
class Client:
    """An HTTP client with its key."""

    service: Service
    headers: dict[str, str] = field(default_factory=dict)

    def acting(self, **headers: str) -> "Client":
        """The same client with more headers: `x_strandline_user="bob"`."""
        more = {name.replace("_", "-"): value for name, value in headers.items()}
        return Client(self.service, {**self.headers, **more})

    def send(self, method: str, path: str, body: bytes = b"", **query: Any) -> Answer:
        """A request below `/api/v1`; the path is sent as it is, query values are encoded."""
        target = f"/api/v1{path}" + (f"?{urlencode(query)}" if query else "")
        headers = {"Content-Type": "application/json", **self.headers}
        return self.service.request(method, target, headers, body)

    def get(self, path: str, **query: Any) -> Answer:
        return self.send("GET", path, **query)

    def delete(self, path: str) -> Answer:
        return self.send("DELETE", path)

    def post(self, path: str, body: Any = None) -> Answer:
        return self.send("POST", path, b"" if body is None else json.dumps(body).encode())

    def put(self, path: str, body: Any) -> Answer:
        return self.send("PUT", path, json.dumps(body).encode())

    # ---- sessions

    def create(self, session_id: str | None = None, **fields: Any) -> Answer:
        named = {} if session_id is None else {"session_id": session_id}
        return self.post("/sessions", {**named, **fields})

    def append(self, session_id: str, content: str | None = None, **fields: Any) -> Answer:
        said = {} if content is None else {"content": content}
        return self.post(f"{at(session_id)}/messages", {"role": "user", **said, **fields})

    def batch(self, session_id: str, *contents: str, **fields: Any) -> Answer:
        messages = [{"role": "user", "content": text} for text in contents]
        return self.post(f"{at(session_id)}/messages/batch", {"messages": messages, **fields})

    def commit(self, session_id: str, **fields: Any) -> Answer:
        return self.post(f"{at(session_id)}/commit", fields or None)

    def look(self, session_id: str) -> Answer:
        return self.get(at(session_id))

    def log(self, session_id: str) -> list[tuple[int, str]]:
        return [(m["seq"], m["content"]) for m in self.get(f"{at(session_id)}/messages", limit=1000).result]

    def context(self, session_id: str, **query: Any) -> Answer:
        return self.get(f"{at(session_id)}/context", **query)

    def remember(self, session_id: str, *contents: str, **fields: Any) -> str:
        """Appends, commits and lets everything run; answers the task id."""
        for content in contents:
            assert self.append(session_id, content, **fields).status == 200
        task_id = self.commit(session_id).result["task_id"]
        self.service.pump()
        return str(task_id)

    # ---- memories

    def find(self, query: str, **fields: Any) -> list[Any]:
        return list(self.post("/search/find", {"query": query, **fields}).result["memories"])

    def memory(self, path: str) -> Answer:
        return self.get(f"/memories/{quote(path)}")


def at(session_id: str) -> str:
    """A session's path, its id encoded."""
    return f"/sessions/{quote(session_id, safe='')}"
