"""A JSON object as a markdown page that a person can read and edit: a title, what it is, and a block of JSON with one
line for each key, so that a search finds the line."""

import json
import re
from collections.abc import Mapping
from typing import Any

_BLOCK = re.compile(r"^```json\n(.*?)^```", re.DOTALL | re.MULTILINE)
# The service puts this in place of a secret; where that was no text, it stands there without quotes.
_BARE_MARK = re.compile(r"(?<=[:,\[] )\[redacted:\w+\](?=[,\n}\]])")


def written(title: str, about: Mapping[str, Any], value: Mapping[str, Any]) -> str:
    """The page. `about` are lines above the block. Raises ValueError or TypeError for what JSON cannot hold."""
    told = "".join(f"{name}: `{_json(what)}`\n" for name, what in about.items())
    lines = ",\n".join(f"  {_json(str(key))}: {_json(item)}" for key, item in value.items())
    block = f"{{\n{lines}\n}}" if lines else "{}"
    return f"# {' '.join(title.split())}\n\n{told}\n```json\n{block}\n```\n"


def read(content: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What stands above the block, and the object in it. Raises ValueError for what is no such page."""
    match = _BLOCK.search(content)
    value = json.loads(_BARE_MARK.sub(lambda mark: f'"{mark[0]}"', match[1])) if match else None
    if match is None or not isinstance(value, dict):
        raise ValueError("the page has no block of JSON that is an object")
    told = re.findall(r"^(\w+): `(.*)`$", content[: match.start()], re.MULTILINE)
    return {name: json.loads(what) for name, what in told}, value


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
