"""What the answers of AWS mean to a port, and how often a request is sent. No server: each answer is made up here."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from botocore.config import Config
from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    ReadTimeoutError,
)

from strandline.adapters.dynamodb import DynamoItems
from strandline.adapters.s3 import S3Objects
from strandline.adapters.sqs import SqsQueue
from strandline.domain.contracts import CommitRequested, SessionRef
from strandline.ports import (
    Ambiguous,
    ConditionFailed,
    Contended,
    IfAbsent,
    IfMatch,
    StoreError,
    Version,
)
from tests.contract.conftest import aws_session

Answer = tuple[int, str] | Exception
MESSAGE = CommitRequested(session=SessionRef(account_id="a", user_id="u", session_id="s", incarnation="i"))
ERASED = [Version("k", "v", deleted=False, latest=True, at=datetime(2026, 1, 1, tzinfo=UTC))]
LOST: list[Answer] = [
    ReadTimeoutError(endpoint_url="u"),
    ConnectTimeoutError(endpoint_url="u"),
    ConnectionClosedError(endpoint_url="u"),
    EndpointConnectionError(endpoint_url="u"),
]
NO_ANSWER: list[Answer] = [*LOST, (500, "InternalError"), (503, "SlowDown"), (400, "RequestTimeout")]


class _Body:
    def __init__(self, content: bytes) -> None:
        self._content = content

    def stream(self, **_: Any) -> Any:
        yield self._content


class Wire:
    """Clients whose every request gets the same answer; `sent` lists the requests."""

    def __init__(self, answer: Answer) -> None:
        self.sent: list[Any] = []
        self._answer = answer

    def client(self, service: str) -> Callable[[Config], Any]:
        def make(config: Config) -> Any:
            client: Any = aws_session().create_client(service, "us-east-1", config=config)
            client.meta.events.register_first("before-send.*.*", self._reply)
            return client

        return make

    def _reply(self, request: Any, **_: Any) -> AWSResponse:
        self.sent.append(request)
        if isinstance(self._answer, Exception):
            raise self._answer
        status, code = self._answer
        if "x-amz-target" in {name.lower() for name in request.headers}:
            body = f'{{"__type":"com.amazonaws#{code}","message":"made up"}}'
        else:
            body = (
                code
                if code.startswith("<")
                else f"<Error><Code>{code}</Code><Message>made up</Message></Error>"
                if code
                else ""
            )
        return AWSResponse(request.url, status, HTTPHeaders(), _Body(body.encode()))


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)


def _objects(answer: Answer) -> tuple[S3Objects, Wire]:
    wire = Wire(answer)
    return S3Objects("bucket", wire.client("s3")), wire


def _items(answer: Answer) -> tuple[DynamoItems, Wire]:
    wire = Wire(answer)
    return DynamoItems("table", wire.client("dynamodb")), wire


CONDITIONAL: list[tuple[Answer, type[StoreError]]] = [
    ((412, "PreconditionFailed"), ConditionFailed),
    ((412, ""), ConditionFailed),
    ((404, "NoSuchKey"), ConditionFailed),
    ((409, "ConditionalRequestConflict"), Contended),
    ((409, "OperationAborted"), Contended),
    *[(answer, Ambiguous) for answer in NO_ANSWER],
]


@pytest.mark.parametrize(("answer", "meaning"), CONDITIONAL, ids=repr)
def test_conditional_writes_of_objects_are_sent_once(answer: Answer, meaning: type[StoreError]) -> None:
    store, wire = _objects(answer)
    writes: list[Callable[[], object]] = [
        lambda: store.put("k", b"x", when=IfMatch('"e"')),
        lambda: store.put("k", b"x", when=IfAbsent()),
        lambda: store.delete("k", when=IfMatch('"e"')),
    ]
    for write in writes:
        wire.sent.clear()
        with pytest.raises(meaning):
            write()
        assert len(wire.sent) == 1


@pytest.mark.parametrize("answer", NO_ANSWER, ids=repr)
def test_what_may_happen_twice_is_tried_three_times(answer: Answer) -> None:
    store, wire = _objects(answer)
    calls: list[Callable[[], object]] = [
        lambda: store.put("k", b"x"),
        lambda: store.delete("k"),
        lambda: store.get("k"),
        lambda: store.get_unless("k", '"e"'),
        lambda: list(store.keys("")),
        lambda: store.versions("k"),
        lambda: store.versions_below("k"),
        lambda: store.erase(ERASED),
    ]
    for call in calls:
        wire.sent.clear()
        with pytest.raises(Ambiguous):
            call()
        assert len(wire.sent) == 3


@pytest.mark.parametrize(
    "answer", [(403, "AccessDenied"), (404, "NoSuchBucket"), (400, "KeyTooLongError")], ids=repr
)
def test_a_fault_that_no_repeat_can_mend_is_not_hidden(answer: Answer) -> None:
    store, wire = _objects(answer)
    calls: list[Callable[[], object]] = [
        lambda: store.put("k", b"x", when=IfAbsent()),
        lambda: store.get("k"),
        lambda: list(store.keys("")),
        lambda: store.versions_below("k"),
        lambda: store.erase(ERASED),
    ]
    for call in calls:
        wire.sent.clear()
        with pytest.raises(ClientError):
            call()
        assert len(wire.sent) == 1


def _left(*codes: str) -> Answer:
    """DeleteObjects' answer that these went wrong: it is a 200 all the same."""
    errors = "".join(
        f"<Error><Key>k</Key><VersionId>v</VersionId><Code>{code}</Code></Error>" for code in codes
    )
    return 200, f"<DeleteResult>{errors}</DeleteResult>"


@pytest.mark.parametrize("codes", [(), ("NoSuchKey",), ("NoSuchVersion", "NoSuchKey")])
def test_versions_that_are_gone_already_are_erased(codes: tuple[str, ...]) -> None:
    store, wire = _objects(_left(*codes))
    store.erase(ERASED)
    assert len(wire.sent) == 1


@pytest.mark.parametrize("code", ["InternalError", "SlowDown", "ServiceUnavailable"])
def test_a_version_that_could_not_be_erased_now_is_tried_again(code: str) -> None:
    store, _ = _objects(_left("NoSuchKey", code))
    with pytest.raises(Ambiguous):
        store.erase(ERASED)


def test_a_version_that_may_not_be_erased_is_not_passed_over() -> None:
    store, _ = _objects(_left("AccessDenied"))
    with pytest.raises(ClientError, match="AccessDenied"):
        store.erase(ERASED)


def test_erasing_nothing_asks_nobody() -> None:
    store, wire = _objects(_left())
    store.erase([])
    assert wire.sent == []


def test_not_modified() -> None:
    store, _ = _objects((304, ""))
    assert store.get_unless("k", '"e"') is None


@pytest.mark.parametrize(
    ("key", "content_type"),
    [
        ("a/head.json", "application/json"),
        ("a/0-1.jsonl", "application/x-ndjson"),
        ("a/b.md", "text/markdown; charset=utf-8"),
        ("a.json/b", "application/octet-stream"),
        ("plain", "application/octet-stream"),
    ],
)
def test_a_put_carries_its_type_and_a_checksum(key: str, content_type: str) -> None:
    store, wire = _objects((200, ""))
    with pytest.raises(KeyError):  # the made-up answer has no ETag
        store.put(key, b"hello", when=IfMatch('"e"'))
    headers = {name.lower(): value for name, value in wire.sent[0].headers.items()}
    assert _text(headers["content-type"]) == content_type
    assert _text(headers["x-amz-checksum-crc32"]) == "NhCmhg=="  # 0x3610a686, the CRC-32 of "hello"
    assert _text(headers["if-match"]) == '"e"'


def _text(header: str | bytes) -> str:
    return header.decode() if isinstance(header, bytes) else header


ITEM_ANSWERS: list[tuple[Answer, type[StoreError]]] = [
    ((400, "ConditionalCheckFailedException"), ConditionFailed),
    ((400, "TransactionConflictException"), Contended),
    ((400, "ProvisionedThroughputExceededException"), Ambiguous),
    ((400, "ThrottlingException"), Ambiguous),
    *[(answer, Ambiguous) for answer in [*LOST, (500, "InternalServerError")]],
]


@pytest.mark.parametrize(("answer", "meaning"), ITEM_ANSWERS, ids=repr)
def test_conditional_writes_of_items_are_sent_once(answer: Answer, meaning: type[StoreError]) -> None:
    table, wire = _items(answer)
    writes: list[Callable[[], object]] = [
        lambda: table.put({"pk": "p", "sk": "s"}, when={"pk": None}),
        lambda: table.update("p", "s", {"a": 1}, when={"a": 0}),
        lambda: table.delete("p", "s", when={"a": 0}),
        lambda: table.add("p", "s", "n", 1, values={}),  # repeated, it would count twice
    ]
    for write in writes:
        wire.sent.clear()
        with pytest.raises(meaning):
            write()
        assert len(wire.sent) == 1


@pytest.mark.parametrize(
    "answer", [*LOST, (500, "InternalServerError"), (400, "ThrottlingException")], ids=repr
)
def test_other_calls_of_items_are_tried_three_times(answer: Answer) -> None:
    table, wire = _items(answer)
    calls: list[Callable[[], object]] = [
        lambda: table.put({"pk": "p", "sk": "s"}),
        lambda: table.update("p", "s", {"a": 1}),
        lambda: table.delete("p", "s"),
        lambda: table.get("p", "s"),
        lambda: table.query("p", between=("a", "b"), limit=1),
    ]
    for call in calls:
        wire.sent.clear()
        with pytest.raises(Ambiguous):
            call()
        assert len(wire.sent) == 3


def test_a_table_that_is_not_there_is_not_hidden() -> None:
    table, _ = _items((400, "ResourceNotFoundException"))
    with pytest.raises(ClientError):
        table.get("p", "s")


@pytest.mark.parametrize("answer", [*LOST, (500, "InternalFailure"), (503, "ServiceUnavailable")], ids=repr)
def test_a_message_that_may_not_have_arrived(answer: Answer) -> None:
    wire = Wire(answer)
    queue = SqsQueue("https://sqs.us-east-1.amazonaws.com/1/q.fifo", wire.client("sqs"))
    with pytest.raises(Ambiguous):
        queue.send(MESSAGE)
    bodies = {request.body for request in wire.sent}
    assert len(wire.sent) == 3
    assert len(bodies) == 1, "a repeat must carry the same deduplication id"
