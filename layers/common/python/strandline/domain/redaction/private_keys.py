"""Private keys in PEM, from `-----BEGIN` to `-----END`: on lines, or with \\n spelt out; also with one end cut off."""

from collections.abc import Iterator

from strandline.domain.redaction.span import Pattern, Rule, Span

KIND = "private_key"
MAX_CHARS = 64 * 1024
_BEGIN = Pattern(r"-{4,5}BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-{4,5}")
_END = Pattern(r"-{4,5}END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-{4,5}")
_GAP = r"(?:\s|\\+[nrt]|[\"'`,+>|])"
_CUT_BEHIND = Pattern(
    rf"(?:{_GAP}*+(?:Proc-Type|DEK-Info|Version|Comment|Hash): [^\n\\]{{0,200}})*+"
    rf"(?:{_GAP}*+[A-Za-z0-9+/=]{{16,}})*+(?:{_GAP}*+[A-Za-z0-9+/=]{{1,15}}\s*\Z)?"
)
_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\\\r\n\t"


def _find(text: str, _folded: str) -> Iterator[Span]:
    ends = [match.span() for match in _END.each(text)]
    done = at = 0
    begins = [match.span() for match in _BEGIN.each(text)]
    for n, (start, behind) in enumerate(begins):
        limit = begins[n + 1][0] if n + 1 < len(begins) else len(text)
        while at < len(ends) and ends[at][0] < start:
            yield from _cut_before(text, done, ends[at])
            done, at = ends[at][1], at + 1
        if at < len(ends) and ends[at][0] < min(limit, behind + MAX_CHARS):
            yield Span(start, ends[at][1], KIND)
            done, at = ends[at][1], at + 1
        else:
            done = _end_of_cut(text, behind, limit)
            if done > behind:
                yield Span(start, done, KIND)
    for end in ends[at:]:
        yield from _cut_before(text, done, end)
        done = end[1]


def _cut_before(text: str, after: int, end: tuple[int, int]) -> Iterator[Span]:
    """The key whose beginning is not there: the base64 that ends where `-----END` begins."""
    kept = text[after : end[0]].rstrip(_BASE64)
    start = after + len(kept)
    if end[0] - start >= 16:
        yield Span(start, end[1], KIND)


def _end_of_cut(text: str, behind: int, limit: int) -> int:
    match = _CUT_BEHIND.compiled.match(text, behind, limit)
    return match.end() if match else behind


RULES = (Rule(("private key",), _find),)
