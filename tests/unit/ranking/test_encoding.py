import json
import sys
import zlib

import pytest

from strandline.domain.ranking import SCHEMA, Document, Index, UnreadableIndex
from strandline.domain.ranking import encoding as encoding_module

HEADER = {"revision": 7, "writes": [["w1", 6], ["w2", 7]], "note": "é\ud800"}


def sample() -> Index:
    documents = [
        Document(f"{n:03d}", "group/é", f"line {n} 猫", {"n": n, "b": n % 2 == 0, "x": None})
        for n in range(300)
    ]
    return Index().replace_groups(
        {"group/é": documents, "odd\n\ud800": [Document("o", "odd\n\ud800", "a\nb\ud800 cat")]}
    )


def test_the_header_and_every_document_come_back() -> None:
    index, header = Index.decode(sample().encode(HEADER))
    assert header == HEADER
    assert index.groups() == sample().groups()
    assert all(index.documents(group) == sample().documents(group) for group in index.groups())


def test_search_answers_the_same_after_decoding() -> None:
    decoded, _ = Index.decode(sample().encode())
    assert decoded.search("line 猫 7", now=None) == sample().search("line 猫 7", now=None)


def test_an_empty_index_without_header() -> None:
    index, header = Index.decode(Index().encode())
    assert (index.groups(), header) == ([], {})


def test_the_bytes_begin_with_a_readable_line() -> None:
    first = json.loads(sample().encode(HEADER).split(b"\n")[0])
    assert first["schema"] == SCHEMA


def test_bytes_do_not_depend_on_the_order_of_attributes_or_header() -> None:
    one = Index().replace_group("g", [Document("1", "g", "x", {"a": 1, "b": 2})])
    other = Index().replace_group("g", [Document("1", "g", "x", {"b": 2, "a": 1})])
    assert one.encode({"x": 1, "y": 2}) == other.encode({"y": 2, "x": 1})


def test_replacing_in_a_decoded_index_gives_the_bytes_of_building_it_so() -> None:
    decoded, _ = Index.decode(sample().encode())
    new = [Document("000", "group/é", "another line")]
    assert decoded.replace_group("group/é", new).encode() == sample().replace_group("group/é", new).encode()


def test_untouched_documents_are_not_analysed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from strandline.domain.ranking import changes

    analysed: list[str] = []
    terms_of = changes.terms_of
    monkeypatch.setattr(changes, "terms_of", lambda text: analysed.append(text) or terms_of(text))
    data = sample().encode()
    analysed.clear()
    Index.decode(data)[0].replace_group("new", [Document("1", "new", "fresh")]).encode()
    assert analysed == ["\nfresh", ""]


def test_arrays_are_stored_little_endian_on_any_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    data = sample().encode()
    native, _ = Index.decode(data)
    monkeypatch.setattr(encoding_module.sys, "byteorder", "big" if sys.byteorder == "little" else "little")
    foreign, _ = Index.decode(data)
    assert foreign.encode() == data
    foreign.segment.gaps.byteswap()  # what the other machine sees in the same memory
    assert foreign.segment.gaps == native.segment.gaps


def _with_schema(schema: str) -> bytes:
    return sample().encode().replace(SCHEMA.encode(), schema.encode(), 1)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[]\n",
        b"not json\n",
        b"\xff\xfe\n",
        b'{"schema": "strandline.index/1", "sections": []}\n',
        b'{"schema": "strandline.index/1", "sections": [["terms"]]}\n',
        b'{"schema": "strandline.index/1", "sections": [["gaps", 11]]}\n' + zlib.compress(b"123"),
        _with_schema("strandline.index/3"),
        sample().encode()[:-1],
        sample().encode()[:-200],
        sample().encode()[:-3] + b"abc",
    ],
)
def test_damaged_or_unknown_bytes_are_told_apart_from_an_index(data: bytes) -> None:
    with pytest.raises(UnreadableIndex):
        Index.decode(data)


def test_the_encoding_stays_compact() -> None:
    """A line of chat costs about a hundred bytes, its postings less than its text."""
    words = [f"word{n}" for n in range(2_000)]
    lines = [" ".join(words[(7 * n + k * k) % 2_000] for k in range(20)) for n in range(2_000)]
    index = Index().replace_group("g", [Document(f"{n:06d}", "g", line) for n, line in enumerate(lines)])
    data = index.encode()
    sizes = dict(json.loads(data.split(b"\n")[0])["sections"])
    assert sizes["gaps"] + sizes["counts"] < 2 * sizes["records"]
    assert len(data) < sum(map(len, lines))
