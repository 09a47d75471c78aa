"""Usage documents come back as they were written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strandline.domain.usage import SessionUsage, Tally, Totals, Use
from strandline.storage.document import Stamp
from strandline.storage.usage import SessionUsageCodec, TotalsCodec

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
TALLIES = st.dictionaries(TEXT, st.builds(Tally, st.integers(0), TEXT | st.none()))
USES = st.builds(
    Use,
    st.integers(1),
    TEXT,
    st.integers(0),
    TEXT,
    st.lists(TEXT).map(tuple),
    TEXT | st.none(),
    st.none() | st.booleans(),
)
STAMPS = st.builds(Stamp, st.integers(0), st.lists(st.tuples(TEXT, st.integers(0))).map(tuple))


@given(st.builds(SessionUsage, st.integers(0), TALLIES, st.lists(USES).map(tuple)), STAMPS)
def test_the_usage_of_a_session(usage: SessionUsage, stamp: Stamp) -> None:
    codec = SessionUsageCodec()
    assert codec.decode(codec.encode(usage, stamp)) == (usage, stamp)


@given(st.builds(Totals, TALLIES, st.dictionaries(TEXT, st.integers(0))), STAMPS)
def test_totals(totals: Totals, stamp: Stamp) -> None:
    codec = TotalsCodec()
    assert codec.decode(codec.encode(totals, stamp)) == (totals, stamp)


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"schema":2}', b'{"schema":1}'])
def test_what_is_no_usage(body: bytes) -> None:
    for codec in (SessionUsageCodec(), TotalsCodec()):
        with pytest.raises((ValueError, KeyError, TypeError)):
            codec.decode(body)
