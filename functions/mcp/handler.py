"""mcp: the tools of an agent; see strandline/entry/mcp.py."""

from typing import Any

from strandline.entry import mcp


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    return mcp.handle(event)
