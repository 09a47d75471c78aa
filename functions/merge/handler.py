"""merge: see strandline/pipeline/merge.py."""

from typing import Any

from strandline.entry import merge


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    return merge.handle(event)
