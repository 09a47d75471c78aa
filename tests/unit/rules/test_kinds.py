import pytest

from strandline.domain.memory_types import REGISTRY
from strandline.domain.rules.entities import Entity, entities
from strandline.domain.rules.kinds import Route, route
from strandline.domain.rules.topics import topic_of

KNOWN = {"Max": Entity("pets", "Max"), "Norvik": Entity("organisations", "Norvik")}


def file_of(said: str, *, dated: bool = False, to_assistant: bool = False) -> str:
    found: Route = route(said, dated=dated, to_assistant=to_assistant, known=KNOWN)
    return "/".join([found.memory_type, *dict(found.fields).values()])


@pytest.mark.parametrize(
    ("said", "file"),
    [
        ("My name is Kim.", "profile"),
        ("I'm a nurse.", "profile"),
        ("I work as a data engineer.", "profile"),
        ("I live in Leipzig.", "profile"),
        ("I am 34 years old.", "profile"),
        ("I'm allergic to nuts.", "profile"),
        ("I have two kids.", "profile"),
        ("i have 2 cats", "profile"),
        ("My sister is a pilot.", "profile"),
        ("My hometown is Graz.", "profile"),
        ("我是护士。", "profile"),
        ("私は看護師です。", "profile"),
        ("저는 간호사예요.", "profile"),
        ("I love hiking.", "preferences/nature"),
        ("I really don't like crowds.", "preferences/general"),
        ("I prefer tabs in my code.", "preferences/work"),
        ("I'm a big fan of jazz.", "preferences/music"),
        ("My favourite food is soup.", "preferences/food"),
        ("I'd rather read a book.", "preferences/books"),
        ("我很喜欢咖啡。", "preferences/food"),
        ("映画が大好きです。", "preferences/films and series"),
        ("Max sleeps on the sofa.", "entities/pets/Max"),
        ("We drove to the lake.", "events"),
        ("I'm a bit tired.", "events"),
        ("I'm a huge mess.", "events"),
        ("I love that!", "events"),
        ("I love your bowl.", "events"),
        ("你喜欢咖啡。", "events"),
        ("Always take a coat.", "events"),
    ],
)
def test_file_of_an_undated_statement(said: str, file: str) -> None:
    assert file_of(said) == file


def test_what_has_a_date_is_an_event() -> None:
    assert file_of("I was a nurse in 2015.", dated=True) == "events"


@pytest.mark.parametrize(
    ("said", "file"),
    [
        ("Always answer in short sentences.", "preferences/instructions"),
        ("Please never delete tests.", "preferences/work"),
        ("Don't use emojis.", "preferences/instructions"),
        ("Answer in German from now on.", "preferences/instructions"),
        ("No, use pnpm instead.", "preferences/instructions"),
        ("请不要用英文。", "preferences/instructions"),
        ("Remember that I hate cilantro.", "preferences/general"),
        ("Remember: my wife's name is Lea.", "profile"),
        ("Can you remember that my car is a Volvo?", "profile"),
    ],
)
def test_instructions_to_an_assistant_are_preferences(said: str, file: str) -> None:
    assert file_of(said, to_assistant=True) == file


@pytest.mark.parametrize("said", ["I'm a nurse.", "I love tea.", "Max sleeps.", "We left."])
def test_every_route_names_the_fields_its_memory_type_asks_for(said: str) -> None:
    found = route(said, dated=False, to_assistant=True, known=KNOWN)
    wanted = REGISTRY[found.memory_type].identity
    assert found.memory_type == "events" or tuple(dict(found.fields)) == wanted


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("My dog Max is old.", [("pets", "Max")]),
        ("I have a cat called Mia.", [("pets", "Mia")]),
        ("My friend, Anna Lee, moved.", [("people", "Anna Lee")]),
        ("Max is my dog.", [("pets", "Max")]),
        ("I read the novel 'The Sea of Ink'.", [("works", "The Sea of Ink")]),
        ("We play a game called CS:GO.", [("works", "CS:GO")]),
        ("I work at a company named Norvik.", [("organisations", "Norvik")]),
        ("I met my sister Monday.", []),
        ("At the shelter, Cindy sang.", []),
        ("My friend Ann came.", []),
        ("my dog is old", []),
    ],
)
def test_entities_are_introduced_by_what_they_are(said: str, found: list[tuple[str, str]]) -> None:
    known = entities([said], without=frozenset(["ann"]))
    assert [(e.category, e.name) for e in dict.fromkeys(known.values())] == found


@pytest.mark.parametrize(
    ("said", "topic"),
    [
        ("I like music and books and songs.", "music"),
        ("I like books and music.", "books"),
        ("I like it.", "general"),
        ("我喜欢看电影。", "films and series"),
    ],
)
def test_topic(said: str, topic: str) -> None:
    assert topic_of(said) == topic
