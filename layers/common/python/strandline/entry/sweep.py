"""The sweep function: called by the schedule."""

from typing import Any

from strandline.entry.wiring import library
from strandline.pipeline.sweep import run_sweep


def handle() -> dict[str, Any]:
    """Runs one sweep; answers its counts."""
    return dict(run_sweep(library()))
