"""Secrets that are known by how they look: the issuer's prefix, and enough characters behind it.

Each pattern begins with its literal and goes on with one class of characters, so an attempt that fails was short and
one that succeeds is not looked at again: linear. A pattern of several parts ends in an alternative that swallows the
whole run it failed in, for the same reason.
"""

from collections.abc import Iterator
from typing import NamedTuple

from strandline.domain.redaction.span import Pattern, Rule, Span

# What may stand before a prefix that also ends ordinary words (`disk-`, `mask-`): no letter or digit, unless those
# belong to an escape: \n, %3D, \x1b, a colour of a terminal.
EDGE = (
    r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4})|(?<=\\x[0-9A-Fa-f]{2})"
    r"|(?<=\x1b\[[0-9]m)|(?<=\x1b\[[0-9]{2}m)|(?<=\x1b\[[0-9];[0-9]{2}m)|(?<=\x1b\[K))"
)
_WORD = Pattern(r"[A-Za-z0-9]{16}")


class Token(NamedTuple):
    """One kind: literals of which its texts contain one, and the pattern. What group `not` matches is none."""

    kind: str
    literals: str
    source: str


TOKENS = (
    Token("anthropic_key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{16,}"),
    Token("stripe_key", "k_live_", r"[srp]k_live_[A-Za-z0-9]{12,}"),
    Token("stripe_key", "k_test_", r"[srp]k_test_[A-Za-z0-9]{12,}"),
    Token("stripe_key", "whsec_", r"whsec_[A-Za-z0-9+/=]{16,}"),
    Token("github_token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{20,}"),
    Token("github_token", "github_pat_", r"github_pat_[A-Za-z0-9_]{20,}"),
    Token("gitlab_token", "glpat-", r"glpat-[A-Za-z0-9_.-]{20,}"),
    Token(
        "slack_token",
        "xoxb- xoxp- xoxa- xoxc- xoxd- xoxe- xoxe. xoxo- xoxr- xoxs-",
        r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}",
    ),
    Token("slack_token", "xapp-", r"xapp-[A-Za-z0-9-]{20,}"),
    Token("slack_webhook", "hooks.slack.com/", r"hooks\.slack\.com/[a-z]+/[A-Za-z0-9/_-]{20,}"),
    Token("google_api_key", "aiza", r"AIza[A-Za-z0-9_-]{30,}"),
    Token("google_oauth_token", "ya29.", r"ya29\.[A-Za-z0-9_-]{20,}"),
    Token("google_client_secret", "gocspx-", r"GOCSPX-[A-Za-z0-9_-]{20,}"),
    Token("npm_token", "npm_", r"npm_[A-Za-z0-9]{30,}"),
    Token("pypi_token", "pypi-", r"pypi-[A-Za-z0-9_-]{40,}"),
    Token("hugging_face_token", "hf_", r"hf_[A-Za-z0-9]{30,}"),
    Token("groq_key", "gsk_", r"gsk_[A-Za-z0-9]{30,}"),
    Token("digitalocean_token", "o_v1_", r"do[opr]_v1_[a-f0-9]{40,}"),
    Token("shopify_token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{30,}"),
    Token("sendgrid_key", "sg.", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|(?P<not>SG\.[A-Za-z0-9_-]*)"),
    Token("age_key", "age-secret-key-", r"AGE-SECRET-KEY-1[A-Z0-9]{40,}"),
    Token("aws_access_key_id", "akia", r"(?:(?<![A-Z0-9])|" + EDGE + r")AKIA[A-Z0-9]{16,}"),
    Token("aws_access_key_id", "asia", r"(?:(?<![A-Z0-9])|" + EDGE + r")ASIA[A-Z0-9]{16,}"),
    Token(
        "jwt", "eyj", r"eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}[A-Za-z0-9_.-]*|(?P<not>eyJ[A-Za-z0-9_-]*)"
    ),
)


def rule(token: Token) -> Rule:
    """The rule that finds one kind."""
    pattern = Pattern(token.source)

    def find(text: str, _folded: str) -> Iterator[Span]:
        for match in pattern.each(text):
            if match.lastgroup != "not":
                yield Span(*match.span(), token.kind)

    return Rule(tuple(token.literals.split()), find)


_SK = Pattern(EDGE + r"sk-[A-Za-z0-9_-]{16,}")


def _sk(text: str, _folded: str) -> Iterator[Span]:
    """`sk-` and what looks like chance behind it; words joined by hyphens are a name."""
    for match in _SK.each(text):
        tail = match[0][3:]
        if tail != tail.lower() or any(map(str.isdigit, tail)) or _WORD.compiled.search(tail):
            yield Span(*match.span(), "openai_key")


_AWS_ID = Pattern(r"(?:AKIA|ASIA)[A-Z0-9]{16}")
_AWS_SECRET = Pattern(r"(?<![A-Za-z0-9/+])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])")
_NEAR = 140


def _aws_secret(text: str, _folded: str) -> Iterator[Span]:
    """Forty characters not far behind an access key id: the secret that belongs to it, as in a credentials file."""
    for match in _AWS_ID.each(text):
        found = _AWS_SECRET.compiled.search(text, match.end(), match.end() + _NEAR)
        if found:
            yield Span(*found.span(), "aws_secret_key")


RULES = (
    *map(rule, TOKENS[:1]),
    Rule(("sk-",), _sk),
    *map(rule, TOKENS[1:]),
    Rule(("akia", "asia"), _aws_secret),
)
