"""`ports.Embedder` on Amazon Bedrock: Titan Text Embeddings V2 (one text a request) and Cohere Embed (96 a request)."""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from strandline.adapters import aws
from strandline.ports import Ambiguous

if TYPE_CHECKING:
    from mypy_boto3_bedrock_runtime import BedrockRuntimeClient

TITAN_DIMENSIONS = 512
COHERE_BATCH = 96
MAX_CHARS = (
    2_048  # of a text that Cohere's models take; a line is far shorter, and a message's beginning says enough
)
SECONDS = 10


class BedrockEmbedder:
    """One model by its id, `amazon.titan-embed-…` or `cohere.embed-…`. `client` makes a client from a configuration,
    when it is first needed."""

    def __init__(
        self, model: str, client: Callable[[Config], "BedrockRuntimeClient"] = aws.bedrock_runtime
    ) -> None:
        self.name = f"bedrock:{model}"
        self._model = model
        self._client = client

    @cached_property
    def _bedrock(self) -> "BedrockRuntimeClient":
        return self._client(aws.REPEATING.merge(Config(read_timeout=SECONDS)))

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[Sequence[float]]:
        try:
            answers = self._cohere(texts, query) if "cohere." in self._model else self._titan(texts)
            return [_numbers(vector) for vector in answers]
        except (BotoCoreError, ClientError, KeyError, TypeError, ValueError) as error:
            raise Ambiguous(f"no vectors from {self._model}: {type(error).__name__}") from None

    def _titan(self, texts: Sequence[str]) -> Iterator[Sequence[float]]:
        for text in texts:
            body = {
                "inputText": text[:MAX_CHARS] or " ",
                "dimensions": TITAN_DIMENSIONS,
                "normalize": True,
            }
            yield self._ask(body)["embedding"]

    def _cohere(self, texts: Sequence[str], query: bool) -> Iterator[Sequence[float]]:
        for start in range(0, len(texts), COHERE_BATCH):
            body = {
                "texts": [text[:MAX_CHARS] or " " for text in texts[start : start + COHERE_BATCH]],
                "input_type": "search_query" if query else "search_document",
                "embedding_types": ["float"],
                "truncate": "END",
            }
            yield from self._ask(body)["embeddings"]["float"]

    def _ask(self, body: dict[str, Any]) -> dict[str, Any]:
        answer = self._bedrock.invoke_model(
            modelId=self._model,
            body=json.dumps(body),
            contentType="application/json",
            accept="application/json",
        )
        said: dict[str, Any] = json.loads(answer["body"].read())
        return said


def _numbers(vector: Any) -> Sequence[float]:
    """Raises TypeError for anything but numbers, ValueError for none at all."""
    if not vector:
        raise ValueError("an empty vector")
    return [float(number) for number in vector]
