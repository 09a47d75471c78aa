from datetime import timedelta

from strandline.domain.extraction import Transcript
from strandline.domain.rules import extract
from tests.unit.rules.conversation import AT, transcript

TALK = transcript(
    (
        "user",
        None,
        "Hi! Our harbour festival is on 12 June. Can you suggest a name for the harbour festival?",
    ),
    ("assistant", None, "I recommend Tidefest as a name."),
    ("user", None, "We decided on Tidefest. I want to print posters for the harbour festival next week."),
    ("user", None, "What does a poster cost?"),
)


def test_the_abstract_says_who_talked_when_and_about_what() -> None:
    assert extract(TALK).abstract.startswith(
        "The user and the assistant talked on 8 May 2023 about harbour festival"
    )


def test_somebody_alone_writes() -> None:
    assert (
        extract(transcript(("user", "Ann", "I own a boat."))).abstract
        == "Ann wrote on 8 May 2023 about boat. Ann owns a boat."
    )


def test_a_conversation_over_several_days() -> None:
    first, second = (t.turns[0] for t in (transcript(("user", "Ann", "I own a boat.")),) * 2)
    second = second.model_copy(update={"seq": 2, "at": AT + timedelta(days=2)})
    days = Transcript(session_id="s1", archive=1, turns=(first, second))
    assert "from 8 May 2023 to 10 May 2023" in extract(days).abstract


def test_many_speakers_are_not_all_named() -> None:
    crowd = transcript(*[("user", f"Guest{n}", f"I own boat {n}.") for n in range(20)])
    assert "Guest7 and others talked" in extract(crowd).abstract
