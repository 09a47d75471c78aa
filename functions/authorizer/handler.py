"""authorizer: whose key is it? See strandline/entry/authorizer.py."""

from typing import Any

from strandline.entry import authorizer


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    return authorizer.handle(event)
