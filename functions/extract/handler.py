"""extract: see strandline/pipeline/extract.py."""

from typing import Any

from strandline.entry import extract


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    return extract.handle(event)
