"""Secrets that are known by the name before them: `password: …`, `"api_key": "…"`, `--token …`, `<password>…`.

A password may be anything, so behind such a name only what is plainly a word of a sentence, a placeholder or code
stays. Behind `token`, `secret` or `key` stands all sorts of things; there the value must look like chance.
"""

import re
from collections.abc import Iterator

from strandline.domain.redaction import looks
from strandline.domain.redaction.span import Pattern, Rule, Span

PASSWORD, SECRET = "password", "secret"
_PASSWORDS = (
    "password", "passwort", "passwd", "passphrase", "passcode", "pwd", "_pass", "kennwort", "contraseña", "senha",
    "mot de passe", "пароль", "密码", "密碼", "口令", "パスワード", "비밀번호",
)  # fmt: skip


def _escaped(name: str) -> str:
    """A pattern of the name as JSON spells it in ASCII, escaped once or over again."""
    return "".join(c if c.isascii() else rf"\\{{1,8}}u{ord(c):04x}" for c in name)


_FOREIGN = tuple(name for name in _PASSWORDS if not name.isascii())
_PASSWORD_NAMES = "|".join((*_PASSWORDS, *map(_escaped, _FOREIGN)))
_PASSWORD_LITERALS = (
    *_PASSWORDS,
    *(f"u{ord(next(c for c in name if not c.isascii())):04x}" for name in _FOREIGN),
)
_SECRETS = ("secret", "token", "key", "credential", "signature", "sig=")
_KEY_NAMES = (
    "api|access|auth|account|private|encryption|signing|master|service|shared|storage|subscription|secret"
)
_NAME = (
    rf"(?:(?P<password>{_PASSWORD_NAMES})(?:[_-]?(?:hash|confirm(?:ation)?|[0-9]{{1,2}}))?"
    rf"|(?P<secret>(?:secret|credential)s?(?:[_-]?(?:access)?[_-]?key|[_-]?(?:token|value|string|text))?"
    rf"|(?<!page)(?<!page_)(?<!page-)(?<!next)(?<!next_)(?<!sync)(?<!sync_)(?<!continuation)(?<!continuation_)token"
    rf"(?:[_-]?(?:value|secret))?|(?:{_KEY_NAMES})[ _-]?key(?:[_-]?[0-9])?|signature|sig(?==)))"
)
_CLOSE = r"(?:\\{0,7}[\"'`]|\*{1,2}|\])?\]?"
_OPERATOR = r"[ \t]{0,8}(?P<operator>:=|=>|={1,3}|[:：＝]|\\{1,8}uff1[ad])[ \t*_]{0,8}(?:\r?\n[ \t]{0,16})?"
_SPOKEN = (
    rf"\s(?:is|was|ist|est|es|é)[ :]{{1,2}}|是|为|は|{_escaped('是')}|{_escaped('为')}|{_escaped('は')}|:? "
)
_ASSIGNED = Pattern(rf"{_NAME}{_CLOSE}{_OPERATOR}(?P<quote>\\{{0,7}}[\"'`])?")
_FLAG = Pattern(
    r"--?(?:[a-z]{1,20}-){0,3}(?:(?P<password>password|passwd|passphrase|pass|pwd)"
    r"|(?P<secret>token|secret|key|credentials?))[ =](?P<quote>[\"'])?"
)
_SAID = Pattern(rf"(?P<password>{_PASSWORD_NAMES})(?:{_SPOKEN})(?P<quote>[\"'`])?")
_TAG = Pattern(
    r"<(?:[a-z0-9_:.-]{0,64}?)(?:(?P<password>password|passwd|pwd)|(?P<secret>secret|token|key))(?:\s[^<>\n]{0,200})?>"
)
_WINDOW = 256  # what of a bare value is looked at to judge it, so that a refusal costs little
_BARE = Pattern(rf"[^\s<>]{{1,{_WINDOW}}}")
_REST = Pattern(r"[^\s<>\"'`]*")
_CUT = Pattern(r"[&;,]\s?[A-Za-z_][\w.-]{0,64}[=:]|\\*[\"'`](?:[,}\]:;)]|\\*\Z|\\[nrt])|[\"'`][,}\]:;)]")
_TAGGED = Pattern(r"[^<]{1,65536}")
_TRAILING = ".,;:)]}\"'`\\"
_LINE_ENDS = Pattern(r"[ \t]*(?:[\r\n.,;)\]}\"'`|]|\\[nrt]|\Z)")
_CONTENT = {
    '"': Pattern(r'(?:[^"\\\n]++|\\.)*+'),
    "'": Pattern(r"(?:[^'\\\n]++|\\.)*+"),
    "`": Pattern(r"(?:[^`\\\n]++|\\.)*+"),
}


def _assigned(text: str, folded: str) -> Iterator[Span]:
    yield from _named(_ASSIGNED, text, folded)


def _named(pattern: Pattern, text: str, folded: str) -> Iterator[Span]:
    """A name has been found; the value behind it is read from the text as it is. The search goes on inside a value:
    there may be a name at its end. Only one that was longer than the window is passed over, or it would be read for
    every name in it."""
    at = 0
    while match := pattern.compiled.search(folded, at):
        start = at = match.end()
        end = _value_end(text, match)
        if end > start and _secret(match, text, end):
            whole = _whole_end(text, start, end)
            yield Span(start, whole, PASSWORD if match["password"] else SECRET)
            at = at if whole == end and not match["quote"] else whole


def _value_end(text: str, match: re.Match[str]) -> int:
    quote = match["quote"]
    if quote:
        return _quoted_end(text, match.end(), quote)
    bare = _BARE.compiled.match(text, match.end())
    if bare is None:
        return match.end()
    cut = _CUT.compiled.search(text, bare.start() + 1, bare.end())
    value = text[bare.start() : cut.start() if cut else bare.end()]
    return bare.start() + len(value.rstrip(_TRAILING))


def _whole_end(text: str, start: int, end: int) -> int:
    """Where a value ends of which only the window was looked at."""
    rest = _REST.compiled.match(text, end) if end - start == _WINDOW else None
    return rest.end() if rest else end


def _quoted_end(text: str, start: int, quote: str) -> int:
    """Where the text in quotes ends; one that is cut off ends with its line."""
    if len(quote) == 1:
        content = _CONTENT[quote].compiled.match(text, start)
        return content.end() if content else start
    line = text.find("\n", start)
    end = text.find(quote, start, line if line >= 0 else len(text))
    return end if end >= 0 else (line if line >= 0 else len(text))


def _secret(match: re.Match[str], text: str, end: int) -> bool:
    value = text[match.end() : end]
    if looks.placeholder(value) or (not match["quote"] and looks.code(value)):
        return False
    if not match["password"]:
        return looks.random(value)
    if match["quote"] or "=" in match["operator"]:
        return True
    return not looks.plain_word(value) or _LINE_ENDS.compiled.match(text, end) is not None


def _flags(text: str, folded: str) -> Iterator[Span]:
    """`--password hunter2`, `--api-key …`. A long value is passed over, or it would be read for every flag in it."""
    at = 0
    while match := _FLAG.compiled.search(folded, at):
        start = at = match.end()
        end = _value_end(text, match)
        value = text[start:end]
        hidden = looks.random(value) if match["secret"] else not value.startswith("-")
        if value and hidden and not looks.placeholder(value):
            whole = _whole_end(text, start, end)
            yield Span(start, whole, PASSWORD if match["password"] else SECRET)
            at = at if whole == end and not match["quote"] else whole


def _said(text: str, folded: str) -> Iterator[Span]:
    """`my password is hunter2`: only what is no word."""
    for match in _SAID.each(folded):
        end = _value_end(text, match)
        if looks.spoken_password(text[match.end() : end]):
            yield Span(match.end(), end, PASSWORD)


def _tags(text: str, folded: str) -> Iterator[Span]:
    """`<db_password>hunter2</db_password>`."""
    for match in _TAG.each(folded):
        content = _TAGGED.compiled.match(text, match.end())
        if content is None:
            continue
        value = content[0].strip()
        if value and not looks.placeholder(value) and (match["password"] or looks.random(value)):
            yield Span(*content.span(), PASSWORD if match["password"] else SECRET)


RULES = (
    Rule((*_PASSWORD_LITERALS, *_SECRETS), _assigned),
    Rule(("-pass", "-pwd", "-token", "-secret", "-key", "-credential"), _flags),
    Rule(_PASSWORD_LITERALS, _said),
    Rule(("</",), _tags),
)
