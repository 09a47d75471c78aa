"""Laws of an index in layers: whatever lies where, it is the index that it would be in one piece."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strandline.domain import layers
from strandline.domain.ranking import Conditions, Document, Index, search_all, search_blended
from strandline.domain.ranking.likeness import hash_text

LAWS = settings(max_examples=60, deadline=None)
WORDS = st.sampled_from(["cat", "dog", "red", "tea", "猫", "the"])
LINES = st.lists(WORDS, max_size=6).map(" ".join)
GROUPS = st.sampled_from(["a/1", "a/2", "b/1", "b/2", "c"])
EVERYTHING = Conditions(limit=1_000)

Groups = dict[str, list[Document]]
Step = tuple[Groups, dict[str, dict[str, Any]]]


@pytest.fixture(autouse=True, scope="module")
def _small() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layers, "HEAD_WEIGHT", 60)  # a line or two
        yield


@st.composite
def steps(draw: st.DrawFn) -> list[Step]:
    """Changes one after the other: groups that come, change and go, some of them with a row and without a line."""
    made: list[Step] = []
    for _ in range(draw(st.integers(1, 12))):
        names = draw(st.lists(GROUPS, unique=True, min_size=1, max_size=2))
        groups = {
            name: [Document(f"{name}#{n}", name, draw(LINES)) for n in range(draw(st.integers(0, 2)))]
            for name in names
        }
        rows = {name: {"n": draw(st.integers(0, 9))} for name in names if draw(st.booleans())}
        made.append((groups, rows))
    return made


def layered(made: list[Step]) -> Index:
    index = Index()
    for groups, rows in made:
        index = index.replace_groups(groups, rows).settled()
    return index


def whole(made: list[Step]) -> Index:
    index = Index()
    for groups, rows in made:
        index = index.replace_groups(groups, rows)
    return index


def expect_the_same(one: Index, other: Index, query: str) -> None:
    assert search_all([one], query, EVERYTHING) == search_all([other], query, EVERYTHING)
    assert one.groups() == other.groups()
    assert one.rows() == other.rows()
    assert one.keys() == other.keys()
    for group in ("a/1", "a/2", "b/1", "b/2", "c"):
        assert one.documents(group) == other.documents(group)


@LAWS
@given(steps(), LINES)
def test_layers_change_nothing_not_even_a_score(made: list[Step], query: str) -> None:
    expect_the_same(layered(made), whole(made), query)


@LAWS
@given(steps(), LINES)
def test_likeness_is_added_to_the_same_scores(made: list[Step], query: str) -> None:
    index = whole(made)
    alike = {hash_text(text): 0.1 * n for n, text in enumerate(sorted(index.texts(index.keys()).values()))}
    found = search_blended([layered(made)], query, alike, EVERYTHING)
    assert found == search_blended([index], query, alike, EVERYTHING)


@LAWS
@given(steps(), LINES)
def test_of_what_is_taken_out_by_its_prefix_no_layer_knows(made: list[Step], query: str) -> None:
    left = layered(made).without("a/")
    gone = whole(made).replace_groups({"a/1": [], "a/2": []})
    expect_the_same(left, gone, query)
    assert not [g for part in parts(left) for g in part.groups if g.startswith("a/")]


def parts(index: Index) -> list[Any]:
    return [*(layer.part for layer in index.layers), index.segment]


@LAWS
@given(steps())
def test_without_what_is_not_there_is_itself(made: list[Step]) -> None:
    index = layered(made)
    assert index.without("x/") is index


@LAWS
@given(steps())
def test_layers_are_neither_too_heavy_nor_without_use(made: list[Step]) -> None:
    index = layered(made)
    for layer in index.layers:
        assert layer.part.groups
        assert layer.part.weight <= layers.heaviest() or len(layer.part.groups) == 1
    assert index.segment.weight <= layers.HEAD_WEIGHT
    assert index.settled() is index


@LAWS
@given(steps())
def test_texts_are_found_by_their_hashes(made: list[Step]) -> None:
    index = layered(made)
    texts = index.texts(index.keys())
    assert texts.keys() == index.keys()
    assert [hash_text(text) for text in texts.values()] == list(texts)
