"""viking:// addresses: what they mean, and what is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strandline.domain.address import place_of, uri_of, visible
from strandline.domain.errors import InvalidUri, NotFound

OWN = ("user", "ann")


@pytest.mark.parametrize(
    ("uri", "place"),
    [
        ("viking://", ()),
        ("viking:///", ()),
        ("viking://user", ("user",)),
        ("viking://user/", ("user",)),
        ("viking://user/ann", OWN),
        ("viking://~", OWN),
        ("viking://~/", OWN),
        ("viking://user/ann/memories", (*OWN, "memories")),
        ("viking://~/memories/profile.md", (*OWN, "memories", "profile.md")),
        ("viking://user/ann/memories/a b/%41,é.md", (*OWN, "memories", "a b", "%41,é.md")),
        ("viking://user/ann/peers", (*OWN, "memories", "peers")),
        ("viking://user/ann/peers/Bob", (*OWN, "memories", "peers", "Bob")),
        ("viking://user/ann/peers/Bob/memories", (*OWN, "memories", "peers", "Bob")),
        ("viking://~/peers/Bob/memories/profile.md", (*OWN, "memories", "peers", "Bob", "profile.md")),
        ("viking://session/s", (*OWN, "sessions", "s")),
        (
            "viking://session/%2e%2e",
            (*OWN, "sessions", "%2e%2e"),
        ),  # taken literally, it is an id like any other
        (
            "viking://user/ann/sessions/s/archives/archive_001",
            (*OWN, "sessions", "s", "archives", "archive_001"),
        ),
    ],
)
def test_an_address_points_to_a_place(uri: str, place: tuple[str, ...]) -> None:
    assert place_of(uri, "ann") == place


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "memories/profile.md",
        "http://user/ann",
        "viking:/user/ann",
        "Viking://user/ann",
        "viking://temp/x",
        "viking://nonsense",
        "viking://user/ann//memories",
        "viking://user/ann/memories/../../bob",
        "viking://user/ann/memories/%2e%2e/x",
        "viking://user/ann/memories/%252e%252e/x",
        "viking://user/ann/memories/.",
        "viking://user/ann/memories/a\\b",
        "viking://user/ann/memories/a\nb",
        "viking://user/memories",
        "viking://user/memories/profile.md",
        "viking://user/sessions/s",
        "viking://user/ann/memories/" + "x" * 2048,
    ],
)
def test_what_is_no_address(uri: str) -> None:
    with pytest.raises(InvalidUri) as refused:
        place_of(uri, "ann")
    assert set(refused.value.details) == {"uri", "reason"}


def test_who_leaves_the_user_out_is_told_the_short_form() -> None:
    with pytest.raises(InvalidUri, match="viking://~/memories"):
        place_of("viking://user/memories/profile.md", "ann")


def test_a_user_may_be_called_like_a_directory() -> None:
    assert place_of("viking://user/memories/memories/x.md", "memories") == (
        "user",
        "memories",
        "memories",
        "x.md",
    )


@pytest.mark.parametrize(
    "uri",
    [
        "viking://user/bob",
        "viking://user/Ann/memories",
        "viking://user/bob/memories/profile.md",
        "viking://resources",
        "viking://resources/docs/x.md",
        "viking://~/resources",
        "viking://~/skills/x",
        "viking://~/peers/Bob/resources",
        "viking://agent/x",
    ],
)
def test_nothing_is_there_for_this_user(uri: str) -> None:  # B-A14
    with pytest.raises(NotFound):
        place_of(uri, "ann")


@given(st.text())
def test_any_text_is_a_place_of_the_user_or_refused(text: str) -> None:
    for uri in (text, f"viking://{text}", f"viking://user/{text}", f"viking://user/ann/{text}"):
        try:
            place = place_of(uri, "ann")
        except (InvalidUri, NotFound):
            continue
        assert place[:2] == OWN[: len(place)]
        assert place_of(uri_of(place), "ann") == place


@pytest.mark.parametrize(
    ("path", "peer", "seen"),
    [
        ("profile.md", "Bob", True),
        ("peers/Bob/profile.md", "Bob", True),
        ("peers/Bob", "Bob", True),
        ("peers", "Bob", True),
        ("peers/Bobby/profile.md", "Bob", False),
        ("peers/Bobby", "Bob", False),
        ("peers/bob/profile.md", "Bob", False),
        ("preferences/peers/Eve.md", "Bob", True),
        ("peers/Eve/profile.md", None, True),
    ],
)
def test_what_a_peer_sees(path: str, peer: str | None, seen: bool) -> None:
    assert visible(path, peer) == seen
