"""api: every other route; see strandline/entry/routes."""

from typing import Any

from strandline.entry import api


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    return api.handle(event, context)
