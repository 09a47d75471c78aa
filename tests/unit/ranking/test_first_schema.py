"""An index as the first version wrote it is read, and written anew with the next change."""

import base64

from strandline.domain.ranking import Document
from strandline.domain.ranking.likeness import hash_text
from strandline.storage.document import Stamp
from strandline.storage.index import Catalogue, IndexCodec

STORED = base64.b64decode(
    "eyJzY2hlbWEiOiJzdHJhbmRsaW5lLmluZGV4LzEiLCJzZWN0aW9ucyI6W1siaGVhZGVyIiwxMzJdLFsiZ3JvdXBzIiw0Ml0sWyJncm91cF9zaXplcyIs"
    "MTRdLFsicmVjb3JkcyIsMTM0XSxbInRleHRfbGVuZ3RocyIsMTRdLFsiZXh0cmFfbGVuZ3RocyIsMTRdLFsidGVybXMiLDc4XSxbImZyZXF1ZW5jaWVz"
    "IiwxOV0sWyJnYXBzIiwyMl0sWyJjb3VudHMiLDIzXV19CnhedcwxC8IwEAXg//LmoHYqZO/o5lY6FL3CQZKG5LCUkv9uToRW0PG9d99tmNhRht0QZqF8"
    "Jh9lPfmHNo6DThcDYXEEi05X1LxGjW+CYj7W1/u/9FqbHzImmihRuFcvNH7zZuc3Gnd9QCj1SaInZ54DbGuwJNbftu+xNDDtMJQXqPZMRXhei1bKyy9J"
    "LdbPzcxL1ctNUdJRKihKTUstSs1LBoqWpCaCBGMBBs8NZ3heY2RgYGAEYgAAFAADeF51zbEOwjAMBNCdr4jMWkrowNA/YGdqhVApB1Q0dhQsQYT4d9xO"
    "LFi3ne65JRbFYx0GRhnOS3myn48K2rk4dtnpDU5OAire1AsrXnrUHEE1BQRJmT6HRUsx4YIE7k1TdBP2I43DHe6aAHZWTlSnBlS+2q78xrL3vp5T2qSx"
    "zb9XX+M9N4h4XmNiYGBgA2IAADAACXheY2BgYGACYgAAEAADeF6LVjJU0lEyMjAyA1IpRZl52UA6vSg1NQ9IZwJxVmJeaWIRiJWTmZ0KpPKT8kFkGpAo"
    "yEmsBFLFBflgmZLURBCZAWKXpyrFAgCUqRoNeF5jZGBgYETCTGh8XBgAAgQAEHheY2RgYGBEwiCAjY8sDmMDAAG4AAx4XmNgZGBkZGBgREAQDyLCyAAA"
    "AQMAEA=="
)
TEA = "I like green tea"
FILES = {
    "notes/empty.md": {"type": "notes", "title": "Empty", "lines": 0},
    "notes/mine.md": {"type": "notes", "title": "Mine", "lines": 0},
    "preferences/tea.md": {"type": "preferences", "title": "Tea", "lines": 1},
}


def test_everything_in_it_is_there() -> None:
    catalogue, stamp = IndexCodec().decode(STORED)
    assert stamp == Stamp(7, (("w1", 7),))
    assert catalogue.files == FILES
    assert [hit.document.text for hit in catalogue.index.search("drinks", now=None)] == [TEA]
    assert catalogue.index.keys() == {hash_text(TEA), hash_text("I play the oboe")}


def test_a_change_keeps_the_rest() -> None:
    catalogue, stamp = IndexCodec().decode(STORED)
    path = "notes/mine.md"
    index = catalogue.index.replace_groups(
        {path: [Document("1", path, "I play the cello")]}, {path: {"n": 2}}
    )
    again, _ = IndexCodec().decode(IndexCodec().encode(Catalogue(index), stamp.next("w2")))
    assert again.files == {**FILES, path: {"n": 2}}
    assert [hit.document.text for hit in again.index.search("oboe cello tea", now=None)] == [
        "I play the cello",
        TEA,
    ]
