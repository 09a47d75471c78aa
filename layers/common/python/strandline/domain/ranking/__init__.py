"""Search over a user's memories and messages, as pure values.

`Index` is the whole of it: built from `Document`s, changed a group at a time, searched, and encoded to the bytes of
its stored objects: a head, and the `Segment`s that are its layers. `analyze` shows what a text is found by.
"""

from strandline.domain.ranking.analysis import analyze
from strandline.domain.ranking.blend import search_blended
from strandline.domain.ranking.document import Document, Scalar
from strandline.domain.ranking.encoding import SCHEMA, UnreadableIndex, decode_segment, encode_segment
from strandline.domain.ranking.index import Index, search_all
from strandline.domain.ranking.rerank import reranked, scores_of_turns, spread
from strandline.domain.ranking.search import Conditions, Hit
from strandline.domain.ranking.segment import Segment, empty

__all__ = [
    "SCHEMA",
    "Conditions",
    "Document",
    "Hit",
    "Index",
    "Scalar",
    "Segment",
    "UnreadableIndex",
    "analyze",
    "decode_segment",
    "empty",
    "encode_segment",
    "reranked",
    "scores_of_turns",
    "search_all",
    "search_blended",
    "spread",
]
