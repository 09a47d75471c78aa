"""extract: see strandline/pipeline/extract.py."""

from typing import Any

from strandline.entry import queues


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    return queues.handle_extract(event)
