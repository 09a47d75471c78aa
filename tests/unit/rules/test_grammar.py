import pytest

from strandline.domain.rules.grammar import to_third_person

TOLD = [
    ("I went to the lake.", "Ann went to the lake."),
    ("I love tea.", "Ann loves tea."),
    ("I study law.", "Ann studies law."),
    ("I watch films.", "Ann watches films."),
    ("I play chess.", "Ann plays chess."),
    ("I have two cats.", "Ann has two cats."),
    ("I am a nurse.", "Ann is a nurse."),
    ("I'm a nurse.", "Ann is a nurse."),
    ("I’ve moved to Oslo.", "Ann has moved to Oslo."),
    ("I'll call her.", "Ann will call her."),
    ("I'd like to go.", "Ann would like to go."),
    ("I'd never been there.", "Ann had never been there."),
    ("I don't eat fish.", "Ann doesn't eat fish."),
    ("I haven't seen it.", "Ann hasn't seen it."),
    ("I can't swim.", "Ann can't swim."),
    ("I need a break.", "Ann needs a break."),
    ("I used to smoke.", "Ann used to smoke."),
    ("I just finally finished it.", "Ann just finally finished it."),
    ("I went there and saw it.", "Ann went there and saw it."),
    ("I hope to be a doctor.", "Ann hopes to be a doctor."),
    ("i love tea, i really do", "Ann loves tea, Ann really does"),
    ("My brother told me that my flat was cold.", "Ann's brother told Ann that Ann's flat was cold."),
    ("That book is mine.", "That book is Ann's."),
    ("She gave me a book.", "She gave Ann a book."),
    ("That's what I am.", "That's what Ann is."),
    ("As a nurse I work nights.", "As a nurse Ann works nights."),
    ("I work nights and my husband works days.", "Ann works nights and Ann's husband works days."),
    ("My name is Kim and I work at Norvik.", "Ann's name is Kim and Ann works at Norvik."),
    ("Painting is what keeps me calm.", "Painting is what keeps Ann calm."),
    ("Yeah, I went home.", "Ann went home."),
    ("Oh wow, I forgot.", "Ann forgot."),
    ("Thanks, Bob, I moved to Oslo.", "Ann moved to Oslo."),
    ("By the way, I moved.", "Ann moved."),
    ("Remember that I hate soup.", "Ann hates soup."),
    ("Please note: my flat is cold.", "Ann's flat is cold."),
    ("I no longer work at Norvik.", "Ann no longer works at Norvik."),
    ("It was hard.", "It was hard."),
]

NOT_CERTAIN = [
    ("the subject is left out", "Went to the lake with my dog."),
    ("the subject is left out", "So glad I left."),
    ("the subject is left out", "Looking forward to my trip."),
    ("a second verb would have to agree", "I love it and go there often."),
    ("a second verb would have to agree", "I teach, write and paint."),
    ("past or present", "I read books."),
    ("past or present", "I put it there."),
    ("no known verb", "I foobar it."),
    ("no known verb", "I, for one, like it."),
    ("more people than one", "We went with my dog."),
    ("more people than one", "My wife and I moved."),
    ("the listener", "You gave me a book."),
    ("turned order", "Do I like it."),
    ("not said by the speaker", 'I told him "I am sorry".'),
    ("not a person", "World War I ended my career in the army."),
    ("too many mentions", "I think I know my limits and my strengths."),
    ("not English", "Me gusta el té."),
    ("not English", "Ich mag das."),
]


@pytest.mark.parametrize(("said", "told"), TOLD, ids=lambda text: text)
def test_told_in_the_third_person(said: str, told: str) -> None:
    assert to_third_person(said, "Ann", listeners=("bob",)) == told


@pytest.mark.parametrize(("why", "said"), NOT_CERTAIN)
def test_not_told_where_the_grammar_is_not_certain(why: str, said: str) -> None:
    assert to_third_person(said, "Ann") is None, why


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I'm Ann, a marine biologist from Lisbon.", "Ann is a marine biologist from Lisbon."),
        ("Hi, I am Ann, 34 and happy.", "Ann is 34 and happy."),
        ("I'm Ann from Lisbon.", "Ann is from Lisbon."),
        ("I'm Ann and I work at Norvik.", "Ann works at Norvik."),
        ("I'm Ann Lee, a nurse.", "Ann is Ann Lee, a nurse."),
    ],
)
def test_who_tells_their_name_is_not_said_to_be_themselves(said: str, told: str) -> None:
    assert to_third_person(said, "Ann") == told


def test_a_name_that_is_known_by_its_first_word_only() -> None:
    assert to_third_person("I'm Ann, a nurse.", "Ann Lee") == "Ann Lee is a nurse."
    assert to_third_person("I'm Ann, a nurse.", "the user") == "The user is Ann, a nurse."


def test_a_name_in_s_and_the_user() -> None:
    assert to_third_person("My dog is ill.", "James") == "James' dog is ill."
    assert to_third_person("My dog likes me.", "the user") == "The user's dog likes the user."
