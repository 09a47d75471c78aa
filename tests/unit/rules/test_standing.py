"""Statements of which only the newest holds."""

import pytest

from strandline.domain.rules.standing import Standing, standing


@pytest.mark.parametrize(
    ("sentence", "attribute", "value"),
    [
        ("I live in Lisbon.", "home", "Lisbon"),
        ("I'm living in New York now.", "home", "New York"),
        ("I moved to Oslo, Norway last year!", "home", "Oslo"),
        ("I've just moved back to Rio de Janeiro", "home", "Rio de Janeiro"),
        ("And I moved to Bergen in March 2024.", "home", "Bergen"),
        ("I work at Acme.", "employer", "Acme"),
        ("I started a new job at Acme Labs last month.", "employer", "Acme Labs"),
        ("I quit my job.", "employer", "none"),
        ("I'm retired now.", "employer", "none"),
        ("I work as a nurse.", "occupation", "nurse"),
        ("I'm working as a primary school teacher now.", "occupation", "primary school teacher"),
        ("I'm single again.", "relationship", "single"),
        ("We got married last summer!", "relationship", "married"),
        ("I'm now a vegan.", "diet", "vegan"),
        ("My favorite color is dark green.", "favourite color", "dark green"),
        ("My new favourite book is Dune now!", "favourite book", "Dune"),
    ],
)
def test_what_holds_from_now_on(sentence: str, attribute: str, value: str) -> None:
    assert standing(sentence) == Standing(attribute, value)


@pytest.mark.parametrize(
    "sentence",
    [
        "I live in Lisbon with my sister Rita.",  # says more than that
        "I lived in Lisbon.",
        "I live in fear.",
        "When I lived in Oslo, I moved to Rome.",
        "I don't live in Oslo any more.",
        "I moved to the next level.",
        "I want to move to Oslo.",
        "She lives in Oslo.",
        "I work at night.",
        "I work as hard as I can, and I love it.",
        "I'm single-minded.",
        "I'm married to my work.",
        "We got married people to talk.",
        "My favourite part is the ending.",
        "My favourite color is blue, but I like green too.",
        "One of my favourite books is Dune.",
        "Is my favourite color blue?",
        "",
    ],
)
def test_what_is_not_certain(sentence: str) -> None:
    assert standing(sentence) is None
