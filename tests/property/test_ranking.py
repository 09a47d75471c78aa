"""Laws of the search index: what is stored comes back, order of operations leaves no trace, scores are BM25."""

import math
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from strandline.domain.ranking import Conditions, Document, Index, analyze, search_all
from strandline.domain.ranking.analysis import terms_of
from strandline.domain.ranking.bm25 import EXTRA_WEIGHT, K1, B

# Fewer examples than the default: a content is large. No deadline: the first word of a run loads the stemmer.
LAWS = settings(max_examples=40, deadline=None)

WORDS = st.sampled_from(
    ["cat", "cats", "dog", "red", "self-care", "the", "who", "猫が好き", "東京", "🎉", "Café", "7", "don't"]
)
LINES = st.lists(WORDS, max_size=8).map(" ".join)
TEXTS = st.one_of(LINES, st.text(max_size=30))
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
)
GROUPS = st.sampled_from(["a", "b", "c/é", "d\n", ""])


@st.composite
def documents(draw: st.DrawFn, group: str) -> list[Document]:
    keys = draw(st.lists(st.text(min_size=1, max_size=3), unique=True, max_size=3))
    return [
        Document(
            key,
            group,
            draw(TEXTS),
            draw(st.dictionaries(st.sampled_from("pqr"), SCALARS)),
            draw(LINES),
            draw(LINES),
        )
        for key in keys
    ]


@st.composite
def contents(draw: st.DrawFn) -> dict[str, list[Document]]:
    return {group: draw(documents(group)) for group in draw(st.lists(GROUPS, unique=True))}


def stored(document: Document) -> Document:
    return Document(document.id, document.group, document.text, document.attributes)


@LAWS
@given(contents(), st.dictionaries(st.text(max_size=5), st.integers()))
def test_what_is_stored_comes_back(groups: dict[str, list[Document]], header: dict[str, int]) -> None:
    data = Index().replace_groups(groups).encode(header)
    index, found = Index.decode(data)
    assert found == header
    assert index.groups() == sorted(group for group, members in groups.items() if members)
    for group, members in groups.items():
        assert index.documents(group) == sorted(map(stored, members), key=lambda document: document.id)
    assert index.encode(header) == data


@LAWS
@given(st.data(), contents())
def test_order_of_operations_leaves_no_trace_in_the_bytes(
    data: st.DataObject, final: dict[str, list[Document]]
) -> None:
    index = Index().replace_groups(data.draw(contents()))
    for _ in range(data.draw(st.integers(0, 3))):
        group = data.draw(GROUPS)
        index = index.replace_group(group, data.draw(documents(group)))
        if data.draw(st.booleans()):
            index, _ = Index.decode(index.encode())
    for group in data.draw(st.permutations(sorted(set(index.groups()) | set(final)))):
        index = index.replace_group(group, data.draw(st.permutations(final.get(group, []))))
    assert index.encode() == Index().replace_groups(final).encode()


@LAWS
@given(contents(), LINES)
def test_scores_are_those_of_the_formula(groups: dict[str, list[Document]], query: str) -> None:
    found = {
        (hit.document.group, hit.document.id): hit.score
        for hit in Index().replace_groups(groups).search(query, limit=100, now=None)
    }
    expected = {key: score for key, score in textbook(groups, analyze(query)).items() if score > 0}
    assert found.keys() == expected.keys()
    assert all(math.isclose(found[key], expected[key], rel_tol=1e-9) for key in found)


def textbook(groups: dict[str, list[Document]], query: list[str]) -> dict[tuple[str, str], float]:
    """BM25 straight from the definition, document by document."""
    bags = {
        (document.group, document.id): bag(document) for members in groups.values() for document in members
    }
    mean = sum(length for _, length in bags.values()) / max(len(bags), 1) or 1.0
    scores = dict.fromkeys(bags, 0.0)
    for term in query:
        df = sum(counts[term] > 0 for counts, _ in bags.values())
        idf = math.log(1 + (len(bags) - df + 0.5) / (df + 0.5))
        for key, (counts, length) in bags.items():
            if counts[term]:
                scores[key] += (
                    idf * counts[term] * (K1 + 1) / (counts[term] + K1 * (1 - B + B * length / mean))
                )
    return scores


def bag(document: Document) -> tuple[Counter[str], float]:
    counts: Counter[str] = Counter()
    length = 0.0
    for text, weight in ((f"{document.title}\n{document.text}", 1.0), (document.extra, EXTRA_WEIGHT)):
        terms = terms_of(text)
        for term in terms.content + terms.fallback:
            counts[term] += weight  # type: ignore[assignment]
        length += weight * len(terms.content or terms.fallback)
    return counts, length


@LAWS
@given(contents(), LINES, st.integers(0, 5), st.sets(GROUPS), st.floats(0, 3))
def test_conditions_come_before_the_limit(
    groups: dict[str, list[Document]], query: str, limit: int, wanted: set[str], threshold: float
) -> None:
    index = Index().replace_groups(groups)
    everything = index.search(query, limit=1_000, now=None)
    hits = index.search(
        query,
        limit=limit,
        accept=lambda document: document.group in wanted,
        now=None,
        score_threshold=threshold,
    )
    kept = [hit for hit in everything if hit.document.group in wanted and hit.score >= threshold]
    assert hits == kept[:limit]


@LAWS
@given(contents(), LINES)
def test_hits_are_ordered_positive_and_explained(groups: dict[str, list[Document]], query: str) -> None:
    hits = Index().replace_groups(groups).search(query, limit=1_000, now=None)
    assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.document.id, hit.document.group))
    for hit in hits:
        assert hit.score > 0
        assert math.isclose(hit.score, sum(hit.explain.values()))


@LAWS
@given(st.data(), contents(), LINES)
def test_a_divided_index_gives_the_hits_of_the_whole(
    data: st.DataObject, groups: dict[str, list[Document]], query: str
) -> None:
    parts = [Index() for _ in range(3)]
    for group, members in groups.items():
        at = data.draw(st.integers(0, 2))
        parts[at] = parts[at].replace_group(group, members)
    whole = Index().replace_groups(groups).search(query, limit=7, now=None)
    assert search_all(parts, query, Conditions(limit=7)) == whole


@LAWS
@given(contents())
def test_every_document_is_found_by_its_own_text(groups: dict[str, list[Document]]) -> None:
    index = Index().replace_groups(groups)
    for members in groups.values():
        for document in members:
            hits = index.search(document.text, limit=1_000, now=None)
            assert stored(document) in [hit.document for hit in hits] or not analyze(document.text)


@LAWS
@given(st.text())
def test_any_text_is_analysed_into_clean_terms(text: str) -> None:
    for term in analyze(text):
        assert 0 < len(term) <= 64
        assert not any(char.isspace() for char in term)


@LAWS
@given(st.text(alphabet=st.characters(codec="ascii")))
def test_case_does_not_matter(text: str) -> None:
    assert analyze(text.upper()) == analyze(text.lower()) == analyze(text)
