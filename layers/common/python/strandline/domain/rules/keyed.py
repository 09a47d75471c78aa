"""Memory types that a user declares by keywords: what is said with one of them goes there."""

import re
from collections.abc import Iterable, Sequence

from strandline.domain.memory_types import MemoryType

Keyed = Sequence[tuple[str, re.Pattern[str]]]


def keyed(types: Iterable[MemoryType]) -> Keyed:
    """The names of those types that have keywords, each with the pattern of these."""
    return [(kind.name, _any_of(kind.keywords)) for kind in types if kind.keywords]


def by_keyword(said: str, types: Keyed) -> str | None:
    """The first of the types that one of the words said belongs to."""
    return next((name for name, words in types if words.search(said)), None)


def _any_of(words: Iterable[str]) -> re.Pattern[str]:
    """Whole words where a script parts them, whatever their case."""
    return re.compile("|".join(map(_pattern, words)), re.IGNORECASE)


def _pattern(word: str) -> str:
    return rf"\b{re.escape(word)}\b" if word.isascii() else re.escape(word)
