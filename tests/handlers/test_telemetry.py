"""`"telemetry": true`: what an answer says it took is what was sent, on real clients in front of moto.

The other count is taken at botocore's endpoint, where every attempt of every call passes.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import moto
import pytest
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from botocore.endpoint import Endpoint
from moto.core import DEFAULT_ACCOUNT_ID

from infra.local import provision
from infra.local.template import resolve
from strandline.adapters import aws, meter
from strandline.domain import prices
from strandline.entry import wiring
from strandline.entry.wiring import RuleModel
from strandline.pipeline.services import Ports
from strandline.ports import Ambiguous
from tests.handlers.service import TEMPLATE, Answer, Client, Service
from tests.pipeline.world import World

KINDS = {
    "PutObject": "s3_put",
    "GetObject": "s3_get",
    "ListObjectsV2": "s3_list",
    "ListObjectVersions": "s3_list",
    "DeleteObject": "s3_delete",
    "DeleteObjects": "s3_delete",
    "GetItem": "dynamodb_read",
    "Query": "dynamodb_read",
    "PutItem": "dynamodb_write",
    "UpdateItem": "dynamodb_write",
    "DeleteItem": "dynamodb_write",
    "SendMessage": "sqs",
    "PutEvents": "events",
}
ALWAYS = {"s3_put": 0, "s3_get": 0, "s3_list": 0, "dynamodb_write": 0, "dynamodb_read": 0, "sqs": 0}


class Moto:
    """Stands for the emulators."""

    def client(self, service: str) -> Any:
        return aws._session().create_client(service, "us-east-1")  # type: ignore[call-overload]


class Deployed(Service):
    """The functions on their own adapters."""

    genuine: Callable[..., Ports] = staticmethod(wiring.ports)

    def _ports(self, config: Any) -> Ports:
        return self.genuine(config)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Every attempt since the counter was last cleared."""
    seen: Counter[str] = Counter()
    genuine = Endpoint._get_response  # type: ignore[attr-defined]

    def noted(endpoint: Any, request: Any, operation: Any, context: Any) -> Any:
        seen[KINDS.get(operation.name, operation.name)] += 1
        return genuine(endpoint, request, operation, context)

    monkeypatch.setattr(Endpoint, "_get_response", noted)
    return seen


@pytest.fixture(autouse=True, scope="module")
def _one_session() -> Iterator[None]:
    """Made after moto's import, which hooks itself into sessions to come; its models take half a second to load."""
    aws._session.cache_clear()
    yield
    aws._session.cache_clear()


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch, sent: Counter[str]) -> Iterator[Client]:
    with moto.mock_aws():
        monkeypatch.setattr(provision, "ACCOUNT", DEFAULT_ACCOUNT_ID)
        names = provision.names(TEMPLATE, "https://sqs.us-east-1.amazonaws.com")
        provision.create(TEMPLATE, names, Moto())  # type: ignore[arg-type]
        service = Deployed(monkeypatch, World(model=RuleModel()))
        service.configure(**_environment(names))
        yield service.root
        service.cold()


def _environment(names: dict[str, str]) -> dict[str, str]:
    variables = resolve(next(iter(TEMPLATE.functions().values())).environment, names)
    return {
        name: str(value) for name, value in variables.items() if name.endswith(("BUCKET", "TABLE", "URL"))
    }


def told(answer: Answer) -> Any:
    """The telemetry of a good answer."""
    assert answer.status == 200, answer.text
    telemetry = answer.json["telemetry"]
    assert telemetry.keys() == {"requests", "tokens", "duration_ms", "cost_usd"}
    assert telemetry["requests"].keys() >= ALWAYS.keys()
    assert telemetry["tokens"] == {"input": 0, "output": 0}
    assert telemetry["duration_ms"] > 0
    return telemetry


ASKED = {"telemetry": True}
ROUTES: dict[str, Callable[[Client], Answer]] = {
    "append": lambda c: c.append("s", "Hello.", **ASKED),
    "append to a new session": lambda c: c.append("new", "Hello.", **ASKED),
    "append much": lambda c: c.batch("s", *["x" * 40_000] * 4, **ASKED),
    "append with a key": lambda c: c.acting(idempotency_key="k").append("s", "Hello.", **ASKED),
    "create": lambda c: c.create("new", **ASKED),
    "commit": lambda c: c.commit("s", **ASKED),
    "find": lambda c: c.post("/search/find", {"query": "cello", **ASKED}),
    "write": lambda c: c.put("/memories/preferences/a.md", {"content": "# A\n", **ASKED}),
    "look": lambda c: c.get("/sessions/s", telemetry="true"),
    "list": lambda c: c.get("/sessions", telemetry="true"),
    "context": lambda c: c.get("/sessions/s/context", telemetry="true"),
    "read": lambda c: c.get("/memories/preferences/b.md", telemetry="true"),
    "delete": lambda c: c.send("DELETE", "/sessions/s", telemetry="true"),
}


@pytest.mark.parametrize("name", ROUTES)
def test_what_is_told_is_what_was_sent(client: Client, sent: Counter[str], name: str) -> None:
    client.append("s", "I love the cello.")
    client.put("/memories/preferences/b.md", {"content": "# B\n"})
    sent.clear()

    telemetry = told(ROUTES[name](client))

    assert sum(sent.values()) > 0
    assert telemetry["requests"] == {**ALWAYS, **sent}


def test_a_warm_append_is_one_put_and_what_it_costs(client: Client) -> None:
    client.append("s", "cold")
    telemetry = told(client.append("s", "Hello.", telemetry=True))
    assert telemetry["requests"] == {**ALWAYS, "s3_put": 1}
    gigabytes = telemetry["duration_ms"] / 1000  # of a function of 1,024 MB
    known = (5.0 + 1.0 + 0.2 + 13.3334 * gigabytes) / 1e6  # S3 PUT, HTTP API, Lambda
    assert telemetry["cost_usd"] == pytest.approx(known, rel=1e-3)


def test_a_replay_tells_its_own_requests(client: Client) -> None:
    keyed = client.acting(idempotency_key="k")
    first = keyed.append("s", "Hello.", telemetry=True)
    again = keyed.append("s", "Hello.", telemetry=True)
    assert again.headers["idempotent-replay"] == "true"
    assert again.result == first.result
    assert told(again)["requests"] == {**ALWAYS, "dynamodb_write": 1, "dynamodb_read": 1}


@pytest.mark.parametrize("asked", [{}, {"telemetry": False}, {"telemetry": None}])
def test_only_who_asks_is_told(client: Client, asked: dict[str, Any]) -> None:
    assert client.append("s", "Hello.", **asked).json.keys() == {"status", "result", "time"}


@pytest.mark.parametrize("said", ['"telemetry": true', '{"telemetry": true}', "telemetry=true"])
def test_a_message_about_telemetry_does_not_ask(client: Client, said: str) -> None:
    answer = client.append("s", said, metadata={"telemetry": True})
    assert answer.status == 200
    assert "telemetry" not in answer.json


@pytest.mark.parametrize("asked", ["true", 1, 0, "", [], 1.5])
def test_neither_yes_nor_no_is_refused_before_anything_is_done(client: Client, asked: Any) -> None:
    answer = client.append("unmade", "Hello.", telemetry=asked)
    assert answer.refusal == (400, "INVALID_ARGUMENT")
    assert "telemetry" in answer.error["message"]
    assert client.look("unmade").status == 404


@pytest.mark.parametrize("asked", ["yes", "1", "True", "true,true", "null", ""])
def test_a_query_says_true_or_false(client: Client, asked: str) -> None:
    assert client.get("/sessions", telemetry=asked).refusal == (400, "INVALID_ARGUMENT")


def test_an_object_asks_too(client: Client) -> None:
    told(client.append("s", "Hello.", telemetry={"summary": True}))


def test_a_refusal_tells_nothing(client: Client) -> None:
    for answer in (
        client.append("s", telemetry=True),
        client.commit("nowhere", telemetry=True),
        client.get("/sessions/nowhere", telemetry="true"),
        client.send("POST", "/sessions", b'["telemetry"]'),
        client.send("POST", "/sessions", b'{"telemetry": tru'),
    ):
        assert answer.error


# ---- the hooks


class Body:
    """What botocore reads of an answer."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def stream(self, **_: object) -> Iterator[bytes]:
        yield self._content


def answering(client: Any, service: str, *answers: tuple[int, bytes]) -> None:
    """Makes up the answers of a client, in order; the last one for ever."""
    left = list(answers)

    def reply(request: Any, **_: Any) -> AWSResponse:
        status, body = left.pop(0) if len(left) > 1 else left[0]
        return AWSResponse(request.url, status, HTTPHeaders(), Body(body))

    client.meta.events.register_last(f"before-send.{service}", reply)


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)


@pytest.mark.usefixtures("no_waiting")
def test_what_the_sdk_repeats_counts_as_often_as_it_is_sent() -> None:
    from strandline.adapters.s3 import S3Objects

    client = aws.s3(aws.REPEATING)
    answering(client, "s3", (503, b""))
    with meter.counting() as counted, pytest.raises(Ambiguous):
        S3Objects("bucket", lambda _: client).get("key")
    assert counted.requests == {"s3_get": 3}


@pytest.mark.usefixtures("no_waiting")
def test_units_are_those_that_the_table_names() -> None:
    from strandline.adapters.dynamodb import DynamoItems

    client = aws.dynamodb(aws.REPEATING)
    answering(client, "dynamodb", (500, b"{}"), (200, b'{"ConsumedCapacity": {"CapacityUnits": 7.5}}'))
    table = DynamoItems("table", lambda _: client)
    with meter.counting() as counted:
        table.put({"pk": "p", "sk": "s"})
    assert (counted.requests, counted.units) == ({"dynamodb_write": 2}, {"dynamodb_write": 7.5})
    assert counted.priced == {"dynamodb_write": 7.5}


def test_nobody_is_asked_for_capacity_when_nobody_counts() -> None:
    client = aws.dynamodb(aws.ONCE)
    bodies: list[bytes] = []
    client.meta.events.register_first(
        "before-send.dynamodb", lambda request, **_: bodies.append(request.body)
    )
    answering(client, "dynamodb", (200, b"{}"))
    request = {"TableName": "t", "Key": {"pk": {"S": "p"}}}
    client.get_item(**request)
    with meter.counting():
        client.get_item(**request)
    assert [b"ReturnConsumedCapacity" in body for body in bodies] == [False, True]


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ("s3.PutObject", "s3_put"),
        ("s3.CopyObject", "s3_put"),
        ("s3.HeadObject", "s3_get"),
        ("s3.ListObjectVersions", "s3_list"),
        ("s3.DeleteObjects", "s3_delete"),
        ("dynamodb.Query", "dynamodb_read"),
        ("dynamodb.TransactWriteItems", "dynamodb_write"),
        ("sqs.SendMessageBatch", "sqs"),
        ("eventbridge.PutEvents", "events"),
        ("bedrock-runtime.Converse", "bedrock-runtime"),
    ],
)
def test_kinds(event: str, kind: str) -> None:
    assert meter.kind_of(f"before-send.{event}") == kind


def test_a_price_by_hand() -> None:
    """One PUT, two write units, 100 ms of 512 MB: 5 + 2 × 0.625 + 1 + 0.2 + 13.3334 × 0.05, for a million."""
    counts = {"s3_put": 1, "dynamodb_write": 2, "s3_delete": 9}
    cost = prices.of_request(counts, seconds=0.1, memory_mb=512)
    assert cost == pytest.approx(8.11667e-6)
