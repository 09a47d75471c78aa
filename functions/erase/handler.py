"""erase: see strandline/pipeline/erase.py."""

from typing import Any

from strandline.entry import erase


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    return erase.handle(event, context)
