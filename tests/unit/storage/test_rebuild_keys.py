"""Which keys of rebuilds a lifecycle rule clears away, and that it is none that anything else needs."""

import pytest

from strandline.adapters.s3 import _tagging
from strandline.domain.contracts import SessionRef
from strandline.storage.layout import Rebuild, User
from strandline.storage.parsing import is_rebuilt

ANN = User("acme", "ann")
PLACE = Rebuild(ANN, "r1")
TALK = SessionRef(account_id="acme", user_id="ann", session_id="talk", incarnation="i")


@pytest.mark.parametrize("key", [PLACE.state, PLACE.memory("profile.md"), PLACE.base("a/b.md")])
def test_a_rebuild_goes_after_a_month(key: str) -> None:
    assert is_rebuilt(key)
    assert _tagging(key) == {"Tagging": "kept=month"}


@pytest.mark.parametrize(
    "key",
    [
        ANN.promoted,
        PLACE.candidates(TALK, 1),
        ANN.memory("rebuilds/r1/memories/x.md"),
        User("rebuilds", "rebuilds").memory("state.json/memories/x.md"),
        User("a", "rebuilds").memory("x/memories/x.md"),
        "v1/a/u/sessions/rebuilds/r1/state.json",
    ],
)
def test_nothing_else_does(key: str) -> None:
    assert not is_rebuilt(key)
    assert _tagging(key) == {}
