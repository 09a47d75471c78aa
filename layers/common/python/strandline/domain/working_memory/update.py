"""One update: what goes into it and what comes out."""

from collections.abc import Sequence
from dataclasses import dataclass

from strandline.domain.extraction import Usage
from strandline.domain.working_memory.document import Document
from strandline.domain.working_memory.thresholds import Stored


@dataclass(frozen=True)
class Update:
    """A document, and the stored messages that follow what it takes in: at least one, in order and without gaps."""

    before: Document
    messages: Sequence[Stored]

    @property
    def through(self) -> int:
        """The seq of the last message."""
        return int(self.messages[-1]["seq"])


@dataclass(frozen=True)
class Summary:
    """The document that came of it, and what a language model has cost (None: none was asked)."""

    document: Document
    usage: Usage | None = None
