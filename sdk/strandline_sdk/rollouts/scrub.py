"""Takes credentials out of whatever is stored, shown or sent.

By name: the value of a field that is called like one (`api_key`, `authorization`, `*_token`, …). By look: keys and
tokens of well-known forms, `Bearer …`, and passwords in URLs. By value: what the caller knows to be secret, wherever
it stands.
"""

import re
from collections.abc import Iterable
from typing import Any

REDACTED = "<redacted>"
_SHORTEST_SECRET = 6

# Counts of tokens are no tokens: `prompt_tokens`, `max_tokens`.
_NAME = re.compile(
    r"(?i)^(?:.*[_\-. ])?(?:api[_-]?key|apikey|authorization|token|access[_-]?token|secret"
    r"|client[_-]?secret|secret[_-]?access[_-]?key|password|passwd|private[_-]?key|credentials?|cookie|set-cookie)$"
)
_LOOKS = re.compile(
    r"(?i:\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}"
    r"|\bsk-[A-Za-z0-9_-]{16,}|\bsl_[A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bAKIA[0-9A-Z]{16}\b"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"
    r"|(?i:\b(?:api[_-]?key|x-api-key|access[_-]?token|secret|password))['\"]?\s*[:=]\s*['\"]?[^\s'\",;&]{6,}"
)
_USERINFO = re.compile(r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)")


class Scrubber:
    """Knows the secrets of a run by value, besides what is recognised by name and look."""

    def __init__(self, secrets: Iterable[str | None] = ()) -> None:
        self._secrets = {secret for secret in secrets if secret and len(secret) >= _SHORTEST_SECRET}

    def learn(self, secret: str) -> None:
        """One secret more."""
        self._secrets = {*self._secrets, secret}

    def text(self, text: str) -> str:
        """The text without secrets."""
        for secret in sorted(self._secrets, key=len, reverse=True):
            text = text.replace(secret, REDACTED)
        return _USERINFO.sub(REDACTED, _LOOKS.sub(REDACTED, text))

    def document(self, value: Any) -> Any:
        """The same JSON value without secrets, in keys and values."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list | tuple):
            return [self.document(item) for item in value]
        if isinstance(value, dict):
            return {self.text(str(name)): self._field(str(name), item) for name, item in value.items()}
        return value

    def _field(self, name: str, value: Any) -> Any:
        secret = isinstance(value, str) and value and _NAME.match(name)
        return REDACTED if secret else self.document(value)
