"""A model behind any endpoint that speaks OpenAI's chat completions, over the urllib3 that botocore brings.

The answer is asked for as a forced call of one function, or as `response_format: json_schema` where a server knows only
that. One request is sent and never repeated or redirected: a redirect would carry the key elsewhere.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import urllib3
from urllib3.exceptions import HTTPError

from strandline.adapters.keys import Key
from strandline.adapters.language_model import Busy, Rejected, Reply, Stop, busy_or_rejected, seconds, tokens
from strandline.domain.language_model.answer import Answer
from strandline.domain.language_model.prompt import Prompt
from strandline.ports import Clock

MAX_ANSWER_BYTES = 4 * 1024 * 1024
_CHUNK = 64 * 1024
CONNECT_SECONDS = 5.0
_STOPS: Mapping[str, Stop] = {"length": "cut", "content_filter": "refused"}

Output = Literal["tool", "json_schema"]


@dataclass(frozen=True)
class Completion:
    """What every request says: which model, how long an answer may get, and how it is asked for."""

    model: str
    max_output_tokens: int
    temperature: float | None = 0.0
    output: Output = "tool"


class OpenAiCompatible:
    """One model at one base URL, such as `https://api.openai.com/v1`."""

    def __init__(
        self, base_url: str, completion: Completion, key: Key | None, seconds_per_request: float, clock: Clock
    ) -> None:
        self.name = f"openai:{completion.model}"
        self._url = f"{base_url.rstrip('/')}/chat/completions"
        self._completion = completion
        self._key = key
        self._seconds = seconds_per_request
        self._clock = clock
        self._limit = "max_tokens"
        self._http = urllib3.PoolManager(retries=False, maxsize=2)

    def ask(self, question: Prompt) -> Reply:
        status, headers, body = self._send(json.dumps(self._request(question)).encode())
        given = _json(body)
        if status == 200:
            return _reply(given)
        raise self._refusal(status, headers, given)

    def _request(self, question: Prompt) -> dict[str, Any]:
        said = self._completion
        asked = {"system": question.system, "user": question.user}
        request: dict[str, Any] = {
            "model": said.model,
            "messages": [{"role": role, "content": text} for role, text in asked.items()],
            self._limit: said.max_output_tokens,
        }
        if said.temperature is not None:
            request["temperature"] = said.temperature
        return request | (_as_tool(question) if said.output == "tool" else _as_format(question))

    def _send(self, body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        headers = {"Content-Type": "application/json", "User-Agent": "strandline"}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key.read()}"
        ends = self._clock.now().timestamp() + self._seconds
        timeout = urllib3.Timeout(connect=CONNECT_SECONDS, read=self._seconds)
        try:
            answer = self._http.request(
                "POST",
                self._url,
                body=body,
                headers=headers,
                timeout=timeout,
                redirect=False,
                preload_content=False,
            )
            with answer:
                return answer.status, answer.headers, self._body(answer, ends)
        except HTTPError as error:
            raise Busy(f"no answer: {type(error).__name__}") from error

    def _body(self, answer: urllib3.BaseHTTPResponse, ends: float) -> bytes:
        """The body, unless it is endless in size or time; a connection that breaks off raises."""
        body = bytearray()
        while part := answer.read1(_CHUNK):  # what is there now: a server may send a byte at a time
            body += part
            if len(body) > MAX_ANSWER_BYTES:
                answer.close()
                raise Rejected(f"an answer of more than {MAX_ANSWER_BYTES} bytes", final=False)
            if self._clock.now().timestamp() > ends:
                answer.close()
                raise Busy("its answer did not end in time")
        return bytes(body)

    def _refusal(self, status: int, headers: Mapping[str, str], given: Any) -> Exception:
        """What an answer other than 200 means. Its `code` and `param` are machine words; its text might quote."""
        error = given.get("error") if isinstance(given, dict) else None
        words = [_word(error.get(name)) for name in ("code", "param")] if isinstance(error, dict) else []
        if status == 400 and self._limit == "max_tokens" and words[1:] == ["max_tokens"]:
            self._limit = "max_completion_tokens"  # what newer models call it
            return Busy("it knows max_tokens by its newer name", retry_after=0)
        if status == 401 and self._key is not None:
            self._key.forget()
        what = " ".join(["HTTP", str(status), *filter(None, words)])
        return busy_or_rejected(status, what, seconds(headers.get("Retry-After"), self._now))

    def _now(self) -> datetime:
        return self._clock.now()


def _as_tool(question: Prompt) -> dict[str, Any]:
    function = {
        "name": question.tool,
        "description": question.tool_description,
        "parameters": question.schema,
    }
    return {
        "tools": [{"type": "function", "function": function}],
        "tool_choice": {"type": "function", "function": {"name": question.tool}},
    }


def _as_format(question: Prompt) -> dict[str, Any]:
    named = {"name": question.tool, "schema": question.schema, "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _reply(given: Any) -> Reply:
    """Raises Rejected when it is no chat completion."""
    try:
        choice = given["choices"][0]
        message, finish = choice["message"], choice.get("finish_reason")
        usage = given.get("usage") or {}
        stop = "refused" if message.get("refusal") else _STOPS.get(finish, "complete")
        return Reply(
            _answer(message), stop, tokens(usage, "prompt_tokens"), tokens(usage, "completion_tokens")
        )
    except (TypeError, KeyError, IndexError, AttributeError) as error:
        raise Rejected("what it sent is no chat completion", final=False) from error


def _answer(message: Mapping[str, Any]) -> Answer | None:
    """The arguments of the function call; of a server that answers in text, the text."""
    calls = message.get("tool_calls") or []
    answer = calls[0]["function"]["arguments"] if calls else message.get("content")
    return answer if isinstance(answer, str | dict) else None


def _word(value: Any) -> str:
    """A machine word, or nothing."""
    plain = (
        isinstance(value, str) and 0 < len(value) <= 64 and value.replace("_", "").replace(".", "").isalnum()
    )
    return value if plain and value.isascii() else ""
