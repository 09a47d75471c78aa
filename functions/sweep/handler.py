"""sweep: see strandline/pipeline/sweep.py."""

from typing import Any

from strandline.entry import sweep


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    return sweep.handle()
