"""What has been decided of a context comes back as it was."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strandline.domain.compaction.state import Baseline, Compaction, ContextState, Decision, Pin, handed_out
from strandline.storage.context import ContextCodec
from strandline.storage.document import Stamp

SEQ = st.integers(1, 10**6)
TEXT = st.text(max_size=20).filter(lambda text: text.isprintable())
DECISION = st.builds(Decision, by=st.sampled_from(["budget", "snip", "micro"]), chars=st.integers(0, 2_000))
STATE = st.builds(
    ContextState,
    incarnation=TEXT,
    generation=SEQ,
    covered_through=SEQ,
    decisions=st.dictionaries(st.tuples(SEQ, st.none() | st.integers(0, 99)), DECISION),
    sent_through=SEQ,
    looked_through=SEQ,
    baseline=st.none() | st.builds(Baseline, SEQ, TEXT, SEQ, SEQ),
    compaction=st.none() | st.builds(Compaction, TEXT, SEQ, TEXT, SEQ, SEQ),
    failures=SEQ,
    last_error=st.none() | TEXT,
    retry_at=st.none() | TEXT,
    pin=st.none() | st.builds(Pin, SEQ, SEQ, SEQ, SEQ, SEQ),
    handed_out=st.dictionaries(TEXT, st.lists(SEQ).map(tuple)),
)


@given(STATE, SEQ)
def test_it_comes_back(state: ContextState, revision: int) -> None:
    stamp = Stamp(revision, (("w", revision),))
    assert ContextCodec().decode(ContextCodec().encode(state, stamp)) == (state, stamp)


def test_the_same_decisions_are_the_same_bytes_whatever_their_order() -> None:
    first, second = ((2, None), Decision("snip")), ((2, 0), Decision("budget", 7))
    one = ContextState("i", decisions=dict([first, second]))
    other = ContextState("i", decisions=dict([second, first]))
    assert ContextCodec().encode(one, Stamp()) == ContextCodec().encode(other, Stamp())


def test_the_newest_times_at_which_experiences_were_handed_out_are_kept() -> None:
    state = ContextState("i")
    for seq in range(1, 201):
        state = handed_out(state, ["experiences/a.md", "experiences/b.md"], seq)
    newest = tuple(range(73, 201))  # 128 of each
    assert state.handed_out == {"experiences/a.md": newest, "experiences/b.md": newest}
    assert handed_out(state, ["experiences/a.md"], 200) is state
    assert handed_out(state, [], 201) is state


@pytest.mark.parametrize("spoil", [{"schema": 2}, {"decisions": [[1]]}, {"baseline": [1]}])
def test_what_cannot_be_read_is_said_to_be_so(spoil: dict[str, Any]) -> None:
    row = json.loads(ContextCodec().encode(ContextState("i"), Stamp()))
    with pytest.raises((ValueError, TypeError, KeyError)):
        ContextCodec().decode(json.dumps({**row, **spoil}).encode())
