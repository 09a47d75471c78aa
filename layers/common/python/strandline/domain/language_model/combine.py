"""One extraction of several: the parts of a long archive, and the model's facts beside the rules' lines."""

from collections.abc import Sequence
from functools import reduce

from strandline.domain.extraction import Extraction, Usage

MAX_ABSTRACT = 1_200


def joined(parts: Sequence[tuple[tuple[int, int], Extraction]], spent: Usage) -> Extraction:
    """The parts of one archive in order, each with its first and last seq. `spent` is what all of it has cost.

    The abstracts stand one after the other, each cut to its share of the room.
    """
    extractions = [extraction for _, extraction in parts]
    return Extraction(
        extractor=",".join(dict.fromkeys(e.extractor for e in extractions)),
        abstract=" ".join(_within(e.abstract, MAX_ABSTRACT // len(parts), " ") for e in extractions),
        proposals=tuple(p for e in extractions for p in e.proposals),
        dropped=tuple(d for e in extractions for d in e.dropped),
        usage=spent,
    )


def beside(rules: Extraction, read: Extraction) -> Extraction:
    """The lines of the rules, then the facts of a model, which also gives the abstract.

    A model leaves out what it thinks unimportant; the rules' lines keep that findable. A line that both have, word by
    word, comes once: `candidates.check` sees to it.
    """
    return read.model_copy(
        update={
            "extractor": f"{rules.extractor}+{read.extractor}",
            "proposals": (*rules.proposals, *read.proposals),
            "dropped": (*rules.dropped, *read.dropped),
        }
    )


def total(usages: Sequence[Usage]) -> Usage:
    """What several have cost together."""
    return reduce(Usage.plus, usages, Usage())


def _within(text: str, limit: int, separator: str) -> str:
    """`text`, or as many of its words or lines as fit."""
    if len(text) <= limit:
        return text
    return text[: max(text.rfind(separator, 0, limit), 0)] + "…"
