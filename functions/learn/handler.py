"""learn: see strandline/pipeline/learn.py."""

from typing import Any

from strandline.entry import learn


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    return learn.handle(event)
