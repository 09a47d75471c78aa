"""Counting uses: once a turn, once a key, and the totals whatever was in between."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from strandline.domain import usage
from strandline.domain.usage import KEPT_USES, Reported, SessionUsage, Tally, Totals

AT = "2026-05-08T07:00:00.000Z"
TEA, SPORT = "preferences/tea.md", "preferences/sport.md"


def said(seq: int, *memories: str, key: str = "", at: str = AT) -> Reported:
    return Reported(at, seq, memories, key)


def counts(tallies: object) -> dict[str, int]:
    assert isinstance(tallies, dict)
    return {path: tally.count for path, tally in tallies.items()}


def test_a_memory_counts_once_a_turn() -> None:
    one = usage.report(SessionUsage(), said(3, TEA, TEA), taken=0)
    assert counts(one.tallies) == {TEA: 1}
    assert usage.report(one, said(3, TEA), taken=0) is one
    more = usage.report(one, said(3, TEA, SPORT), taken=0)
    assert counts(more.tallies) == {TEA: 1, SPORT: 1}
    later = usage.report(more, said(4, TEA), taken=0)
    assert counts(later.tallies) == {TEA: 2, SPORT: 1}
    assert [use.number for use in later.uses] == [1, 2, 3]


def test_a_key_counts_once_whenever_it_comes() -> None:
    one = usage.report(SessionUsage(), said(3, TEA, key="k"), taken=0)
    assert usage.report(one, said(9, TEA, key="k"), taken=0) is one
    # also one that had nothing to count is known again
    two = usage.report(one, said(3, TEA, key="other"), taken=0)
    assert counts(two.tallies) == {TEA: 1}
    assert usage.report(two, said(9, TEA, key="other"), taken=0) is two


def test_the_last_use_is_the_latest() -> None:
    early, late = "2026-01-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z"
    found = usage.report(SessionUsage(), said(1, TEA, at=late), taken=0)
    found = usage.report(found, said(2, TEA, at=early), taken=0)
    assert found.tallies[TEA] == Tally(2, late)


def test_totals_take_each_use_in_once() -> None:
    one = usage.report(SessionUsage(), said(1, TEA), taken=0)
    totals = usage.take(Totals(), "life", one)
    assert usage.take(totals, "life", one) is totals
    two = usage.report(usage.report(one, said(2, TEA), taken=1), said(3, SPORT), taken=1)
    totals = usage.take(totals, "life", two)
    assert counts(totals.tallies) == {TEA: 2, SPORT: 1}
    assert usage.take(totals, "life", one) is totals  # an older state comes late
    other = usage.take(totals, "other life", one)
    assert counts(other.tallies) == {TEA: 3, SPORT: 1}


def test_the_totals_do_not_tell_of_which_session_they_know() -> None:
    life = usage.life_of("0123456789abcdef0123456789abcdef")
    assert len(life) == 16 and life not in "0123456789abcdef0123456789abcdef"
    assert life != usage.life_of("0123456789abcdef0123456789abcdee")


def test_a_session_keeps_its_newest_uses_and_those_that_are_not_in_the_totals() -> None:
    found = SessionUsage()
    for seq in range(1, 2 * KEPT_USES + 1):
        found = usage.report(found, said(seq, TEA), taken=0)
    assert len(found.uses) == 2 * KEPT_USES
    assert len(usage.report(found, said(10_000, TEA), taken=10).uses) == 2 * KEPT_USES + 1 - 10
    settled = usage.report(found, said(10_000, TEA), taken=found.last)
    assert len(settled.uses) == KEPT_USES
    assert counts(settled.tallies) == {TEA: 2 * KEPT_USES + 1}


def test_the_uses_of_one_turn_stay_together() -> None:
    found = SessionUsage()
    for n in range(2 * KEPT_USES):
        found = usage.report(found, said(1, f"topics/{n}.md"), taken=found.last)
    assert usage.report(found, said(1, "topics/0.md"), taken=found.last) is found


REPORTS = st.lists(
    st.tuples(
        st.integers(0, 3), st.sets(st.sampled_from([TEA, SPORT]), min_size=1), st.sampled_from(["", "a", "b"])
    )
)


@given(REPORTS, st.lists(st.booleans()))
def test_totals_are_what_the_session_counted_however_often_they_were_brought_in_step(
    reports: list[tuple[int, set[str], str]], steps: list[bool]
) -> None:
    found, totals, seq = SessionUsage(), Totals(), 0
    for n, (further, memories, key) in enumerate(reports):
        seq += further
        report = said(seq, *sorted(memories), key=key)
        found = usage.report(found, report, taken=totals.taken.get("life", 0))
        assert usage.report(found, report, taken=totals.taken.get("life", 0)) is found
        if n < len(steps) and steps[n]:
            totals = usage.take(totals, "life", found)
    totals = usage.take(totals, "life", found)
    assert counts(totals.tallies) == counts(found.tallies)
    assert replace(totals, tallies={}) == Totals({}, {"life": found.last} if found.last else {})
