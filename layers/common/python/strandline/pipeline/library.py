"""What the use cases of memories and search work with besides: the memory files and the indexes.

A class of its own, so that a function that only appends does not load YAML and the stemmer.
"""

from functools import cached_property

from strandline.domain.memory import Memory
from strandline.domain.ranking import Segment
from strandline.domain.usage import SessionUsage, Totals
from strandline.pipeline.services import Services
from strandline.ports import Embedder
from strandline.storage.document import Documents
from strandline.storage.index import Catalogue, IndexCodec
from strandline.storage.layered import LayeredDocuments
from strandline.storage.markdown import MemoryCodec
from strandline.storage.rebuilds import Rebuilding, RebuildingCodec
from strandline.storage.revisions import Revisions
from strandline.storage.usage import SessionUsageCodec, TotalsCodec
from strandline.storage.vectors import Rows, Vectors, VectorsCodec

WARM_TOTALS = 16


class Library(Services):
    """Services with memories. It remembers the indexes of the users it saw last."""

    @cached_property
    def memories(self) -> Documents[Memory]:
        return Documents(self.objects, MemoryCodec(), self.clock, self.ids)

    @cached_property
    def rebuilds(self) -> Documents[Rebuilding]:
        return Documents(self.objects, RebuildingCodec(), self.clock, self.ids)

    @cached_property
    def revisions(self) -> Revisions:
        return Revisions(self.objects)

    @cached_property
    def embedder(self) -> Embedder | None:
        return self.ports.embedder() if self.ports.embedder else None

    @cached_property
    def vectors(self) -> LayeredDocuments[Vectors, Rows]:
        return LayeredDocuments(self.objects, VectorsCodec(), self.clock, self.ids)

    @cached_property
    def indexes(self) -> LayeredDocuments[Catalogue, Segment]:
        return LayeredDocuments(self.objects, IndexCodec(), self.clock, self.ids)

    @cached_property
    def session_usage(self) -> Documents[SessionUsage]:
        return Documents(self.objects, SessionUsageCodec(), self.clock, self.ids)

    @cached_property
    def totals(self) -> Documents[Totals]:
        return Documents(self.objects, TotalsCodec(), self.clock, self.ids, warm=WARM_TOTALS)
