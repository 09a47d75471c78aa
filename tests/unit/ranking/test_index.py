import pytest

from strandline.domain.ranking import Conditions, Document, Index, search_all

NOW = "2026-05-01T12:00:00Z"


def index_of(*texts: str) -> Index:
    return Index().replace_group("g", [Document(f"{n}", "g", text) for n, text in enumerate(texts)])


def ids(index: Index, query: str, **conditions: object) -> list[str]:
    arguments = {"now": NOW, **conditions}
    return [hit.document.id for hit in index.search(query, **arguments)]  # type: ignore[arg-type]


@pytest.mark.parametrize(  # B-C15
    ("stored", "query"),
    [
        ("我喜欢猫和狗", "猫"),
        ("我今年读了20本书", "读书"),
        ("私は年間20冊の本を読みました。", "本を読む"),
        ("コーヒーが好きです", "ｺｰﾋｰ"),
        ("저는 서울에 살아요", "서울"),
        ("ผมชอบแมว", "แมว"),
        ("I use Python在工作中", "python"),
        ("I use Python在工作中", "工作"),
        ("great🎉party", "party"),
        ("👍🏽great", "great"),
        ("we partied 🎉", "🎉"),
        ("practising self-care", "self care"),
        ("practising self-care", "selfcare"),
        ("practising selfcare", "self-care"),
        ("the snake_case style", "snake case"),
        ("she said “never again”", '"never again"'),
        ("it's called 'Sweet Home'", "sweet"),
        ("Caroline’s dog", "caroline's"),
        ("Mr O'Brien called", "OBRIEN"),
        ("LGBTQ support group", "lgbtq SUPPORT gRoUp"),
        ("Weiße Straße", "WEISSE STRASSE"),
        ("at the Café Müller", "cafe muller"),
        ("at the Cafe Muller", "café müller"),
        ("painted a sunrise", "paintings of sunrises"),
        ("order 66", "66"),
        ("the who", "The Who"),
        ("tickets for the who", "who"),
    ],
)
def test_finds(stored: str, query: str) -> None:
    assert ids(index_of("nothing of the kind, nichts, 無関係", stored), query)[:1] == ["1"]


@pytest.mark.parametrize("query", ["", "   ", "?!", "elephant", "\u200b", "象"])
def test_finds_nothing_for_what_is_not_there(query: str) -> None:
    assert ids(index_of("a cat", "我喜欢猫"), query) == []


def test_an_empty_index_finds_nothing() -> None:
    assert ids(Index(), "cat") == []


def test_stop_words_are_ignored_beside_other_words() -> None:
    assert ids(index_of("the who", "cat"), "the cat") == ["1"]


def test_the_filter_comes_before_the_limit() -> None:
    better = [Document(f"a{n}", "a", "cat cat cat", {"type": "events"}) for n in range(50)]
    index = Index().replace_groups(
        {"a": better, "z": [Document("z", "z", "cat and much else", {"type": "profile"})]}
    )
    assert ids(index, "cat", limit=1, accept=lambda document: document.attributes["type"] == "profile") == [
        "z"
    ]


def test_ties_go_by_id_whatever_the_group() -> None:
    groups = {
        "a": [Document("2", "a", "cat"), Document("4", "a", "cat")],
        "b": [Document("1", "b", "cat"), Document("3", "b", "cat")],
    }
    assert ids(Index().replace_groups(groups), "cat", limit=3) == ["1", "2", "3"]


def test_a_threshold_leaves_out_lower_scores_only() -> None:
    index = index_of("cat", "cat among many other different words")
    [best, second] = index.search("cat", now=NOW)
    assert ids(index, "cat", score_threshold=best.score) == ["0"]
    assert ids(index, "cat", score_threshold=second.score) == ["0", "1"]
    assert ids(index, "cat", score_threshold=best.score + 0.01) == []


def test_limits() -> None:
    assert ids(index_of("cat", "cat"), "cat", limit=0) == []
    with pytest.raises(ValueError, match="limit"):
        ids(index_of("cat"), "cat", limit=-1)


@pytest.mark.parametrize(
    ("expires_at", "found"),
    [
        (None, True),
        ("2026-05-01T12:00:00.001Z", True),
        ("2026-05-01T12:00:00.000Z", False),  # at this very moment
        ("2026-05-01T14:00:00+02:00", False),  # the same moment elsewhere
        ("2026-05-01T13:00:00+02:00", False),
        ("2026-05-01T12:00:00-01:00", True),
        ("2026-05-01", False),
    ],
)
def test_what_has_expired_is_not_found(expires_at: str | None, found: bool) -> None:
    index = Index().replace_group("g", [Document("1", "g", "cat", {"expires_at": expires_at})])
    assert bool(ids(index, "cat")) is found
    assert ids(index, "cat", now=None) == ["1"]


def test_an_expiry_that_is_no_time_is_refused_when_indexed() -> None:
    with pytest.raises(ValueError, match="isoformat"):
        Index().replace_group("g", [Document("1", "g", "cat", {"expires_at": "tomorrow"})])


def test_replacing_a_group_replaces_all_of_it_and_nothing_else() -> None:
    before = Index().replace_groups(
        {"a": [Document("a1", "a", "cat"), Document("a2", "a", "dog")], "b": [Document("b1", "b", "cat")]}
    )
    after = before.replace_group("a", [Document("a3", "a", "bird")])
    assert ids(after, "cat dog bird") == ["a3", "b1"]
    assert sorted(ids(before, "cat dog bird")) == ["a1", "a2", "b1"]  # the old value is as it was


def test_removing_a_group() -> None:
    index = Index().replace_groups({"a": [Document("a1", "a", "cat")], "b": [Document("b1", "b", "cat")]})
    removed = index.replace_groups({"a": (), "unknown": ()})
    assert ids(removed, "cat") == ["b1"]
    assert removed.groups() == ["b"]
    assert removed.replace_group("b", ()).groups() == []
    assert removed.encode() == Index().replace_group("b", [Document("b1", "b", "cat")]).encode()


def test_groups_and_documents_before_and_after_the_changes_are_worked_in() -> None:
    index = Index().replace_groups(
        {"b": [Document("b2", "b", "x"), Document("b1", "b", "y", {"n": 1})], "a": []}
    )
    expected = [Document("b1", "b", "y", {"n": 1}), Document("b2", "b", "x")]
    assert (index.groups(), index.documents("b"), index.documents("a")) == (["b"], expected, [])
    ids(index, "x")
    assert (index.groups(), index.documents("b"), index.documents("a")) == (["b"], expected, [])


def test_title_and_extra_are_found_but_not_shown() -> None:
    index = Index().replace_group("g", [Document("1", "g", "text", {}, "heading", "neighbour")])
    for query in ("text", "heading", "neighbour"):
        [hit] = index.search(query, now=None)
        assert hit.document == Document("1", "g", "text")


@pytest.mark.parametrize(
    "documents",
    [
        [Document("1", "other", "x")],
        [Document("1", "g", "x"), Document("1", "g", "y")],
        [Document("1", "g", "x", {"score": float("nan")})],
    ],
)
def test_documents_that_cannot_be_kept_apart_or_stored_are_refused(documents: list[Document]) -> None:
    with pytest.raises(ValueError):
        Index().replace_group("g", documents)


def test_a_callers_later_change_does_not_reach_the_index() -> None:
    attributes = {"type": "events"}
    index = Index().replace_group("g", [Document("1", "g", "x", attributes)])
    attributes["type"] = "profile"
    assert index.documents("g")[0].attributes == {"type": "events"}


def test_parts_are_searched_as_one() -> None:
    left = Index().replace_group("a", [Document("1", "a", "red apple"), Document("2", "a", "plum")])
    right = Index().replace_group("b", [Document("3", "b", "red red pear tree")])
    whole = left.replace_group("b", [Document("3", "b", "red red pear tree")])
    parts = search_all([left, right], "red", Conditions(limit=5, now=NOW))
    assert parts == whole.search("red", limit=5, now=NOW)
