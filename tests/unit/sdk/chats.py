"""OpenAI chat files."""

import json
from pathlib import Path

from strandline_sdk.importers import ImportedSession, read_sessions

HELLO = {"role": "user", "content": "Which glaze is blue?"}
OPENING = "55a4510e"  # its hash


def imported(tmp_path: Path, document: object, name: str = "chat.json") -> list[ImportedSession]:
    path = tmp_path / name
    path.write_text(json.dumps(document), encoding="utf-8")
    return list(read_sessions(path))
