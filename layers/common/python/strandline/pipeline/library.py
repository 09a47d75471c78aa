"""What the use cases of memories and search work with besides: the memory files and the indexes.

A class of its own, so that a function that only appends does not load YAML and the stemmer.
"""

from functools import cached_property

from strandline.domain.memory import Memory
from strandline.domain.ranking import Segment
from strandline.domain.usage import SessionUsage, Totals
from strandline.pipeline.counting import Remembering
from strandline.pipeline.services import Services
from strandline.ports import Embedder
from strandline.storage.document import Documents
from strandline.storage.index import Catalogue, IndexCodec
from strandline.storage.layered import LayeredDocuments
from strandline.storage.log import Log
from strandline.storage.markdown import MemoryCodec
from strandline.storage.rebuilds import Rebuilding, RebuildingCodec
from strandline.storage.revisions import Revisions
from strandline.storage.scrubs import Scrubs
from strandline.storage.tool_results import ToolResults
from strandline.storage.usage import SessionUsageCodec, TotalsCodec
from strandline.storage.vectors import Rows, Vectors, VectorsCodec
from strandline.storage.warm import Warm

WARM_TOTALS = 16
WARM_BYTES = 32 * 1024 * 1024


class Library(Services):
    """Services with memories. It remembers the indexes of the users it saw last, and what it read of their sessions
    that is written once."""

    @cached_property
    def immutable(self) -> Warm:
        return Warm(self.objects, WARM_BYTES, self.clock)

    @cached_property
    def counter(self) -> Remembering:
        """Counts tokens of what is shown again and again."""
        return Remembering(self.tokens)

    @cached_property
    def told(self) -> Log:
        """The log, as it is read again and again."""
        return Log(self.objects, self.immutable)

    @cached_property
    def outputs(self) -> ToolResults:
        """Whole tool outputs, likewise."""
        return ToolResults(self.objects, self.immutable)

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
    def scrubs(self) -> Scrubs:
        return Scrubs(self.items, self.clock)

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
