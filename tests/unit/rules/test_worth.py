import pytest

from strandline.domain.rules.courtesy import is_courtesy
from strandline.domain.rules.worth import (
    asks_something,
    asks_to_know,
    has_subject_matter,
    is_answer,
    is_memorable_answer,
    is_offer,
    is_prose,
    is_question,
    is_request,
    is_yes_or_no,
)

NAMES = frozenset(("ann", "bob"))


SMALL_TALK = """
Hi Ann! | How are you? | Thanks so much, Bob! | Wow, that's awesome! | See you soon. | Yes, definitely!
Great to hear from you! | Merci ! | ... | 你好！ | 太好了！ | 谢谢你！ | こんにちは！ | ありがとうございます。 | 네!
はじめまして。よろしくお願いします。 | お元気ですか？ | そうですね。 | 元気です。 | わかりました。
没事。 | 哈哈哈，太好了！
Très bien ! | Понятно. | Woohoo Bob! | Nice one, Bob! | Ah ha ha, yeah, JUST DOING IT! | Yaaay! | Whoa, Bob's!
""".replace("\n", "|").split("|")


@pytest.mark.parametrize("said", SMALL_TALK)
def test_small_talk_has_no_subject_matter(said: str) -> None:
    assert not has_subject_matter(said, NAMES)


@pytest.mark.parametrize(
    "said",
    [
        "I moved.",
        "Three years.",
        "In Leipzig.",
        "My dog died.",
        "It rained in Rome",
        "我喜欢茶。",
        "紅茶が好きです。",
        "医者です。",
        "猫です。",
        "是医生。",
        "没有孩子。",
        "의사예요.",
        "Médecin.",
        "J'aime le thé.",
    ],
)
def test_statements_have_subject_matter(said: str) -> None:
    assert has_subject_matter(said, NAMES)


@pytest.mark.parametrize(
    "said",
    [
        "Thanks for the flowers!",
        "So glad you like the flat.",
        "I'm really proud of you for starting the course.",
        "Good luck with the interview!",
        "Hope you find a flat.",
        "Your support means a lot to me.",
        "You're doing amazing work at the shelter.",
        "Can't wait to see the bowl!",
        "Let me know how the race goes.",
        "Hello Claude!",
        "Nice to meet you, Ana!",
        "Pleased to meet you, Ana Silva!",
        "Welcome back, Ana!",
        "Good morning, Ana!",
        "Great question, Ana!",
        "Have a great trip to Rome!",
        "Long time no see, Bob!",
    ],
)
def test_courtesies(said: str) -> None:
    assert is_courtesy(said)


@pytest.mark.parametrize(
    "said",
    [
        "I thanked her for the flowers.",
        "Hope is my dog's name.",
        "You live in Rome.",
        "Hi, I moved to Rome last week.",
        "Long time no chat - I adopted a dog.",
        "I'm excited to meet the people of the club.",
    ],
)
def test_no_courtesies(said: str) -> None:
    assert not is_courtesy(said)


@pytest.mark.parametrize(
    "said",
    ["Why?", "Really?!", '"Who?"', "你好吗", "是吗？", "元気ですか。", "왜 그럴까요?", "你呢", "我的书呢。"],
)
def test_questions(said: str) -> None:
    assert is_question(said)


@pytest.mark.parametrize(
    "said",
    [
        "I know.",
        "Why not!",
        "I got the job, can you believe it?",
        "Can you note that I moved?",
        "Maybe ?no",
        "我很好。",
        "我在上班呢。",
        "我是医生，你呢？",
        "町は静か。",
    ],
)
def test_no_questions(said: str) -> None:
    assert not is_question(said)


@pytest.mark.parametrize(
    ("said", "answer"),
    [("Yep!", True), ("Not yet.", True), ("是的。", True), ("はい、", True), ("Nobody", False)],
)
def test_yes_or_no(said: str, answer: bool) -> None:
    assert is_yes_or_no(said) is answer


@pytest.mark.parametrize(
    ("said", "prose"),
    [
        ("I use `make test` in CI.", True),
        ("See https://a.b/?c=d&e=f;g for that.", True),
        ("**Rome** is the **capital**.", True),
        ("int n = (int) (random() * 10) + 1;", False),
        ("Random random = new Random();", False),
        ('{"name": "a", "n": [1, 2]};', False),
        ("2024-03-06 10:15:00 | 200 | 0.0012", False),
        ("Here is the list:", False),
        ("I am 34.", True),
    ],
)
def test_prose(said: str, prose: bool) -> None:
    assert is_prose(said) is prose


@pytest.mark.parametrize(
    ("said", "is_one"),
    [
        ("Run the tests.", True),
        ("Please fix it.", True),
        ("The tests ran.", False),
        ("Please", False),
        ("", False),
    ],
)
def test_requests(said: str, is_one: bool) -> None:
    assert is_request(said) is is_one


@pytest.mark.parametrize(
    "said",
    [
        "The capital is Rome.",
        "It costs 20 euros.",
        "You should avoid salt in the soup.",
        "建议你多喝水。",
        "12 tests passed in all.",
    ],
)
def test_answers_worth_remembering(said: str) -> None:
    assert is_memorable_answer(said)


@pytest.mark.parametrize(
    "said", ["I'd be happy to help!", "Let me know if you need Rome.", "Understood.", "That is a nice idea."]
)
def test_answers_that_are_not(said: str) -> None:
    assert not is_memorable_answer(said)


@pytest.mark.parametrize(
    ("said", "is_one"),
    [
        ("Yes, dogs are welcome on board.", True),
        ("Of course, dogs are welcome on board.", True),
        ("可以带狗上船。", True),
        ("Yes, of course!", False),
        ("Sure, I'd be happy to help with the dog.", False),
    ],
)
def test_answers_that_say_more_than_yes(said: str, is_one: bool) -> None:
    assert is_answer(said) is is_one


@pytest.mark.parametrize(
    ("question", "to_know"),
    [("Can she come along?", True), ("Can you write a poem?", False), ("Hey, could you fix it?", False)],
)
def test_questions_that_want_to_know(question: str, to_know: bool) -> None:
    assert asks_to_know(question) is to_know


@pytest.mark.parametrize(
    ("question", "something"),
    [
        ("Who supports you?", True),
        ("Where do you sail?", True),
        ("How are you, Bob?", False),
        ("お元気ですか？", False),
    ],
)
def test_questions_about_something(question: str, something: bool) -> None:
    assert asks_something(question, NAMES) is something


def test_offers() -> None:
    assert is_offer("Would you like me to fix it?")
    assert not is_offer("The test failed.")
