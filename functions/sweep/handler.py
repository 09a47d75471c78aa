"""sweep: see strandline/pipeline/sweep.py."""

from typing import Any

from strandline.entry import schedule


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    return schedule.handle_sweep()
