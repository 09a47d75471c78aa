"""Where a text may be cut: between two characters as a reader sees them, never inside one.

The rules of extended grapheme clusters (Unicode Standard Annex 29) as far as the standard library's tables go: marks,
joiners, modifiers and tags stay with what is before them, two regional indicators are one flag, jamo one syllable, a
virama and the consonant behind it one letter. Where these tables do not say enough, more is held together than need be.
"""

import unicodedata

LONGEST = 64
"""Characters of one cluster that are held together; a longer one is no writing. (The longest emoji have ten; text in
stream-safe format has at most 30 marks in a row.)"""

_FIRST_JOINED = "\u0300"  # before it only CR LF is held together
_ZWJ = "\u200d"
_JOINED = "\u200c\u200d\u0e33\u0eb3"  # joiners, and the Thai and Lao am
_VIRAMA = 9


def beginning(text: str, limit: int) -> str:
    """As much of the text's beginning as fits into `limit` characters."""
    return text if len(text) <= limit else text[: _back(text, max(limit, 0))]


def ending(text: str, limit: int) -> str:
    """As much of its end."""
    return text if len(text) <= limit else text[_forth(text, len(text) - max(limit, 0)) :]


def _back(text: str, at: int) -> int:
    """The last place up to `at` where the text may be cut; `at` itself where there is none for long."""
    lowest = max(at - LONGEST, 0)
    return next((place for place in range(at, lowest - 1, -1) if _may_cut(text, place)), at)


def _forth(text: str, at: int) -> int:
    highest = min(at + LONGEST, len(text))
    return next((place for place in range(at, highest + 1) if _may_cut(text, place)), at)


def _may_cut(text: str, at: int) -> bool:
    if not 0 < at < len(text):
        return True
    before, after = text[at - 1], text[at]
    if after < _FIRST_JOINED:
        return before + after != "\r\n" and before != _ZWJ
    return not (_belongs_to_what_precedes(after) or _reaches_on(before, after) or _halves_a_flag(text, at))


def _belongs_to_what_precedes(c: str) -> bool:
    return unicodedata.category(c).startswith("M") or c in _JOINED or _is_tail(ord(c))


def _is_tail(code: int) -> bool:
    """Skin tones, tags, halfwidth sound marks, the vowels and final consonants of jamo."""
    return (
        0x1F3FB <= code <= 0x1F3FF
        or 0xE0020 <= code <= 0xE007F
        or 0xFF9E <= code <= 0xFF9F
        or 0x1160 <= code <= 0x11FF
        or 0xD7B0 <= code <= 0xD7FB
    )


def _reaches_on(before: str, after: str) -> bool:
    """A joiner or a virama before any letter or symbol, an initial jamo before another or before a syllable."""
    if before == _ZWJ or (unicodedata.combining(before) == _VIRAMA and after.isalpha()):
        return True
    return _is_initial(before) and (_is_initial(after) or "가" <= after <= "힣")


def _is_initial(c: str) -> bool:
    return "\u1100" <= c <= "\u115f" or "\ua960" <= c <= "\ua97c"


def _halves_a_flag(text: str, at: int) -> bool:
    """Regional indicators are counted from the first of their row, as far back as a cluster is held together."""
    if not _is_regional(text[at]):
        return False
    row = 0
    while row < LONGEST and row < at and _is_regional(text[at - 1 - row]):
        row += 1
    return row % 2 == 1


def _is_regional(c: str) -> bool:
    return "\U0001f1e6" <= c <= "\U0001f1ff"
