"""commit: see strandline/pipeline/commit.py."""

from typing import Any

from strandline.entry import commit


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    return commit.handle(event)
