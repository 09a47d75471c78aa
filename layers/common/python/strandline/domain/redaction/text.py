"""Takes the secrets out of one text."""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from strandline.domain.folding import fold
from strandline.domain.redaction import assignments, headers, private_keys, tokens
from strandline.domain.redaction.span import Literals, Pattern, Span

RULES = (*private_keys.RULES, *tokens.RULES, *headers.RULES, *assignments.RULES)
_LITERALS = Literals(literal for rule in RULES for literal in rule.literals)
MARKER = "[redacted:"
"""What every marker begins with."""

_MARKER = Pattern(r"(\[redacted:[a-z_]{1,40}\])")
ROUNDS = 8
SHORTEST = 5  # `pwd:1`: what is shorter cannot hold a secret, and of short texts there may be very many
MANY = 1000
APART = 256


class Redacted(NamedTuple):
    """A text without its secrets, and the kinds of those that were in it, in order of appearance."""

    text: str
    kinds: tuple[str, ...] = ()


Allowed = Sequence[str]
"""What is no secret though it looks like one, as a shell would match it: `AKIAIOSFODNN7EXAMPLE`, `sk-test-*`."""


def redact(text: str, allowed: Allowed = ()) -> Redacted:
    """The text with a marker in place of each secret, but for what is allowed.

    What stands between markers is looked at again until nothing is found: without its neighbour a text may look
    different, and a second call must find what the first one left.
    """
    kinds: dict[str, None] = {}
    return Redacted(_clean(text, kinds, ROUNDS, allowed), tuple(kinds))


def kinds_in(text: str, allowed: Allowed = ()) -> tuple[str, ...]:
    """The kinds of secrets that are in a text."""
    return tuple(dict.fromkeys(span.kind for span in _spans(text, allowed)))


def scrub(text: str, allowed: Allowed = ()) -> str:
    """The text with a marker in place of each secret: for messages of errors."""
    return redact(text, allowed).text


def _clean(text: str, kinds: dict[str, None], rounds: int, allowed: Allowed) -> str:
    """Markers that are there already divide the text and stay."""
    if not rounds:
        return text
    pieces = _MARKER.compiled.split(text) if MARKER in text else [text]
    pieces[::2] = [
        _without(piece, kinds, rounds, allowed) for piece in pieces[::2]
    ]  # every other one is a marker
    return "".join(pieces)


def _without(text: str, kinds: dict[str, None], rounds: int, allowed: Allowed) -> str:
    spans = _bounded(_spans(text, allowed))
    if not spans:
        return text
    kinds.update(dict.fromkeys(span.kind for span in spans))
    kept, at = [], 0
    for span in spans:
        kept += [_clean(text[at : span.start], kinds, rounds - 1, allowed), f"[redacted:{span.kind}]"]
        at = span.end
    return "".join((*kept, _clean(text[at:], kinds, rounds - 1, allowed)))


def _bounded(spans: Sequence[Span]) -> Sequence[Span]:
    """Where there is one secret after another, more than anybody has, what stands between them goes with them: each
    piece between two is looked at again, and a request must be answered in time whatever it holds."""
    if len(spans) <= MANY:
        return spans
    runs = [spans[0]]
    for span in spans[1:]:
        if span.start - runs[-1].end < APART:
            runs[-1] = runs[-1]._replace(end=span.end)
        else:
            runs.append(span)
    return runs


def is_allowed(text: str, allowed: Allowed) -> bool:
    return any(fnmatchcase(text, pattern) for pattern in allowed)


def _spans(text: str, allowed: Allowed) -> Sequence[Span]:
    if len(text) < SHORTEST:
        return ()
    folded = fold(text)
    if not _LITERALS.any_in(folded):
        return ()
    found = _merged(span for rule in RULES for span in rule.spans(text, folded))
    return (
        [span for span in found if not is_allowed(text[span.start : span.end], allowed)] if allowed else found
    )


def _merged(spans: Iterable[Span]) -> Sequence[Span]:
    """In order, what overlaps as one; of two that begin together the earlier rule names the kind."""
    merged: list[Span] = []
    for span in sorted(spans, key=lambda span: span.start):
        if merged and span.start < merged[-1].end:
            merged[-1] = merged[-1]._replace(end=max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return merged
