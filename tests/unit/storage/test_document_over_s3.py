"""The same document over the real SDK: a PUT whose answer is lost on the wire is stored once and acknowledged once."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import botocore.session
import moto
import pytest
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from botocore.config import Config
from botocore.exceptions import ClientError, ConnectTimeoutError, ReadTimeoutError
from moto.core.models import botocore_stubber

from strandline.adapters import aws
from strandline.adapters.s3 import S3Objects
from strandline.storage.document import Documents
from tests.fakes import FakeClock, FakeIds
from tests.unit.storage.desk import NotesCodec, adding

Send = Callable[[], AWSResponse]


@cache
def _session() -> botocore.session.Session:
    session = botocore.session.Session()
    session.set_credentials("testing", "testing")
    return session


class Wire:
    """moto behind a wire of our own: `on_put` says what becomes of the n-th PUT; the sent ones are counted."""

    def __init__(self) -> None:
        self.puts = 0
        self.on_put: dict[int, Callable[[Send], AWSResponse]] = {}

    def client(self, config: Config) -> Any:
        client: Any = _session().create_client("s3", "us-east-1", config=config)
        client.meta.events.unregister("before-send", botocore_stubber)
        client.meta.events.register("before-send.s3.*", self._send)
        return client

    def _send(self, request: Any, event_name: str, **_: Any) -> AWSResponse:
        def send() -> AWSResponse:
            answer = botocore_stubber(event_name=event_name, request=request)
            assert answer is not None
            return answer

        if not event_name.endswith("PutObject"):
            return send()
        self.puts += 1
        return self.on_put.get(self.puts, _delivered)(send)


def _delivered(send: Send) -> AWSResponse:
    return send()


def _lost(send: Send) -> AWSResponse:
    send()
    raise ReadTimeoutError(endpoint_url="s3")


def _never_sent(_: Send) -> AWSResponse:
    raise ConnectTimeoutError(endpoint_url="s3")


def _error(status: int, code: str, *, landed: bool) -> Callable[[Send], AWSResponse]:
    def answer(send: Send) -> AWSResponse:
        if landed:
            send()
        return AWSResponse("s3", status, HTTPHeaders(), _Body(f"<Error><Code>{code}</Code></Error>".encode()))

    return answer


class _Body:
    def __init__(self, content: bytes) -> None:
        self._content = content

    def stream(self, **_: Any) -> Iterator[bytes]:
        yield self._content


@pytest.fixture
def wire() -> Iterator[Wire]:
    with moto.mock_aws():
        wire = Wire()
        wire.client(aws.REPEATING).create_bucket(Bucket="bucket")
        yield wire


def _documents(wire: Wire, warm: int = 0) -> Documents[tuple[str, ...]]:
    return Documents(S3Objects("bucket", wire.client), NotesCodec(), FakeClock(), FakeIds(), warm=warm)


@pytest.mark.parametrize(
    ("answer", "puts"),
    [
        (_lost, 1),
        (_error(500, "InternalError", landed=True), 1),
        (_error(503, "SlowDown", landed=True), 1),
        (_error(503, "SlowDown", landed=False), 2),
        (_error(409, "ConditionalRequestConflict", landed=False), 2),
        (_never_sent, 2),
    ],
    ids=["lost", "500 landed", "503 landed", "503", "409", "never sent"],
)
@pytest.mark.parametrize("warm", [0, 1])
@pytest.mark.parametrize("nth", [1, 2], ids=["creation", "change"])
def test_stored_once_and_acknowledged_once(
    wire: Wire, answer: Callable[[Send], AWSResponse], puts: int, warm: int, nth: int
) -> None:
    documents = _documents(wire, warm)
    wire.on_put[nth] = answer
    assert [documents.update("k.json", adding(note)) for note in "abc"] == [0, 1, 2]
    found = documents.read("k.json")
    assert found is not None
    assert found.value == ("a", "b", "c")
    assert found.stamp.revision == 3
    assert wire.puts == 2 + puts


def test_why_the_sdk_must_not_repeat(wire: Wire) -> None:
    """Repeated by the SDK, the same success is reported as a failed condition."""
    wire.on_put[1] = _lost
    client = wire.client(aws.REPEATING)
    with pytest.raises(ClientError, match="PreconditionFailed"):
        client.put_object(Bucket="bucket", Key="k", Body=b"mine", IfNoneMatch="*")
    assert client.get_object(Bucket="bucket", Key="k")["Body"].read() == b"mine"
