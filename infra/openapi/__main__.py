"""python -m infra.openapi            exits 1 when infra/openapi.json is old, or when the code breaks the released API
python -m infra.openapi write      writes infra/openapi.json from the code
python -m infra.openapi release    makes it the released one, which later changes are held against
"""

import json
import sys
from pathlib import Path
from typing import Any

from infra.openapi.breaking import breaking
from strandline.entry.api import app
from strandline.entry.openapi import describe

SNAPSHOT = Path(__file__).parents[1] / "openapi.json"
RELEASED = SNAPSHOT.with_name("openapi.released.json")
WORDS = ("check", "write", "release")


def rendered(document: Any) -> str:
    """The file's text: one value a line, so that changes of two people seldom meet."""
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def check() -> list[str]:
    """What is wrong with the snapshot, one line each."""
    made = describe(app)
    stale = [] if SNAPSHOT.read_text() == rendered(made) else [f"{SNAPSHOT.name} is old: run `make openapi`"]
    breaks = breaking(json.loads(RELEASED.read_text()), made)
    return stale + [f"breaks clients of the released API (see CONTRIBUTING.md): {line}" for line in breaks]


def main(word: str = "check") -> int:
    """Answers the exit code."""
    if word == "write":
        SNAPSHOT.write_text(rendered(describe(app)))
    elif word == "release":
        RELEASED.write_text(SNAPSHOT.read_text())
    elif word == "check":
        wrong = check()
        print("\n".join(wrong or [f"{SNAPSHOT.name} is what the code says, and breaks nobody"]))
        return bool(wrong)
    else:
        print(__doc__)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
