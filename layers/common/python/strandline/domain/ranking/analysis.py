"""From text to index terms: the same for what is stored and for what is asked.

Text is NFKC-normalised, case-folded and cut into words by Unicode category (letters, marks and digits). Words
lose their accents and are stemmed (Snowball English, https://snowballstem.org/algorithms/english/stemmer.html).
A hyphenated word gives its parts and the joined form. Scripts written without spaces give single characters and
bigrams, as Lucene's CJKBigramFilter with outputUnigrams does. Every step is linear in the length of the text.
"""

import re
import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from snowballstemmer import stemmer

from strandline.domain.ranking.stop_words import STOP_WORDS

_WORD_CHARS = 64  # longer "words" are encoded data or noise: their beginning is enough to find them by

_UNSPACED = (
    "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\ua9e0-\ua9ff\uaa60-\uaa7f"  # Thai, Lao, Tibetan, Myanmar, Khmer
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "\u3005-\u3007\u3021-\u3029\u3031-\u30ff\u31f0-\u31ff\U0001aff0-\U0001b16f"  # Hiragana, Katakana
    "\u2e80-\u2fdf\u3100-\u312f\u31a0-\u31bf\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
_SLICES = re.compile(r".{1,1024}(?=\s)|.{1,1024}", re.DOTALL)
_PIECES = re.compile(f"([{_UNSPACED}]+)|([^{_UNSPACED}]+)")
_CLITIC = re.compile(r"'(?:s|m|re|ve|ll|d)?$")
_JOINTS = re.compile(r"['-]+")
_ACCENTS = re.compile("[\u0300-\u036f]")
_APOSTROPHES = frozenset("'\u2018\u2019\u201b\u02bc\u055a\uff07`\u00b4")
_HYPHENS = frozenset("-_\u2010\u2011")
_UNDECOMPOSED = str.maketrans(
    {"ø": "o", "đ": "d", "ł": "l", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th", "ı": "i"}
)


@dataclass(frozen=True, slots=True)
class Terms:
    """Terms of a text. `content` says what it is about and makes its length; `fallback` is searched only by
    queries that have nothing else: stop words and symbols such as emoji."""

    content: list[str] = field(default_factory=list)
    fallback: list[str] = field(default_factory=list)


def analyze(text: str) -> list[str]:
    """Terms of a text in order, with repeats: its content terms or, where it has none, its fallback terms."""
    terms = terms_of(text)
    return terms.content or terms.fallback


def terms_of(text: str) -> Terms:
    """Both kinds of terms of a text."""
    terms = Terms()
    for chunk in _normalized(text).casefold().translate(_CHARACTERS).split():
        if chunk.isascii() and chunk.isalnum():
            _add_word(chunk, terms)
        else:
            _add_chunk(chunk, terms)
    return terms


def _normalized(text: str) -> str:
    """NFKC, slice by slice: sorting one long run of combining marks would take time quadratic in its length."""
    if text.isascii():
        return text
    return "".join(unicodedata.normalize("NFKC", part) for part in _SLICES.findall(text))


class _Characters(dict[int, str]):
    """What stands for a character: itself in words, a blank for punctuation, nothing for invisible ones."""

    def __missing__(self, code: int) -> str:
        self[code] = shown = _shown(chr(code))
        return shown


def _shown(char: str) -> str:
    if char in _APOSTROPHES:
        return "'"
    if char in _HYPHENS:
        return "-"
    category = unicodedata.category(char)
    if category == "Cf" or "\ufe00" <= char <= "\ufe0f":  # zero-width characters, variation selectors
        return ""
    if category == "So":
        return f" {char} "
    return char if category[0] in "LMN" else " "


_CHARACTERS = _Characters()


def _add_chunk(chunk: str, terms: Terms) -> None:
    if len(chunk) == 1 and unicodedata.category(chunk) == "So":
        terms.fallback.append(chunk)
        return
    for match in _PIECES.finditer(chunk):
        run, word = match.groups()
        if run:
            _add_run(run, terms)
        else:
            _add_compound(word.strip("-"), terms)


def _add_run(run: str, terms: Terms) -> None:
    terms.content.extend(run)
    terms.content.extend(first + second for first, second in pairwise(run))


def _add_compound(word: str, terms: Terms) -> None:
    word = word.lstrip("'")
    if word.endswith("n't"):
        terms.fallback.append(word[:_WORD_CHARS].replace("'", ""))
        return
    parts = [part for part in _JOINTS.split(_CLITIC.sub("", word)) if part]
    for part in parts:
        _add_word(part, terms)
    if len(parts) > 1 and sum(map(len, parts)) <= _WORD_CHARS:
        _add_word("".join(parts), terms)


def _add_word(word: str, terms: Terms) -> None:
    word = word[:_WORD_CHARS]
    if word in STOP_WORDS:
        terms.fallback.append(word)
    elif term := _term(word):
        terms.content.append(term)


@lru_cache(maxsize=50_000)
def _term(word: str) -> str:
    bare = word if word.isascii() else _without_accents(word)
    if bare in STOP_WORDS:  # "thé" is not "the"
        return word
    # A stemmer keeps its state between calls, so each call gets its own and threads cannot mix theirs up.
    stem: str = stemmer("english").stemWord(bare)
    return stem


def _without_accents(word: str) -> str:
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", word))
    return unicodedata.normalize("NFC", bare).translate(_UNDECOMPOSED)
