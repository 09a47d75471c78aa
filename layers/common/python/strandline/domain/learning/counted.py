"""What a lesson has counted, as its trajectory tells: of a session that was deleted nothing else knows."""

from collections.abc import Iterator

from strandline.domain.field_value import FieldValue
from strandline.domain.learning.lesson import USED
from strandline.domain.memory import Memory
from strandline.domain.memory_types.outcomes import OUTCOMES
from strandline.domain.merging import Addition


def counted(trajectory: Memory) -> Iterator[Addition]:
    """What the run has added, besides what names its session, to its case, its experience and those that it had read:
    one to how often runs ended as it did, and the other end of the trajectory's link."""
    known = {value.field: value for value in trajectory.values}
    lesson = next((each for each in trajectory.applied if each in trajectory.path), None)
    if lesson is None or "outcome" not in known:
        return
    outcome = known["outcome"]
    for link in trajectory.links:
        prefix = "used_" if link.type == USED else ""
        values = (
            FieldValue(f"{prefix}{each}", "sum", int(each == outcome.value), outcome.at, outcome.place)
            for each in OUTCOMES
        )
        kind = link.path.split("/", 1)[0]
        end = link.other_end(trajectory.path)
        yield Addition(lesson, link.path, kind, "", None, values=tuple(values), links=(end,))
