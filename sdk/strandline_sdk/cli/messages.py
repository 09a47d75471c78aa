"""A stored message on one line."""

from collections.abc import Mapping
from typing import Any

from strandline_sdk.cli.output import minute, shown


def message_line(message: Mapping[str, Any]) -> str:
    """Its seq, time and speaker, and the beginning of what it says."""
    speaker = shown(message.get("peer_id") or message.get("role"))
    parts = message.get("parts") or ()
    said = message.get("content") or " ".join(map(part_text, parts))
    return f"{message.get('seq', '-'):>5}  {minute(message.get('created_at'))}  {speaker}: {shown(said)}"


def part_text(part: Mapping[str, Any]) -> str:
    """What a part of a message says."""
    match part.get("type"):
        case "text":
            return str(part.get("text"))
        case "tool":
            tool = f"[{part.get('tool_name') or part.get('tool_id')} {part.get('tool_status') or ''}".rstrip()
            return f"{tool}] {part.get('tool_output') or ''}".rstrip()
        case "context":
            return f"[{part.get('uri')}] {part.get('abstract') or ''}".rstrip()
        case other:
            return f"[{other}]"
