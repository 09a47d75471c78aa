"""What a conversation is about: its words by how many lines say them, and how central each line is."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise

from strandline.domain.rules.lines import Line
from strandline.domain.rules.verbs import ADVERB, BASE, is_past
from strandline.domain.rules.words import content, words

_GENERIC = frozenset(
    """
    time times people person thing things way lot year years month months week weeks day days today
    yesterday tomorrow moment life world part kind sort bit one two three first last next place photo
    image pic picture using made makes making being getting trying looking working going coming taking
    giving feels felt feeling need needs want wants able important special different big small little old
    hard easy many much enough almost every since around together experience journey idea ideas start
    started check found sharing share real super hope means said asked let image pretty happen happened
    remember reminder plans step chance name names monday tuesday wednesday thursday friday saturday
    sunday january february march april june july august september october november december http https
    www com
    """.split()
)
_TOP = 3
_MAX_CANDIDATES = 50
_BONUS_DATED = 1.5
_BONUS_TOLD = 1.0
_MALUS_ASSISTANT = 1.5
_LONG = 12


def themes(lines: Sequence[Line], names: Collection[str]) -> list[str]:
    """Up to three words or word pairs that most lines are about, the commonest first."""
    of_people = [line for line in lines if not line.voice.is_assistant]
    single = Counter(w for line in of_people or lines for w in dict.fromkeys(_nouns(line, names)))
    best_pair = _best_pairs(lines, frozenset(single))
    chosen: list[str] = []
    for word, count in single.most_common(_MAX_CANDIDATES):
        phrase = _phrase(word, count, best_pair)
        if not any(set(phrase.split()) & set(c.split()) for c in chosen):
            chosen.append(phrase)
    return [_as_written(phrase, lines) for phrase in chosen[:_TOP]]


def _as_written(phrase: str, lines: Sequence[Line]) -> str:
    """With the capitals it always has."""
    pattern = re.compile(rf"\b{re.escape(phrase)}\b", re.IGNORECASE)
    written = [m[0] for line in lines if (m := pattern.search(line.said))]
    return phrase if phrase in written or not written else written[0]


def _nouns(line: Line, names: Collection[str]) -> list[str]:
    return [w for w in content(line.said, names) if _is_noun_like(w)]


def _is_noun_like(word: str) -> bool:
    if word in _GENERIC or word in BASE or word in ADVERB or is_past(word):
        return False
    return len(word) > 2 and "'" not in word and not word.isdigit() and not word.endswith("ly")


def _best_pairs(lines: Iterable[Line], nouns: Collection[str]) -> dict[str, tuple[int, str]]:
    """For each noun the commonest pair of neighbours it is part of, with its count."""
    found: Counter[tuple[str, str]] = Counter()
    for line in lines:
        found.update(p for p in dict.fromkeys(pairwise(words(line.said))) if p[0] in nouns and p[1] in nouns)
    best: dict[str, tuple[int, str]] = {}
    for pair, count in found.most_common():
        for word in pair:
            best.setdefault(word, (count, " ".join(pair)))
    return best


def _phrase(word: str, count: int, best_pair: Mapping[str, tuple[int, str]]) -> str:
    """The word, or the pair it mostly occurs in."""
    together, pair = best_pair.get(word, (0, ""))
    return pair if together > 1 and together * 2 >= count else word


def salience(lines: Sequence[Line], names: Collection[str]) -> list[float]:
    """How much each line says of what the conversation is about: the mean weight of its words, more if it is dated."""
    found = [content(line.said, names) for line in lines]
    weight = Counter(w for said in found for w in dict.fromkeys(said))
    return [_score(line, said, weight) for line, said in zip(lines, found, strict=True)]


def _score(line: Line, found: Sequence[str], weight: Counter[str]) -> float:
    central = sum(weight[w] for w in found) / max(_LONG, len(found))
    assistant = _MALUS_ASSISTANT * line.voice.is_assistant
    return central + _BONUS_DATED * line.dated + _BONUS_TOLD * line.told - assistant
