"""A plain BM25 to compare with, independent of the service's index: lower-cased words, or their stems.

score(d, q) = sum over words of idf(w) · tf · (k1 + 1) / (tf + k1 · (1 - b + b · |d| / mean |d|)),
idf(w) = ln(1 + (N - n + 0.5) / (n + 0.5)), k1 = 1.2, b = 0.75 (Robertson and Zaragoza, 2009; idf as in Lucene).
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping

import snowballstemmer

from strandline.domain.ranking.stop_words import STOP_WORDS

K1, B = 1.2, 0.75
_WORD = re.compile(r"\w+")
_STEMMER = snowballstemmer.stemmer("english")


def words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def stems(text: str) -> list[str]:
    """Without English stop words."""
    return list(_STEMMER.stemWords([word for word in words(text) if word not in STOP_WORDS]))


class Bm25:
    """Ranks documents, given as texts by id, by the terms that `analyse` finds in a text."""

    def __init__(self, texts: Mapping[str, str], analyse: Callable[[str], list[str]] = words) -> None:
        self._analyse = analyse
        self._counts = {name: Counter(analyse(text)) for name, text in texts.items()}
        self._mean = sum(map(Counter.total, self._counts.values())) / len(texts)
        found = Counter(word for counts in self._counts.values() for word in counts)
        self._idf = {w: math.log(1 + (len(texts) - n + 0.5) / (n + 0.5)) for w, n in found.items()}

    def rank(self, query: str, limit: int) -> list[str]:
        """The best ids, those without any of the words left out."""
        asked = [word for word in self._analyse(query) if word in self._idf]
        scores = {
            name: sum(self._score(word, counts) for word in asked) for name, counts in self._counts.items()
        }
        best = sorted((name for name in scores if scores[name] > 0), key=lambda name: -scores[name])
        return best[:limit]

    def _score(self, word: str, counts: Counter[str]) -> float:
        tf = counts[word]
        return self._idf[word] * tf * (K1 + 1) / (tf + K1 * (1 - B + B * counts.total() / self._mean))
