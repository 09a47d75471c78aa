"""Which facts are kept when there is no room for all of them."""

import heapq
from collections import Counter
from collections.abc import Collection, Sequence

from strandline.domain.rules.words import content
from strandline.domain.working_memory.kinds import factor
from strandline.domain.working_memory.limits import weight

_LONG = 12
_SAID = 0.5
"""What a word still counts once a chosen fact has it: what says the same again comes last."""


def most_telling(facts: Sequence[str], names: Collection[str], chars: int, tokens: int) -> list[str]:
    """As many facts as there is room for, in their order: those that say most of what all of them are about, and each
    something that those before it do not say. All of them where there is room."""
    words = [content(text, names) for text in facts]
    worth: dict[str, float] = dict(Counter(word for said in words for word in dict.fromkeys(said)))
    heap = [(-_score(facts[n], words[n], worth), n) for n in range(len(facts))]
    heapq.heapify(heap)
    kept: list[int] = []
    while heap:
        old, n = heapq.heappop(heap)
        score = -_score(facts[n], words[n], worth)
        if score > old and heap and (score, n) > heap[0]:  # its words have been said meanwhile
            heapq.heappush(heap, (score, n))
            continue
        tokens -= weight(facts[n]) + 1
        chars -= len(facts[n]) + 3
        if min(tokens, chars) < 0:
            break
        kept.append(n)
        for word in dict.fromkeys(words[n]):
            worth[word] *= _SAID
    return [facts[n] for n in sorted(kept)]


def _score(text: str, said: Sequence[str], worth: dict[str, float]) -> float:
    return sum(worth[word] for word in said) / max(_LONG, len(said)) * factor(text)
