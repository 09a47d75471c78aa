"""commit: see strandline/pipeline/commit.py."""

from typing import Any

from strandline.entry import queues


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    return queues.handle_commit(event)
