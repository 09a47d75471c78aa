"""`python -m tests.replay`: records anew what the conversations in `tests/cases/context` give on the fakes. To be read
before it is believed: `git diff tests/cases`."""

import json
from contextlib import redirect_stdout
from io import StringIO

import pytest

from tests.pipeline.world import World
from tests.replay.inside import Inside
from tests.replay.script import CASES, NAMES, Run, Script


def main() -> None:
    for name in NAMES:
        script = Script.load(name)
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()):
            run = Run(script, Inside(patch, World()))
            for number in range(len(script.steps)):
                run.step(number)
        seen = iter(run.expectable)
        steps = [{**step, "expect": next(seen)} if step["do"] == "context" else step for step in script.steps]
        path = CASES / f"{name}.json"
        known = json.loads(path.read_text())
        path.write_text(json.dumps({**known, "steps": steps}, indent=1, ensure_ascii=False) + "\n")
        print(f"{name}: {len(run.seen)} contexts")


if __name__ == "__main__":
    main()
