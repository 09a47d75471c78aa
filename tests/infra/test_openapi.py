"""The description of the API is complete."""

from strandline.entry.answers import declared
from strandline.entry.api import app
from strandline.entry.openapi import routes_of


def test_every_route_declares_its_answers() -> None:
    """`@answers(...)` below its `@router` line: see strandline/entry/answers.py."""
    missing = [f"{r.method} {r.path}" for r in routes_of(app) if r.function not in declared]
    assert missing == []
