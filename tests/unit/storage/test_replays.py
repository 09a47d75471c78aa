"""Where an answer that is too large for the table lies, and that nothing else is cleared away with it."""

import pytest

from strandline.storage.layout import User
from strandline.storage.parsing import is_passing, is_superseded


def test_a_replay_is_passing_and_stays_in_its_owners_prefix() -> None:
    key = User("acme", "ann/../bob").replay("name-token")
    assert key == "v1/acme/ann%2F..%2Fbob/replays/name-token.json"
    assert is_passing(key)
    assert not is_superseded(key)


@pytest.mark.parametrize(
    "key",
    [
        User("a", "u").head("replays"),
        User("a", "u").memory("replays/x.json.md"),
        User("replays", "replays").journal_run("x", 1),
        "v1/a/u/sessions/replays/i/segments/1-2.jsonl",
        "v1/a/u/replays/deeper/x.json",
        "v1/a/replays/x.json",
    ],
)
def test_nothing_else_is_passing(key: str) -> None:
    assert not is_passing(key)
