"""Recognises what a person likes, dislikes, wants or avoids, and where in the sentence they name it."""

import re

from strandline.domain.rules.oneself import ADVERBS, BEING, SUBJECT, main_clauses
from strandline.domain.rules.patterns import any_of, compiled

_LIKE = any_of(
    "love like enjoy prefer hate dislike adore detest avoid crave loathe cherish favor favour fancy"
)
_PLEASURE = any_of("joy happiness peace so_much such a_lot_of lots_of comfort pleasure")
_ABOUT_THE_LISTENER = rf"(?! {any_of('your you how_you the_idea the_thought the_sound the_look')}\b)"
_ABOUT_NOTHING = rf"(?! {any_of('that this it these those them')}\b[.!]*\Z)"
_FAN = any_of("fan lover sucker believer addict enthusiast buff")
_RELATIVE = compiled(
    rf"\b({any_of('something things thing ones everyone someone all everything people memories')}) (?=(?:I|we)\b)"
)
_LIKING_OF = (
    rf"{SUBJECT}{_LIKE}\b{_ABOUT_NOTHING}{_ABOUT_THE_LISTENER}",
    rf"\bwe {ADVERBS}{any_of('love like enjoy prefer hate')}\b{_ABOUT_NOTHING}{_ABOUT_THE_LISTENER}",
    rf"{SUBJECT}{any_of('''don't do_not can't cannot never''')} {ADVERBS}"
    rf"(?:{any_of('like enjoy stand care_for eat drink use')}\b|want (?!to\b))",
    rf"{SUBJECT}{any_of('miss only_eat only_drink only_use only_wear rather')}\b",
    rf"\bI(?:['’]d| would) {ADVERBS}(?:prefer\b|rather (?!wait\b))",
    rf"\bI(?:['’]ve| have) always (?:loved|liked|enjoyed|hated|preferred)\b{_ABOUT_NOTHING}{_ABOUT_THE_LISTENER}",
    rf"\bI(?:['’]ve| have) always been {any_of('passionate into drawn a_fan fascinated obsessed')}\b",
    rf"{SUBJECT}find (?=\w+ (?:\w+ )?{any_of('relaxing boring calming fascinating annoying therapeutic soothing')}\b)",
    rf"{BEING}(?:not )?(?:kind of )?(?:an? )?(?:\w+ )?(?:\w+ )?fan of\b",
    rf"{BEING}all about (?!that\b)",
    rf"{BEING}(?:not )?(?:more |big |totally |super )?"
    + any_of(
        "into fond_of drawn_to crazy_about passionate_about obsessed_with hooked_on keen_on interested_in addicted_to"
    )
    + r"\b",
    r"\bmy (?:\w+ ){0,2}(?:fav|go-to)",
    rf"\bmy (?:\w+ )?{any_of('passion hobby hobbies escape pet_peeve')}\b",
    r"我(?:很|非常|也|更|最|不|都|真的|特别|比较|确实|还|只)*"
    r"(?:喜欢|喜歡|讨厌|討厭|偏好|偏爱|爱|愛|想要|热爱|享受|害怕|迷上)",
)
"""Behind these stands what is liked."""

_IS = r"(?:\b(?:is|are|was)|['’]s)"
_LIKED_BY = (
    rf"{_IS} (?:\w+ )?(?:one of |some of )?my (?:\w+ ){{0,2}}(?:fav|go-to)",
    rf"{_IS} (?:\w+ )?(?:not )?my (?:\w+ )?"
    + any_of("thing jam passion hobby hobbies escape haven cup_of_tea pet_peeve")
    + r"\b",
    rf"\bmy (?:\w+ )?{any_of('happy_place haven thing')}\b",
    rf"\b{any_of('bring brings give gives')} me {_PLEASURE}\b",
    rf"\b{any_of('make makes keep keeps help helps')} me (?:feel )?(?:so |really |more )?"
    + any_of("happy calm relaxed alive peaceful relax unwind motivated grounded free")
    + r"\b",
    rf"\b{any_of('relaxes calms soothes energizes')} me\b",
    r"\b(?:huge|big|important|integral) part of my life\b|\bpart of my life (?:ever )?since\b",
    rf"\b{any_of('escape outlet therapy therapeutic passion stress_reliever')} (?:for|to) me\b",
    rf"{BEING}(?:not )?(?:kind of )?(?:an? )?(?:\w+ )?(?:\w+ )?{_FAN}\b",
    r"(?:大好き|好き|嫌い|苦手|お気に入り|夢中|愛して|楽しんで|はまって|に興味)(?:です|だ|な|で|じゃ|では)?",
    r"좋아(?:해|하)|싫어(?:해|하)",
)
"""Before these stands what is liked."""

_GOAL = compiled(
    rf"\bmy (?:\w+ ){{0,2}}{any_of('dream goal ambition')}(?:['’]s| is| has always been)\b",
    rf"{SUBJECT}(?:dream of|aspire to|(?:want|hope|plan) to (?:be|become) an? |want to have (?:my own|a family|kids))",
    r"\bI(?:['’]ve| have) always (?:wanted|dreamed|dreamt)\b",
    r"\bI(?:['’]d| would) (?:really )?(?:love|like) to "
    + any_of("become learn visit travel live work own start have study")
    + r"\b",
)
_BEFORE, _BEHIND = compiled(*_LIKED_BY), compiled(*_LIKING_OF)
_OF_THE_LISTENER = compiled(r"\s*(?:你|您|あなた|당신)")

_POINTING = any_of("it it's its that that's this these those they they're their them he she him her")
_POINTS_BACK = compiled(
    rf"(?:and |but |so |yeah |definitely |also |plus |having |being with |seeing )*(?:{_POINTING}\b|one of my)",
    rf"here(?:['’]s| is| are)\b|there(?:['’]s| is| are)\b|{any_of('definitely totally')} ",
)
_POINTS_TO = compiled(
    rf"(?: {any_of('when how to having seeing all about being doing watching playing of so much like around with')})*"
    rf" (?:(?:{any_of('that this it these those them him her they')})\b|that\b)"
)


def liking(sentence: str) -> tuple[str, str] | None:
    """What a sentence names as liked or disliked, and the rest of it; None where it tells of no liking.

    None as well where it only points at what is liked (`I love it`, `They bring me joy`): that is understood beside
    what was said before, and nowhere else.
    """
    if _OF_THE_LISTENER.match(sentence):
        return None
    sentence = _RELATIVE.sub(r"\1 _", main_clauses(sentence))
    behind, before = _BEHIND.search(sentence), _BEFORE.search(sentence)
    if before is not None and (behind is None or before.start() < behind.start()):
        return None if _POINTS_BACK.match(sentence) else _around(sentence, before)
    if behind is None or _POINTS_TO.match(sentence, behind.end()):
        return None
    return None if behind.start() > 0 and _POINTS_BACK.match(sentence) else _around(sentence, behind)[::-1]


def _around(sentence: str, match: re.Match[str]) -> tuple[str, str]:
    return sentence[: match.start()], sentence[match.end() :]


def is_goal(sentence: str) -> bool:
    """Whether it tells what the speaker wants of life: a dream, a goal, a wish held for long."""
    return _GOAL.search(main_clauses(sentence)) is not None
