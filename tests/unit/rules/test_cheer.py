import pytest

from strandline.domain.rules.cheer import is_cheer, names_something, only_points

NAMES = frozenset(("ann", "bob"))


@pytest.mark.parametrize(
    "said",
    ["Don't miss a beat!", "Go get 'em, Bob!", "Cherish those memories!", "Wow, Bob, follow the dream!"],
)
def test_cheers(said: str) -> None:
    assert is_cheer(said, NAMES)


@pytest.mark.parametrize(
    "said",
    [
        "Love hiking!",
        "Visit Rome!",
        "Read chapter 3!",
        "Follow my blog!",
        "Take the train.",
        "Don't open the box with the letters of the old house!",
        "The dog is ill!",
    ],
)
def test_no_cheers(said: str) -> None:
    assert not is_cheer(said, NAMES)


@pytest.mark.parametrize(
    "said", ["It's one of Bob's favourites!", "They're the best!", "Yeah, that was perfect."]
)
def test_only_pointing(said: str) -> None:
    assert only_points(said, NAMES)


@pytest.mark.parametrize(
    "said",
    [
        "It's one of my favourites!",
        "It's the best in Rome.",
        "It's not the best.",
        "That's perfect for long cold nights.",
    ],
)
def test_more_than_pointing(said: str) -> None:
    assert not only_points(said, NAMES)


def test_a_number_or_a_name_that_is_no_participants() -> None:
    assert names_something("we saw Rome", NAMES)
    assert names_something("it has 3 legs", NAMES)
    assert not names_something("well done, Bob’s", NAMES)
    assert not names_something("Rome", NAMES)
