"""The sweep function: called by the schedule."""

from typing import Any

from strandline.entry import telemetry
from strandline.entry.wiring import library
from strandline.pipeline.sweep import run_sweep


def handle() -> dict[str, Any]:
    """Runs one sweep; answers its counts."""
    with telemetry.work("sweep"):
        counts = dict(run_sweep(library()))
        telemetry.count(**counts)
        return counts
