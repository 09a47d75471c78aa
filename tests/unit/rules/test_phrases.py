import pytest

from strandline.domain.rules.extract import lines_said
from strandline.domain.rules.messages import conversation
from strandline.domain.rules.phrases import noun_phrases
from strandline.domain.rules.summary import title_of
from tests.unit.rules.conversation import transcript


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("I'm a marine biologist.", ["marine biologist"]),
        ("I went to the LGBTQ support group.", ["LGBTQ support group"]),
        ("All kids love nature.", []),
        ("We sailed on the Hardangerfjord.", ["Hardangerfjord"]),
        ("I flew to New York City.", ["New York City"]),
        ("Ann's brother has a red van.", ["brother", "red van"]),
        ("I like helping kids.", ["kids"]),
        ("The dog sitting in the park.", ["dog", "park"]),
        ("We left.", []),
    ],
)
def test_noun_phrases(said: str, found: list[str]) -> None:
    assert [" ".join(p.words) for p in noun_phrases(said, without=frozenset(["ann"]))] == found


def title(*said: str) -> str:
    about = conversation(transcript(*[("user", "Ann", s) for s in said]))
    return title_of(about, lines_said(about))


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (["I'm a marine biologist from Lisbon."], "marine biologist, Lisbon"),
        (["We fixed the fence.", "The fence fell over.", "I painted the gate."], "fence, gate"),
        (["Boats float."], "boats, float"),
        (["We left."], "conversation"),
    ],
)
def test_titles_list_phrases(said: list[str], expected: str) -> None:
    assert title(*said) == expected


def test_a_title_is_short() -> None:
    long = [f"We saw the {a} {b} tower near the {a} {c} bridge." for a, b, c in ("xyz", "klm", "pqr")]
    assert len(title(*(x.replace("x", "red") for x in long)).split()) <= 6
