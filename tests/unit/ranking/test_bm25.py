"""Scores worked out by hand.

Three documents of 2, 4 and 3 words, so N = 3 and the mean length is 3:

    d1  red apple            d2  red red pear tree            d3  green plum seed

idf(red)  = ln(1 + (3 - 2 + 0.5) / (2 + 0.5)) = ln 1.6     = 0.470004   (in d1 and d2)
idf(plum) = ln(1 + (3 - 1 + 0.5) / (1 + 0.5)) = ln 2.66667 = 0.980829   (in d3)

k1 (1 - b + b length / mean):  d1  1.2 (0.25 + 0.75 x 2/3) = 0.9
                               d2  1.2 (0.25 + 0.75 x 4/3) = 1.5
                               d3  1.2 (0.25 + 0.75)       = 1.2

red  in d1, once:   0.470004 x 1 x 2.2 / (1 + 0.9) = 0.544215
red  in d2, twice:  0.470004 x 2 x 2.2 / (2 + 1.5) = 0.590862
plum in d3, once:   0.980829 x 1 x 2.2 / (1 + 1.2) = 0.980829
"""

import pytest

from strandline.domain.ranking import Document, Index
from strandline.domain.ranking.bm25 import Statistics, pack_counts, term_scores

FRUIT = Index().replace_group(
    "fruit",
    [
        Document("d1", "fruit", "red apple"),
        Document("d2", "fruit", "red red pear tree"),
        Document("d3", "fruit", "green plum seed"),
    ],
)


def scores(index: Index, query: str) -> dict[str, float]:
    return {hit.document.id: hit.score for hit in index.search(query, now=None)}


def test_one_term() -> None:
    assert scores(FRUIT, "red") == pytest.approx({"d2": 0.590862, "d1": 0.544215}, abs=1e-6)


def test_two_terms_best_first() -> None:
    found = scores(FRUIT, "red plum")
    assert found == pytest.approx({"d3": 0.980829, "d2": 0.590862, "d1": 0.544215}, abs=1e-6)
    assert list(found) == ["d3", "d2", "d1"]


def test_explain_gives_each_terms_part_and_they_add_up() -> None:
    [first, *_] = FRUIT.search("red pear", now=None)
    assert first.document.id == "d2"
    # idf(pear) = idf(plum); once in d2: 0.980829 x 2.2 / (1 + 1.5) = 0.863130
    assert first.explain == pytest.approx({"red": 0.590862, "pear": 0.863130}, abs=1e-6)
    assert first.score == sum(first.explain.values())


def test_a_repeated_query_term_counts_twice() -> None:
    assert scores(FRUIT, "red red") == pytest.approx({"d2": 2 * 0.590862, "d1": 2 * 0.544215}, abs=1e-6)


def test_extra_counts_less_and_the_title_like_the_text() -> None:
    """d1 is 2 words and 5 extra ones, 2 + 0.4 x 5 = 4 long; d2 is 2 long; the mean is 3 and idf = ln(1 + 1.5/1.5).

    plum in d1: count 0.4 x 2 = 0.8, 0.693147 x 0.8 x 2.2 / (0.8 + 1.5) = 0.530408
    pear in d2: count 1,             0.693147 x 1.0 x 2.2 / (1.0 + 0.9) = 0.802591
    """
    first = Document("d1", "g", "red apple", extra="plum plum seed stone kernel")
    index = Index().replace_group("g", [first, Document("d2", "g", "green", title="pear")])
    assert scores(index, "plum") == pytest.approx({"d1": 0.530408}, abs=1e-6)
    assert scores(index, "pear") == pytest.approx({"d2": 0.802591}, abs=1e-6)


def test_a_term_of_every_document_still_scores_above_zero() -> None:
    index = Index().replace_group("g", [Document(str(n), "g", "same words") for n in range(3)])
    assert all(score > 0 for score in scores(index, "same").values())


def test_stop_words_do_not_make_a_document_longer() -> None:
    long = Index().replace_group(
        "g", [Document("1", "g", "it is the red of that"), Document("2", "g", "plum")]
    )
    short = Index().replace_group("g", [Document("1", "g", "red"), Document("2", "g", "plum")])
    assert scores(long, "red") == scores(short, "red")


def test_a_document_of_stop_words_only_is_as_long_as_they_are() -> None:
    """Lengths 2 and 4, mean 3, df 1 of 2: idf ln 2, norm 0.9; 0.693147 x 2.2 / 1.9 = 0.802591."""
    index = Index().replace_group(
        "g", [Document("1", "g", "the who"), Document("2", "g", "red red pear tree")]
    )
    assert scores(index, "who") == pytest.approx({"1": 0.802591}, abs=1e-6)


def test_statistics_of_parts_add_up_to_those_of_the_whole() -> None:
    left = Statistics(2, 6, 0, {"red": 2})
    right = Statistics(1, 3, 5, {"plum": 1})
    assert left + right == Statistics(3, 9, 5, {"red": 2, "plum": 1})
    assert (left + right).mean_length == pytest.approx((9 + 0.4 * 5) / 3)


def test_mean_length_of_nothing_can_be_divided_by() -> None:
    assert Statistics(0, 0, 0, {}).mean_length > 0


def test_counts_end_at_255_of_either_field() -> None:
    # norm 1.2 as for a document of mean length: 255 x 2.2 / 256.2 = 2.189696; in extra the count is 0.4 x 255 = 102
    assert term_scores(1.0, [(0, pack_counts(10**6, 0))], [1.2])[0] == pytest.approx(2.189696, abs=1e-6)
    assert term_scores(1.0, [(0, pack_counts(0, 10**6))], [1.2])[0] == pytest.approx(2.2 * 102 / 103.2)
