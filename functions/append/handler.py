"""append: see strandline/pipeline/append.py."""

from typing import Any

from strandline.entry import append


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    return append.handle(event)
