"""What a conversation is about: the phrases most of its lines speak of, and how central each line is."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from strandline.domain.rules.lines import Line
from strandline.domain.rules.phrases import Phrase, is_empty, noun_phrases
from strandline.domain.rules.words import content

_TOP = 3
_TOP_WORDS = 6
_BONUS_WORD = 0.9
_BONUS_NAME = 0.6
_SHARE_WHOLE = 0.5
_SHARE_INNER = 0.25
_BONUS_DATED = 1.5
_BONUS_TOLD = 1.0
_MALUS_ASSISTANT = 1.5
_LONG = 12


def themes(lines: Sequence[Line], names: Collection[str]) -> list[str]:
    """Up to three noun phrases or names that most lines are about, the most central first; fewer words, if none.

    A phrase weighs as much as its last word, which says what it is, and more for every other word and for a name.
    """
    told = [line for line in lines if not line.is_caption]
    of_people = [line for line in told if not line.voice.is_assistant] or told or lines
    found = [list(noun_phrases(line.said, names)) for line in of_people]
    heads = Counter(head for line in found for head in dict.fromkeys(p.key[-1] for p in line))
    whole = Counter(key for line in found for key in dict.fromkeys(p.key for p in line))
    phrases = dict.fromkeys(p for line in found for p in line)
    ranked = sorted(phrases, key=lambda p: -_weight(p, heads, whole))
    return _apart(ranked) or _first_words(of_people, names)


def _weight(phrase: Phrase, heads: Counter[str], whole: Counter[tuple[str, ...]]) -> float:
    key = phrase.key
    inner = sum(heads[w] for w in key[:-1])
    bonus = _BONUS_WORD * (len(key) > 1) + _BONUS_NAME * phrase.named
    return heads[key[-1]] + _SHARE_WHOLE * (whole[key] - 1) + _SHARE_INNER * inner + bonus


def _apart(ranked: Iterable[Phrase]) -> list[str]:
    """The first phrases that have no word in common, as long as they make a short title."""
    chosen: list[Phrase] = []
    taken = set[str]()
    for phrase in ranked:
        size = sum(len(p.words) for p in chosen) + len(phrase.words)
        if len(chosen) < _TOP and size <= _TOP_WORDS and not taken & set(phrase.key):
            chosen.append(phrase)
            taken |= set(phrase.key)
    return [" ".join(p.words) for p in chosen]


def _first_words(lines: Iterable[Line], names: Collection[str]) -> list[str]:
    """The commonest words that say anything: for languages and styles in which no phrase is recognised."""
    found = Counter(w for line in lines for w in dict.fromkeys(content(line.said, names)) if not is_empty(w))
    return [word for word, _ in found.most_common(_TOP)]


def salience(lines: Sequence[Line], names: Collection[str]) -> list[float]:
    """How much each line says of what the conversation is about: the mean weight of its words, more if it is dated."""
    found = [content(line.said, names) for line in lines]
    weight = Counter(w for said in found for w in dict.fromkeys(said))
    return [_score(line, said, weight) for line, said in zip(lines, found, strict=True)]


def _score(line: Line, found: Sequence[str], weight: Counter[str]) -> float:
    central = sum(weight[w] for w in found) / max(_LONG, len(found))
    assistant = _MALUS_ASSISTANT * line.voice.is_assistant
    return central + _BONUS_DATED * line.dated + _BONUS_TOLD * line.told - assistant
