"""Which layers are put together, with heads of 100."""

import random

import pytest

from strandline.domain import layers
from strandline.domain.layers import heaviest, merged_from, too_heavy


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layers, "HEAD_WEIGHT", 100)


def test_a_head_may_be_as_heavy_as_the_limit() -> None:
    assert (too_heavy(100), too_heavy(101)) == (False, True)


@pytest.mark.parametrize(
    ("weights", "new", "first"),
    [
        ([], 101, 0),  # the first layer: nothing to merge
        ([101], 101, 1),
        ([101, 101], 101, 2),
        ([101, 101, 101], 101, 0),  # the fourth of its step
        ([404, 101, 101, 101], 101, 1),
        ([404, 404, 404, 101, 101, 101], 101, 0),  # four of the step above at once
        ([1616, 101, 101, 101], 101, 1),
        ([1616, 404, 404, 404, 101, 101, 101], 101, 1),
        ([1616, 1616, 1616, 404, 404, 404, 101, 101, 101], 101, 3),  # 6,464 would be too heavy
        ([50, 101, 101, 101], 101, 0),  # what has become light goes along
        ([101, 101, 101], 2000, 0),  # a heavy one takes the light ones in
        ([101, 101, 101], 2398, 3),  # unless it becomes too heavy
        ([101, 404, 101, 101], 101, 4),  # only the last ones in a row
    ],
)
def test_where_merging_begins(weights: list[int], new: int, first: int) -> None:
    assert merged_from(weights, new) == first


def test_what_is_written_over_all_is_a_small_multiple_of_what_changed() -> None:
    rng = random.Random(7)
    weights: list[int] = []
    changed = written = most = 0
    for _ in range(2_000):
        new = 101 + rng.randrange(20)
        changed += new
        start = merged_from(weights, new)
        weights[start:] = [sum(weights[start:]) + new]
        written += weights[-1]
        most = max(most, weights[-1])
    assert written <= 3 * changed
    assert most <= heaviest() == 2_400
    assert len(weights) <= changed / 1_600 + 7
