from datetime import UTC, datetime, timedelta, timezone

import pytest

from strandline.domain.extraction import Claim, Extraction, Turn
from strandline.domain.rules import extract
from strandline.domain.rules.extract import MAX_CLAIMS
from strandline.domain.rules.lines import MAX_LINES_PER_ANSWER, MAX_LINES_PER_MESSAGE
from tests.unit.rules.conversation import AT, texts, transcript


def claims(extraction: Extraction) -> list[Claim]:
    return [c for p in extraction.proposals for c in p.claims]


def said(text: str, speaker: str | None = "Ann", at: datetime = AT) -> list[str]:
    return texts(extract(transcript(("user", speaker, text), at=at)))


def test_it_says_what_it_is() -> None:
    assert extract(transcript()).extractor == "rules/1"


def test_an_empty_archive() -> None:
    answer = extract(transcript())
    assert answer.proposals == ()
    assert answer.abstract == "Nobody spoke."


def test_a_peer_is_named_and_owns_its_lines() -> None:
    (proposal,) = extract(transcript(("user", "Ann", "I work as a nurse."))).proposals
    assert (proposal.memory_type, proposal.peer) == ("profile", "Ann")
    assert proposal.claims == (
        Claim(
            text="Ann works as a nurse.",
            seq_from=1,
            seq_to=1,
            quote="I work as a nurse.",
            attribute="occupation",
            value="nurse",
        ),
    )


def test_without_a_speaker_it_is_the_user() -> None:
    (proposal,) = extract(transcript(("user", None, "I work as a nurse."))).proposals
    assert proposal.peer is None
    assert proposal.claims[0].text == "The user works as a nurse."


def test_an_assistant_is_named_and_its_lines_are_events_of_the_user() -> None:
    (proposal,) = extract(transcript(("assistant", None, "I recommend the Harz for hiking."))).proposals
    assert (proposal.memory_type, proposal.peer) == ("events", None)
    assert proposal.claims[0].text == 'The assistant said: "I recommend the Harz for hiking."'


@pytest.mark.parametrize("role", ["tool", "system", "developer", ""])
def test_nobody_else_makes_claims(role: str) -> None:
    assert (
        extract(transcript((role, None, "I live in Rome."), (role, "Ann", "I live in Rome."))).proposals == ()
    )


def test_each_speaker_has_one_events_file_an_archive_and_all_have_one_name() -> None:
    answer = extract(
        transcript(
            ("user", "Ann", "We painted the fence yesterday. It rained."),
            ("user", "Bob", "The fence fell over last week."),
            ("user", None, "The fence was repaired."),
            ("assistant", None, "Fences cost 20 euros a metre."),
            ("user", "Ann", "We sold the fence today."),
        )
    )
    events = [p for p in answer.proposals if p.memory_type == "events"]
    assert [p.peer for p in events] == ["Ann", "Bob", None]
    assert len({p.fields["name"] for p in events}) == 1
    assert "fence" in events[0].fields["name"]


def test_relative_dates_count_from_the_messages_own_time_where_it_was_written() -> None:
    late = datetime(2023, 5, 8, 23, 30, tzinfo=timezone(timedelta(hours=-8)))
    assert said("I ran yesterday.", at=late) == ["Ann ran on 7 May 2023."]
    assert said("I ran yesterday.", at=late.astimezone(UTC)) == ["Ann ran on 8 May 2023."]


def test_what_is_only_true_of_its_time_gets_the_day_it_was_said() -> None:
    assert said("I just bought a boat.") == ["Ann just bought a boat. (8 May 2023)"]
    assert said("I will sell the boat.") == ["Ann will sell the boat. (8 May 2023)"]
    assert said("Boats float on the water.") == ['Ann said: "Boats float on the water."']


@pytest.mark.parametrize(
    "age", ["I'm 34.", "I am thirty-four and happy.", "My son is 6 years old.", "My son turned sixteen."]
)
def test_an_age_is_of_its_day(age: str) -> None:
    (line,) = said(age)
    assert line.endswith(" (8 May 2023)")


def test_you_is_explained_where_two_talk() -> None:
    two = transcript(("user", "Ann", "You sold my boat."), ("user", "Bob", "It sank in Rome."))
    assert texts(extract(two))[0] == 'Ann said to Bob: "You sold my boat." (8 May 2023)'
    three = transcript(("user", "Ann", "You sold my boat."), ("user", "Bob", "Ok."), ("user", "Cy", "Ok."))
    assert texts(extract(three)) == ['Ann said: "You sold my boat." (8 May 2023)']


def test_a_question_that_tells_something_is_kept() -> None:
    assert said("I got the job, can you believe it?") == [
        'Ann said: "I got the job, can you believe it?" (8 May 2023)'
    ]


def test_a_sentence_that_leans_on_another_stays_with_it() -> None:
    assert said("I went to the opera in 2015. It was dull and long. My feet ached.") == [
        "Ann went to the opera in 2015. It was dull and long.",
        "Ann's feet ached. (8 May 2023)",
    ]


def test_a_short_answer_carries_its_question_and_cites_both() -> None:
    answer = extract(
        transcript(("user", "Bob", "Hi! How long have you had the boat?"), ("user", "Ann", "Ten years."))
    )
    assert claims(answer) == [
        Claim(
            text='Ann said: "Ten years." (asked: "How long have you had the boat?")',
            seq_from=1,
            seq_to=2,
            quote="Ten years.",
        )
    ]


def test_a_yes_says_something_once_the_question_is_known() -> None:
    answer = extract(transcript(("user", "Bob", "Did you sell the boat?"), ("user", "Ann", "Yes!")))
    assert texts(answer) == ['Ann said: "Yes!" (asked: "Did you sell the boat?")']


def test_a_yes_before_a_statement_stays_with_the_question() -> None:
    answer = extract(
        transcript(("user", "Bob", "Did you sell the boat?"), ("user", "Ann", "Yes! I need money."))
    )
    assert texts(answer) == ['Ann needs money. (asked: "Did you sell the boat?" – "Yes!")']


def test_nobody_answers_their_own_question_or_a_greeting() -> None:
    assert texts(extract(transcript(("user", "Ann", "Where is the boat?"), ("user", "Ann", "In Rome.")))) == [
        'Ann said: "In Rome."'
    ]
    assert texts(extract(transcript(("user", "Bob", "How are you?"), ("user", "Ann", "In Rome.")))) == [
        'Ann said: "In Rome."'
    ]


def test_an_answer_of_an_assistant_is_kept_with_the_question() -> None:
    asked = ("user", None, "I adopted a dog. Can she come along?")
    answered = (
        "assistant",
        None,
        "Nice to meet you, Ana! Yes, dogs are welcome on board. They sleep a lot there.",
    )
    assert texts(extract(transcript(asked, answered))) == [
        "The user adopted a dog. (8 May 2023)",
        'The assistant said: "Yes, dogs are welcome on board." (asked: "Can she come along?")',
    ]


def test_what_an_assistant_makes_on_request_is_no_answer() -> None:
    asked = ("user", None, "Can you write a poem about the sea?")
    assert (
        texts(extract(transcript(asked, ("assistant", None, "The waves were rolling to the shore.")))) == []
    )


def test_an_answer_about_an_animal_with_a_name_is_about_the_animal() -> None:
    asked = ("user", "Bob", "Do you have any pets?")
    (named,) = extract(transcript(asked, ("user", "Ann", "We took a dog, her name is Pipoca."))).proposals
    assert named.fields == {"category": "pets", "name": "Pipoca"}
    (unnamed,) = extract(transcript(asked, ("user", "Ann", "Only an old parrot."))).proposals
    assert unnamed.memory_type == "profile"


def test_a_statement_without_a_subject_in_another_language_is_kept_whole() -> None:
    assert said("こんにちは！医者です。よろしくお願いします。") == [
        'Ann said: "医者です。"（2023-05-08）',
    ]
    assert said("你好！是医生。你呢？") == ['Ann said: "是医生。"（2023-05-08）']


def test_what_only_ranks_something_stays_with_it_or_goes() -> None:
    assert said("It's one of Ann's favourites!") == []
    (line,) = said("We ate ramen. It's one of the greatest dishes!")
    assert line == 'Ann said: "We ate ramen. It\'s one of the greatest dishes!"'


def test_an_offer_of_an_assistant_is_no_question() -> None:
    offered = ("assistant", None, "Would you like me to sell the boat?")
    assert texts(extract(transcript(offered, ("user", None, "Yes please.")))) == []


def test_a_request_to_an_assistant_is_told_as_one() -> None:
    asked = transcript(("user", None, "Write a poem about Rome."), ("assistant", None, "Ok."))
    assert texts(extract(asked)) == ['The user asked: "Write a poem about Rome."']


def test_a_shared_image_is_a_line_of_its_own() -> None:
    answer = extract(transcript(("user", "Ann", "Look! [image: a red boat]")))
    assert claims(answer) == [
        Claim(text="Ann shared an image: a red boat", seq_from=1, seq_to=1, quote="a red boat")
    ]


def test_what_is_said_twice_is_taken_once() -> None:
    answer = extract(transcript(("user", "Ann", "I own a boat."), ("user", "Ann", "I own a boat.")))
    assert [(c.text, c.seq_from) for c in claims(answer)] == [("Ann owns a boat.", 1)]


def test_two_speakers_may_say_the_same() -> None:
    answer = extract(transcript(("user", "Ann", "Boats float."), ("user", "Bob", "Boats float.")))
    assert {p.peer for p in answer.proposals} == {"Ann", "Bob"}


def test_quotation_marks_inside_a_quotation() -> None:
    assert said('We watched "Dune" together.') == ["Ann said: \"We watched 'Dune' together.\" (8 May 2023)"]


def test_a_speakers_id_is_only_cleaned_where_it_is_shown() -> None:
    (proposal,) = extract(transcript(("user", "## A\n-->nn", "I own a boat."))).proposals
    assert proposal.peer == "## A\n-->nn"
    assert proposal.claims[0].text == "A -- >nn owns a boat."


def test_a_bounded_number_of_lines_a_message() -> None:
    person = extract(transcript(("user", "Ann", " ".join(f"I own boat {n}." for n in range(500)))))
    assistant = extract(
        transcript(("assistant", None, " ".join(f"Boat {n} costs {n} euros." for n in range(500))))
    )
    assert len(claims(person)) == MAX_LINES_PER_MESSAGE
    assert len(claims(assistant)) == MAX_LINES_PER_ANSWER


def test_a_bounded_number_of_lines_an_archive() -> None:
    many = transcript(
        *[("user", "Ann", "\n".join(f"I own boat {n}-{i}." for i in range(40))) for n in range(80)]
    )
    assert len(claims(extract(many))) == MAX_CLAIMS


def test_turns_are_cited_by_their_seq_not_their_place() -> None:
    turn = Turn(seq=41, role="user", speaker="Ann", text="I own a boat.", at=AT)
    answer = extract(transcript().model_copy(update={"turns": (turn,)}))
    assert [(c.seq_from, c.seq_to) for c in claims(answer)] == [(41, 41)]
