"""Takes the secrets out of one text."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from strandline.domain.folding import fold
from strandline.domain.redaction import assignments, headers, private_keys, tokens
from strandline.domain.redaction.span import Literals, Pattern, Span

RULES = (*private_keys.RULES, *tokens.RULES, *headers.RULES, *assignments.RULES)
_LITERALS = Literals(literal for rule in RULES for literal in rule.literals)
_MARKER = Pattern(r"(\[redacted:[a-z_]{1,40}\])")
ROUNDS = 8


class Redacted(NamedTuple):
    """A text without its secrets, and the kinds of those that were in it, in order of appearance."""

    text: str
    kinds: tuple[str, ...] = ()


def redact(text: str) -> Redacted:
    """The text with a marker in place of each secret.

    What stands between markers is looked at again until nothing is found: without its neighbour a text may look
    different, and a second call must find what the first one left.
    """
    kinds: dict[str, None] = {}
    for _ in range(ROUNDS):
        clean, found = _once(text)
        if not found:
            break
        kinds.update(dict.fromkeys(found))
        text = clean
    return Redacted(text, tuple(kinds))


def kinds_in(text: str) -> tuple[str, ...]:
    """The kinds of secrets that are in a text."""
    return tuple(dict.fromkeys(span.kind for span in _spans(text)))


def scrub(text: str) -> str:
    """The text with a marker in place of each secret: for messages of errors."""
    return redact(text).text


def _once(text: str) -> tuple[str, Sequence[str]]:
    """Markers that are there already divide the text and stay."""
    if not _LITERALS.any_in(fold(text)):
        return text, ()
    found: list[str] = []
    pieces: list[str] = []
    for piece in _MARKER.compiled.split(text):
        spans = _spans(piece)
        found += [span.kind for span in spans]
        pieces.append(_without(piece, spans))
    return "".join(pieces), found


def _spans(text: str) -> Sequence[Span]:
    folded = fold(text)
    if not _LITERALS.any_in(folded):
        return ()
    return _merged(span for rule in RULES for span in rule.spans(text, folded))


def _merged(spans: Iterable[Span]) -> Sequence[Span]:
    """In order, what overlaps as one; of two that begin together the earlier rule names the kind."""
    merged: list[Span] = []
    for span in sorted(spans, key=lambda span: span.start):
        if merged and span.start < merged[-1].end:
            merged[-1] = merged[-1]._replace(end=max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return merged


def _without(text: str, spans: Sequence[Span]) -> str:
    if not spans:
        return text
    kept, at = [], 0
    for span in spans:
        kept += [text[at : span.start], f"[redacted:{span.kind}]"]
        at = span.end
    return "".join((*kept, text[at:]))
