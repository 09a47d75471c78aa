"""The sweep function: called by the schedule."""

from typing import Any

from strandline.domain.failure import kind_of
from strandline.entry import telemetry
from strandline.entry.wiring import library
from strandline.pipeline.sweep import run_sweep


class SweepFailed(Exception):
    """A sweep that broke down; the text is its kind and place. The next one goes over the same ground."""


def handle() -> dict[str, Any]:
    """Runs one sweep; answers its counts."""
    try:
        return _sweep()
    except Exception as error:  # noqa: BLE001 - the runtime would log its text, which may quote what is stored
        raise SweepFailed(kind_of(error)) from None


def _sweep() -> dict[str, Any]:
    with telemetry.work("sweep"):
        counts = dict(run_sweep(library()))
        telemetry.count(**counts)
        return counts
