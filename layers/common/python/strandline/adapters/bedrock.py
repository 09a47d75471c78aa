"""A model on Amazon Bedrock, by Converse: the answer is asked for as a forced call of one tool."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from strandline.adapters import aws
from strandline.adapters.language_model import Busy, Rejected, Reply, Stop, busy_or_rejected, seconds, tokens
from strandline.domain.language_model.answer import Answer
from strandline.domain.language_model.prompt import Prompt
from strandline.ports import Clock

if TYPE_CHECKING:
    from mypy_boto3_bedrock_runtime import BedrockRuntimeClient

_STOPS: Mapping[str, Stop] = {
    "max_tokens": "cut",
    "model_context_window_exceeded": "cut",
    "content_filtered": "refused",
    "guardrail_intervened": "refused",
    "refusal": "refused",
}


@dataclass(frozen=True)
class Inference:
    """Which model, by id, inference profile or ARN, and how long its answers may get."""

    model: str
    max_output_tokens: int
    temperature: float | None = 0.0


class Bedrock:
    """One model. `client` makes a client from a configuration, when it is first needed."""

    def __init__(
        self,
        inference: Inference,
        seconds_per_request: float,
        clock: Clock,
        client: Callable[[Config], "BedrockRuntimeClient"] = aws.bedrock_runtime,
    ) -> None:
        self.name = f"bedrock:{inference.model}"
        self._inference = inference
        self._seconds = seconds_per_request
        self._clock = clock
        self._client = client

    @cached_property
    def _bedrock(self) -> "BedrockRuntimeClient":
        return self._client(aws.ONCE.merge(Config(read_timeout=self._seconds)))

    def ask(self, question: Prompt) -> Reply:
        try:
            answer: Any = self._bedrock.converse(**self._request(question))
        except ClientError as error:
            raise self._refusal(error) from None  # the SDK's text might quote
        except BotoCoreError as error:
            raise Busy(f"no answer: {type(error).__name__}") from error
        if "output" not in answer:  # what the SDK makes of half an answer
            raise Busy("its answer broke off")
        try:
            return _reply(answer)
        except (TypeError, KeyError, AttributeError):
            raise Rejected("what it sent is no answer of Converse", final=False) from None

    def _request(self, question: Prompt) -> dict[str, Any]:
        said = self._inference
        limits: dict[str, Any] = {"maxTokens": said.max_output_tokens}
        if said.temperature is not None:
            limits["temperature"] = said.temperature
        tool = {
            "name": question.tool,
            "description": question.tool_description,
            "inputSchema": {"json": question.schema},
        }
        return {
            "modelId": said.model,
            "system": [{"text": question.system}],
            "messages": [{"role": "user", "content": [{"text": question.user}]}],
            "inferenceConfig": limits,
            "toolConfig": {"tools": [{"toolSpec": tool}], "toolChoice": {"tool": {"name": question.tool}}},
        }

    def _refusal(self, error: ClientError) -> Busy | Rejected:
        """By code and status; Bedrock's text might quote."""
        headers = error.response["ResponseMetadata"].get("HTTPHeaders", {})
        wait = seconds(headers.get("retry-after"), self._clock.now)
        return busy_or_rejected(aws.status_of(error), aws.code_of(error), wait)


def _reply(answer: Mapping[str, Any]) -> Reply:
    stop = _STOPS.get(answer.get("stopReason", ""), "complete")
    usage = answer.get("usage") or {}
    return Reply(_answer(answer), stop, tokens(usage, "inputTokens"), tokens(usage, "outputTokens"))


def _answer(answer: Mapping[str, Any]) -> Answer | None:
    """The input of the tool call; of a model that answers in text, the text."""
    blocks = answer["output"]["message"]["content"] or []
    calls = [block["toolUse"]["input"] for block in blocks if "toolUse" in block]
    texts = [block["text"] for block in blocks if "text" in block]
    found = calls or texts
    return found[0] if found and isinstance(found[0], str | dict) else None
