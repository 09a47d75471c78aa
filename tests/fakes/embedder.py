"""An embedder that knows a few words, and which of them mean the same."""

from collections.abc import Mapping, Sequence

from tests.fakes.faults import Faults

MEANINGS = {"tea": 0, "brew": 0, "oolong": 0, "rowing": 1, "boat": 1, "oars": 1, "cello": 2, "music": 2}


class WordEmbedder:
    """A vector counts the words of each meaning; a text without any known word is alike to nothing in particular."""

    def __init__(self, name: str = "words/1", meanings: Mapping[str, int] = MEANINGS) -> None:
        self.name = name
        self.faults = Faults()
        self.asked: list[list[str]] = []
        self._meanings = meanings

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[Sequence[float]]:
        return self.faults.run("query" if query else "embed", lambda: self._vectors(texts))

    def _vectors(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked.append(list(texts))
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        counts = [0.0] * (max(self._meanings.values()) + 1) + [0.01]
        for word in text.lower().replace(".", " ").replace(",", " ").split():
            if word in self._meanings:
                counts[self._meanings[word]] += 1
        return counts
