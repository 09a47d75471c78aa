"""Vectors in bytes, and how alike they are."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strandline.domain.ranking.likeness import hash_text, likeness, pack

KEY = b"12345678"


@pytest.mark.parametrize(
    ("vector", "query", "cosine"),
    [
        ([1.0, 0.0], [1.0, 0.0], 1.0),
        ([1.0, 0.0], [0.0, 1.0], 0.0),
        ([1.0, 0.0], [-2.0, 0.0], -1.0),
        ([3.0, 4.0], [4.0, 3.0], 0.96),
        ([1e-9, 0.0], [5.0, 0.0], 1.0),
        ([1.0, 0.0], [0.0, 0.0], 0.0),
    ],
)
def test_the_cosine(vector: list[float], query: list[float], cosine: float) -> None:
    assert likeness({KEY: pack(vector)}, query)[KEY] == pytest.approx(cosine, abs=0.005)


def test_a_vector_takes_a_byte_a_dimension_and_four() -> None:
    assert len(pack([0.5] * 384)) == 388


@pytest.mark.parametrize("vector", [[], [0.0, 0.0], [math.inf, 1.0], [math.nan]])
def test_what_has_no_direction(vector: list[float]) -> None:
    with pytest.raises(ValueError, match="vector needs"):
        pack(vector)


def test_rows_of_other_dimensions_are_left_out() -> None:
    rows = {KEY: pack([1.0, 2.0]), b"87654321": pack([1.0, 2.0, 3.0])}
    assert list(likeness(rows, [1.0, 2.0])) == [KEY]


components = st.floats(-1, 1, allow_nan=False, width=32)
vectors = st.lists(components, min_size=64, max_size=64).filter(lambda v: sum(x * x for x in v) > 1)


@given(vectors, vectors)
def test_bytes_move_a_cosine_by_little(one: list[float], other: list[float]) -> None:
    def cosine(a: list[float], b: list[float]) -> float:
        return sum(x * y for x, y in zip(a, b, strict=True)) / (math.hypot(*a) * math.hypot(*b))

    assert likeness({KEY: pack(one)}, other)[KEY] == pytest.approx(cosine(one, other), abs=0.04)


def test_texts_are_told_apart_by_eight_bytes() -> None:
    assert len(hash_text("a")) == 8
    assert len({hash_text(text) for text in ("", "a", "b", "a ", "\ud800")}) == 5
