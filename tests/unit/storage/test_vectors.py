"""Vectors as a stored object."""

import json

import pytest

from strandline.storage.document import Stamp
from strandline.storage.vectors import Vectors, VectorsCodec

CODEC = VectorsCodec()
STAMP = Stamp(3, (("w1", 2), ("w2", 3)))
ROWS = {b"bbbbbbbb": b"\x01\x02\x03\x04\x05", b"aaaaaaaa": b"\x0a\x0a\x0a\x0a\x0a"}


@pytest.mark.parametrize("rows", [{}, ROWS], ids=["empty", "two"])
def test_what_is_stored_comes_back(rows: dict[bytes, bytes]) -> None:
    assert CODEC.decode(CODEC.encode(Vectors("m", rows), STAMP)) == (Vectors("m", rows), STAMP)


def test_the_same_vectors_are_the_same_bytes() -> None:
    other_way_round = dict(reversed(ROWS.items()))
    assert CODEC.encode(Vectors("m", ROWS), STAMP) == CODEC.encode(Vectors("m", other_way_round), STAMP)


def test_the_first_line_says_what_it_is() -> None:
    top = json.loads(CODEC.encode(Vectors("m", ROWS), STAMP).split(b"\n")[0])
    assert (top["schema"], top["model"], top["count"], top["size"]) == ("strandline.vectors/1", "m", 2, 5)


def test_newlines_among_the_bytes_do_no_harm() -> None:
    rows = {b"\n" * 8: b"\n\n\n\n\n"}
    assert CODEC.decode(CODEC.encode(Vectors("m", rows), STAMP))[0].rows == rows


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_what_is_cut_is_refused(cut: int) -> None:
    body = CODEC.encode(Vectors("m", ROWS), STAMP)
    with pytest.raises(ValueError, match="damaged"):
        CODEC.decode(body[:-cut])


def test_vectors_of_two_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="unpack"):
        CODEC.encode(Vectors("m", {**ROWS, b"cccccccc": b"\x01"}), STAMP)
