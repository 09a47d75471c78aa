import pytest

from strandline.domain.memory_types import REGISTRY
from strandline.domain.rules.entities import Entity, Known, entities
from strandline.domain.rules.kinds import Route, Statement, route
from strandline.domain.rules.topics import topic_of

KNOWN = Known({"Max": Entity("pets", "Max"), "Norvik": Entity("organisations", "Norvik")})


def file_of(said: str, *, asked: str = "", dated: bool = False, to_assistant: bool = False) -> str:
    statement = Statement(said, asked=asked, dated=dated)
    found: Route = route(statement, KNOWN, to_assistant=to_assistant)
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
        ("I'm Ana, a marine biologist from Lisbon.", "profile"),
        ("I moved to Bergen with my sister Rita.", "profile"),
        ("I'm studying law.", "profile"),
        ("I'm a single mom.", "profile"),
        ("I was born in Porto.", "profile"),
        ("I'm from Lisbon.", "profile"),
        ("I speak Portuguese.", "profile"),
        ("I just got promoted!", "profile"),
        ("I started a new job as a diver.", "profile"),
        ("I've been playing the violin for ten years.", "profile"),
        ("We have a dog called Max.", "profile"),
        ("I have asthma.", "profile"),
        ("I've been into dancing since I was a kid.", "profile"),
        ("I started surfing when I was ten.", "profile"),
        ("I opened my own bakery.", "profile"),
        ("My husband and I got married.", "profile"),
        ("My kids are 5 and 7.", "profile"),
        ("我在上海工作。", "profile"),
        ("我有两个孩子。", "profile"),
        ("私は犬を飼っています。", "profile"),
        ("46歳です。", "profile"),
        ("私は元気です。", "events"),
        ("I've been waiting for years.", "events"),
        ("I lost my job interview notes.", "events"),
        ("I moved to tears.", "events"),
        ("I work at it every day.", "events"),
        ("I have kids' books.", "events"),
        ("He came when I moved to Oslo.", "events"),
        ("I love sailing and I hate crowded museums.", "preferences/sports"),
        ("Dancing brings me joy.", "preferences/art"),
        ("Pizza is my favourite.", "preferences/food"),
        ("I can't stand loud music.", "preferences/music"),
        ("We love camping.", "preferences/nature"),
        ("I'm not a fan of sushi.", "preferences/food"),
        ("I've always wanted to see Rome.", "preferences/goals"),
        ("My dream is to open a bakery.", "preferences/goals"),
        ("I love zorbing.", "preferences/general"),
        ("They bring me joy.", "events"),
        ("I love having them around.", "events"),
        ("It's something I love.", "events"),
        ("I don't want to hurt anybody.", "events"),
        ("Norvik is hiring.", "entities/organisations/Norvik"),
        ("I love Max!", "entities/pets/Max"),
        ("This is Max.", "entities/pets/Max"),
        ("We walked home with Max.", "events"),
        ("I love hiking.", "preferences/nature"),
        ("I really don't like crowds.", "preferences/people"),
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


@pytest.mark.parametrize(
    ("said", "file"),
    [
        ("I was a nurse in 2015.", "events"),
        ("I loved the concert in May.", "events"),
        ("I moved to Bergen in 2022.", "profile"),
        ("Max turned six yesterday.", "entities/pets/Max"),
    ],
)
def test_what_has_a_date_is_no_preference(said: str, file: str) -> None:
    assert file_of(said, dated=True) == file


@pytest.mark.parametrize(
    ("asked", "said", "file"),
    [
        ("Where are you from?", "Lisbon.", "profile"),
        ("What do you do for a living?", "Mostly roofs.", "profile"),
        ("你多大了？", "四十二。", "profile"),
        ("What's your favourite film?", "I love Alien.", "preferences/films and series"),
        ("How was it?", "Cold.", "events"),
    ],
)
def test_a_question_tells_what_its_answer_is_about(asked: str, said: str, file: str) -> None:
    assert file_of(said, asked=asked) == file


@pytest.mark.parametrize(
    ("said", "file"),
    [
        ("Always answer in short sentences.", "preferences/instructions"),
        ("Please never delete tests.", "preferences/work"),
        ("Don't use emojis.", "preferences/instructions"),
        ("Answer in German from now on.", "preferences/instructions"),
        ("No, use pnpm instead.", "preferences/instructions"),
        ("请不要用英文。", "preferences/instructions"),
        ("Remember that I hate cilantro.", "preferences/food"),
        ("Remember: my wife is a pilot.", "profile"),
        ("Can you remember that my car is a Volvo?", "profile"),
    ],
)
def test_instructions_to_an_assistant_are_preferences(said: str, file: str) -> None:
    assert file_of(said, to_assistant=True) == file


@pytest.mark.parametrize("said", ["I'm a nurse.", "I love tea.", "Max sleeps.", "We left."])
def test_every_route_names_the_fields_its_memory_type_asks_for(said: str) -> None:
    found = route(Statement(said), KNOWN, to_assistant=True)
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
        ("Mia sleeps. She is my cat Mia.", [("pets", "Mia")]),
        ("My dogs Mia and Leo bark.", [("pets", "Mia"), ("pets", "Leo")]),
        ("A dog from the shelter, her name is Pip.", [("pets", "Pip")]),
        ("I got a puppy. I named him Rex.", [("pets", "Rex")]),
        ("This woman, Jean, sang.", [("people", "Jean")]),
        ("I read 'Becoming Nora' by Amy Nutt.", [("works", "Becoming Nora")]),
        ("We watched Cold Harbour.", [("works", "Cold Harbour")]),
        ("I moved to Bergen.", [("places", "Bergen")]),
        ("Graz is a lovely old city.", [("places", "Graz")]),
        ("The rowing club in Graz won.", [("organisations", "rowing club in Graz")]),
        ("My wife, Max and I left.", []),
        ("Thankfully, my boss was nice.", []),
        ("Pottery is my friend, and pottery is fun.", []),
        ("I saw 'that' film.", []),
        ("I met my sister Monday.", []),
        ("At the shelter, Cindy sang.", []),
        ("My friend Ann came.", []),
        ("my dog is old", []),
    ],
)
def test_entities_are_introduced_by_what_they_are(said: str, found: list[tuple[str, str]]) -> None:
    known = entities([said], without=frozenset(["ann"]))
    assert [(e.category, e.name) for e in dict.fromkeys(known.by_name.values())] == found


def test_an_entity_is_named_in_the_answer_or_after_its_kind() -> None:
    known = entities(
        ["How is your dog?", "Rex is fine.", "I got a cat.", "It rained.", "Her name is Mia."], ()
    )
    assert known.by_name == {"Rex": Entity("pets", "Rex"), "Mia": Entity("pets", "Mia")}


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
