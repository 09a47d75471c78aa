"""Credentials of HTTP and of connection strings: `Authorization`, `Bearer …`, `https://user:password@host`."""

from collections.abc import Iterator

from strandline.domain.redaction import looks
from strandline.domain.redaction.span import Pattern, Rule, Span

BEARER, AUTHORIZATION, URL_PASSWORD = "bearer_token", "authorization", "url_password"
_BEARER = Pattern(r"bearer(?:[ \t]+|%20|\\?[\"':= ]{1,5})(?P<value>[a-z0-9._~+/=|:-]{8,})")
_AUTHORIZATION = Pattern(
    r"(?:authorization|x-api-key|x-auth-token|api-key)\\?[\"']?\s{0,8}[:=]\s{0,8}\\?[\"']?"
    r"(?:(?P<scheme>basic|token|digest|apikey|negotiate|hmac|aws4-hmac-sha256)[ \t]+)?"
    r"(?P<value>[^\s\"'\\,;<>$({\[]{4,}(?:,?[ \t]?[a-z]+=[^\s\\]+)*+)"
)
_URL = Pattern(r"://(?:(?P<user>[^\s/:@\"'<>]{0,256}):|(?P<not>[^\s/:@\"'<>]*))")
_PASSWORD = Pattern(r"[^\s/?#\"'<>@]*+(?:@[^\s/?#\"'<>@]*+)*")
_PASSWORD_WITH_SLASH = Pattern(r"[^\s\"'<>@]{1,256}(?=@[^\s\"'<>@/]+)")
_USER = Pattern(r"(?:[ \t]-u|--user)[ =]?[\"']?[^\s:\"']{1,64}:(?P<value>[^\s\"']{1,256})")


def _bearer(text: str, folded: str) -> Iterator[Span]:
    for match in _BEARER.each(folded):
        value = text[slice(*match.span("value"))]
        if _token(value):
            yield Span(*match.span("value"), BEARER)


def _token(value: str) -> bool:
    """Whether it is no word: a digit, capitals inside, or far too long for one."""
    mixed = value.lower() != value and not looks.plain_word(value)
    return mixed or any(map(str.isdigit, value)) or value.endswith("=") or len(value) > 40


def _authorization(text: str, folded: str) -> Iterator[Span]:
    for match in _AUTHORIZATION.each(folded):
        value = text[slice(*match.span("value"))]
        if _token(value) if match["scheme"] else looks.random(value):
            yield Span(*match.span("value"), AUTHORIZATION)


def _url(text: str, _folded: str) -> Iterator[Span]:
    for match in _URL.each(text):
        if match.lastgroup != "not":
            yield from _url_password(text, match.end())


def _url_password(text: str, start: int) -> Iterator[Span]:
    """Up to the last `@` before the path; a slash may stand in a password, but not behind a port."""
    plain = _PASSWORD.compiled.match(text, start)
    end = text.rfind("@", start, plain.end()) if plain else -1
    if end < 0 and plain and not text[start : plain.end()].isdigit():
        slashed = _PASSWORD_WITH_SLASH.compiled.match(text, start)
        end = slashed.end() if slashed else -1
    if end > start and not looks.placeholder(text[start:end]):
        yield Span(start, end, URL_PASSWORD)


def _user(text: str, _folded: str) -> Iterator[Span]:
    """`curl -u name:password`; two numbers are a user and a group."""
    for match in _USER.each(text):
        value = match["value"]
        if not value.isdigit() and not looks.placeholder(value):
            yield Span(*match.span("value"), "password")


RULES = (
    Rule(("bearer",), _bearer),
    Rule(("authorization", "x-api-key", "x-auth-token", "api-key"), _authorization),
    Rule(("://",), _url),
    Rule((" -u", "--user"), _user),
)
