import pytest

from strandline.domain.rules.lead import without_lead


@pytest.mark.parametrize(
    ("sentence", "left"),
    [
        ("Hello there, I live in Porto", "I live in Porto"),
        ("hi all! I live in Porto", "I live in Porto"),
        ("Hey again - I live in Porto", "I live in Porto"),
        ("Hey everyone, by the way I live in Porto", "by the way I live in Porto"),
        ("Hey, Mel, I live in Porto", "I live in Porto"),
        ("There, the bus stops.", "There, the bus stops."),
        ("So glad that it rains.", "So glad that it rains."),
    ],
)
def test_what_stands_before_a_statement(sentence: str, left: str) -> None:
    assert without_lead(sentence, ("mel",)) == left


def test_there_without_a_pause_belongs_to_what_follows() -> None:
    assert "there is a cafe" in without_lead("Hey there is a cafe in Porto", ())
