"""How a run of a task can end, as fields that count it: all five always stand together."""

from strandline.domain.memory_types.base import Field

OUTCOMES = ("success", "failure", "partial", "unfinished", "unknown")

COUNTED = tuple(Field(name=outcome, merge="sum") for outcome in OUTCOMES)
TALLY = "Runs: " + ", ".join(f"{{{outcome}}} {outcome}" for outcome in OUTCOMES)

USED = tuple(f"used_{outcome}" for outcome in OUTCOMES)
"""The same of the runs that had read an experience."""
