"""Search over a user's memories and messages, as pure values.

`Index` is the whole of it: built from `Document`s, changed a group at a time, searched, and encoded to the bytes of
one stored object. `analyze` shows what a text is found by.
"""

from strandline.domain.ranking.analysis import analyze
from strandline.domain.ranking.blend import search_blended
from strandline.domain.ranking.document import Document, Scalar
from strandline.domain.ranking.encoding import SCHEMA, UnreadableIndex
from strandline.domain.ranking.index import Index, search_all
from strandline.domain.ranking.search import Conditions, Hit

__all__ = [
    "SCHEMA",
    "Conditions",
    "Document",
    "Hit",
    "Index",
    "Scalar",
    "UnreadableIndex",
    "analyze",
    "search_all",
    "search_blended",
]
