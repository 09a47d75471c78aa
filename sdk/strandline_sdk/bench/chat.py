"""A model behind an OpenAI-compatible endpoint: asked for a text, at temperature 0."""

from collections.abc import Callable
from dataclasses import dataclass, field

import httpx

from strandline_sdk.errors import ApiError
from strandline_sdk.rollouts.clock import Clock, SystemClock

_ATTEMPTS = 4
_PASSING = frozenset({408, 429})
Ask = Callable[[str, str], str]
"""From what the model is and what it is asked to what it says. Raises ApiError."""


@dataclass
class ChatModel:
    """`url` is the one before `/chat/completions`. May be shared by threads."""

    url: str
    model: str
    key: str | None = field(default=None, repr=False)
    timeout: float = 120.0
    clock: Clock = field(default_factory=SystemClock, repr=False)

    def __post_init__(self) -> None:
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        self._http = httpx.Client(base_url=self.url, headers=headers, timeout=self.timeout)

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def __call__(self, system: str, user: str) -> str:
        """What it says. Raises ApiError when it says nothing that can be used."""
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        body = {"model": self.model, "temperature": 0, "messages": messages}
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return self._once(body)
            except ApiError as error:
                if not error.retryable or attempt == _ATTEMPTS:
                    raise
            self.clock.sleep(2.0**attempt)
        raise AssertionError("the last attempt answers or raises")

    def _once(self, body: object) -> str:
        try:
            answer = self._http.post("/chat/completions", json=body)
        except httpx.RequestError as error:
            raise ApiError(
                "UNAVAILABLE", f"no answer from the model ({type(error).__name__})", retryable=True
            ) from error
        status = answer.status_code
        if status != 200:
            passing = status in _PASSING or status >= 500
            raise ApiError(
                "UNAVAILABLE", f"the model's endpoint answers {status}", retryable=passing, status=status
            )
        try:
            return str(answer.json()["choices"][0]["message"]["content"] or "").strip()
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise ApiError("INTERNAL", "the model's answer is none of a chat") from error
