"""What a conversation is about: its words by how many lines say them, and how central each line is."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
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
    remember reminder plans step chance
    """.split()
)
_TOP = 3
_BONUS_DATED = 1.5
_BONUS_TOLD = 1.0
_LONG = 12


def themes(lines: Sequence[Line], names: Collection[str]) -> list[str]:
    """Up to three words or word pairs that most lines are about, the commonest first."""
    listed = [_nouns(line, names) for line in lines if not line.voice.is_assistant] or [
        _nouns(x, names) for x in lines
    ]
    single = Counter(w for found in listed for w in dict.fromkeys(found))
    pairs = _pairs(lines, frozenset(single))
    chosen: list[str] = []
    for word, _ in single.most_common():
        phrase = _phrase(word, single, pairs)
        if not any(set(phrase.split()) & set(c.split()) for c in chosen):
            chosen.append(phrase)
        if len(chosen) == _TOP:
            break
    return chosen


def _nouns(line: Line, names: Collection[str]) -> list[str]:
    return [w for w in content(line.said, names) if _is_noun_like(w)]


def _is_noun_like(word: str) -> bool:
    generic = word in _GENERIC or word in BASE or word in ADVERB or is_past(word)
    return (
        not generic and "'" not in word and not word.isdigit() and len(word) > 2 and not word.endswith("ly")
    )


def _pairs(lines: Iterable[Line], nouns: Collection[str]) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for line in lines:
        found.update(p for p in dict.fromkeys(pairwise(words(line.said))) if p[0] in nouns and p[1] in nouns)
    return found


def _phrase(word: str, single: Counter[str], pairs: Counter[tuple[str, str]]) -> str:
    """The word, or the pair it mostly occurs in."""
    best = max((p for p in pairs if word in p), key=lambda p: pairs[p], default=None)
    if best and pairs[best] > 1 and pairs[best] * 2 >= single[word]:
        return " ".join(best)
    return word


def salience(lines: Sequence[Line], names: Collection[str]) -> list[float]:
    """How much each line says of what the conversation is about: the mean weight of its words, more if it is dated."""
    weight = Counter(w for line in lines for w in dict.fromkeys(content(line.said, names)))
    return [_score(line, weight, names) for line in lines]


def _score(line: Line, weight: Counter[str], names: Collection[str]) -> float:
    found = content(line.said, names)
    central = sum(weight[w] for w in found) / max(_LONG, len(found))
    told = _BONUS_TOLD * (' said: "' not in line.text) * (not line.is_caption)
    return central + _BONUS_DATED * line.dated + told
