"""Takes the secrets out of a JSON value: out of its texts and keys, and whatever stands under a key that names one."""

from typing import Any

from strandline.domain.redaction import looks
from strandline.domain.redaction.span import Pattern
from strandline.domain.redaction.text import Allowed, is_allowed, redact

_WORDS = Pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_PASSWORD = Pattern(
    r"(?:.*_)?(?:pass|password|passwd|passphrase|passcode|passwort|pwd|pass_?word)(?:_hash|_[0-9])?"
)
_SECRET = Pattern(
    r"(?:.*_)?(?:secrets?|credentials?|(?:api|access|auth|account|private|encryption|signing|master|secret|shared|storage)"
    r"_?key|apikey|secret_value|secret_string|authorization|bearer)"
)
_TOKEN = Pattern(
    r"(?!.*(?:page|next|continuation|sync)_token$|task_signature$)(?:.*_)?(?:token|cookie|signature)"
)
"""The signature of a task says of what kind it is (`domain/learning/task.py`)."""
_SCHEMA = frozenset({"string", "object", "array", "number", "integer", "boolean", "null"})


def redact_value(value: Any, allowed: Allowed = ()) -> tuple[Any, tuple[str, ...]]:
    """The value with markers in place of secrets, and their kinds. The same value when there are none.

    Raises RecursionError for a value nested too deep to walk, which JSON could not hold either.
    """
    kinds: dict[str, None] = {}
    return _Walk(kinds, allowed).walk(value, None), tuple(kinds)


class _Walk:
    """Through one value. `kind` is always what a key above says that this is."""

    def __init__(self, kinds: dict[str, None], allowed: Allowed) -> None:
        self._kinds = kinds
        self._allowed = allowed

    def walk(self, value: Any, kind: str | None) -> Any:
        match value:
            case str():
                return self._text(value, kind)
            case dict():
                inner = None if value.get("type") in _SCHEMA else kind
                return dict(self._pair(key, item, inner) for key, item in value.items())
            case list():
                return [self.walk(item, kind) for item in value]
            case int() | float() if kind == "password" and not isinstance(value, bool):
                return _marker(kind, self._kinds)
        return value

    def _pair(self, key: Any, item: Any, kind: str | None) -> tuple[Any, Any]:
        named = _named(str(key)) or kind
        return (self._text(key, None) if isinstance(key, str) else key), self.walk(item, named)

    def _text(self, text: str, kind: str | None) -> str:
        found = redact(text, self._allowed)
        self._kinds.update(dict.fromkeys(found.kinds))
        if kind is None or not _hidden(found.text, kind) or is_allowed(text, self._allowed):
            return found.text
        return _marker(kind, self._kinds)


def _named(key: str) -> str | None:
    """What kind of secret a key names: `dbPassword`, `API_KEY`, `x-auth-token`."""
    words = "_".join(_WORDS.compiled.findall(key)).lower()
    if _PASSWORD.compiled.fullmatch(words):
        return "password"
    if _SECRET.compiled.fullmatch(words):
        return "secret"
    return "token" if _TOKEN.compiled.fullmatch(words) else None


def _hidden(text: str, kind: str) -> bool:
    """Whether the text, under a key of that kind, is the secret itself. One that was taken out already is not."""
    if looks.placeholder(text) or (text.startswith("[redacted:") and text.endswith("]")):
        return False
    return bool(text) if kind != "token" else len(text) >= 8 and not looks.plain_word(text)


def _marker(kind: str, kinds: dict[str, None]) -> str:
    name = "password" if kind == "password" else "secret"
    kinds[name] = None
    return f"[redacted:{name}]"
