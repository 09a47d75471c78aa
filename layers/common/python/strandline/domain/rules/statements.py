"""Recognises what a person says of themselves for good: who they are, what they like, how they want to be served."""

from strandline.domain.rules.patterns import any_of, compiled
from strandline.domain.rules.verbs import ADVERB

_ADVERBS = rf"(?:{any_of(' '.join(sorted(ADVERB)) + ' much do very so')} )*"
_MAIN_CLAUSE = "".join(
    rf"(?<!\b{word} )" for word in "where when since if because why how what that than while whenever".split()
)
_I = rf"{_MAIN_CLAUSE}\bI {_ADVERBS}"
_I_AM = rf"{_MAIN_CLAUSE}\bI(?:['’]m| am) {_ADVERBS}"
_KIN = any_of(
    """
    wife husband partner girlfriend boyfriend fiance fiancee fiancé fiancée son sons daughter daughters kid kids
    child children mom mum mother dad father parents brother brothers sister sisters siblings grandma grandpa
    grandmother grandfather twins family
    """
)

_LIKE = any_of("love like enjoy prefer hate dislike adore detest avoid crave")
_PLEASURE = any_of("joy happiness peace so_much such a_lot_of lots_of comfort")
_ABOUT_THE_LISTENER = rf"(?! {any_of('your you how_you the_idea the_thought the_sound the_look')}\b)"
_ABOUT_NOTHING = rf"(?! {any_of('that this it these those them')}\b[.!]*\Z)"
_PREFERENCE = compiled(
    rf"{_I}{_LIKE}\b{_ABOUT_NOTHING}{_ABOUT_THE_LISTENER}",
    rf"{_I}{any_of('''don't do_not can't cannot never''')} {_ADVERBS}"
    + any_of("like enjoy stand want care_for eat drink use")
    + r"\b",
    rf"{_I}{any_of('dream_of miss rather only_eat only_drink only_use only_wear')}\b",
    rf"\bI(?:['’]d| would) {_ADVERBS}{any_of('rather prefer')}\b",
    r"\bmy (?:\w+ ){0,2}(?:fav|go-to)",
    rf"\bmy (?:\w+ )?{any_of('thing passion hobby hobbies escape happy_place haven')}\b",
    rf"\b{any_of('bring brings give gives')} me {_PLEASURE}\b",
    rf"{_I_AM}(?:an? )?(?:\w+ )?(?:fan of|\w+ fan\b)",
    _I_AM
    + any_of("into fond_of drawn_to crazy_about passionate_about obsessed_with hooked_on keen_on")
    + r"\b",
    r"我(?:很|非常|也|更|最|不|都|真的|特别|比较)*(?:喜欢|喜歡|讨厌|討厭|偏好|偏爱|爱|愛|想要)",
    r"(?:大好き|好き|嫌い|苦手)(?:です|だ|な|で|じゃ|では)?|좋아(?:해|하)|싫어(?:해|하)",
)
_OF_THE_LISTENER = compiled(r"\s*(?:你|您|あなた|당신)")

_NOT_A_KIND = any_of("bit lot little mix part big huge total few true sure while good great")
_OF_KIN = (
    rf"(?:(?:['’]s| is| are) {any_of('a an the called named from in at')}"
    rf"| {any_of('works work lives live has have teaches died')})\b"
)
_OWN = any_of(
    """
    job day_job boss birthday degree major hometown home_town home_country house apartment company salary age
    dream goal name email phone phone_number address car bike
    """
)
_LIVING = any_of(
    """
    live work_as work_at work_for work_in work_with used_to_work study go_to_school go_to_college
    go_to_university grew_up was_born was_raised major_in majored graduated speak identify_as own
    """
)
_INSTRUMENT = any_of("guitar piano clarinet violin drums cello flute bass trumpet saxophone")
_STATE = any_of(
    """
    allergic from married single divorced engaged pregnant retired vegan vegetarian gay lesbian trans transgender
    bisexual studying training_to
    """
)
_SOME = rf"(?:(?:{any_of('a an one two three four five some')}|\d+) )?"
_POSSESSION = rf"(?:{_KIN}|{any_of('dog dogs cat cats pet pets job jobs degree degrees')})"
_PROFILE = compiled(
    r"\bcall me [A-Z]",
    rf"{_I_AM}{_STATE}\b",
    _I_AM + r"\d{1,3}\b(?!\s*[%x])",
    rf"{_I_AM}(?:still )?an? (?!{_NOT_A_KIND}\b)",
    rf"{_I}{_LIVING}\b",
    rf"{_I}play (?:the )?{_INSTRUMENT}\b",
    rf"{_MAIN_CLAUSE}\bI(?:['’]ve| have)(?: got)? {_SOME}(?:\w+ )?{_POSSESSION}\b",
    rf"\bmy (?:\w+ )?{_KIN}{_OF_KIN}",
    rf"\bmy (?:[\w'’]+ )?{_OWN}(?:['’]s| is| are| was)\b",
    r"我(?:是|叫|住在?|来自|來自|今年|有[一两二三四五六七八九十]?(?:个|個|只|隻|份))",
    r"我的(?:名字|工作|职业|妻子|丈夫|儿子|女儿|妈妈|爸爸|父母|家)",
    r"私(?:は|の)[^。]{1,20}(?:です|ています|住んで|働いて)|저는 [^.]{1,20}(?:입니다|이에요|예요|살)",
)

_INSTRUCTION = compiled(
    r"(?:please )?"
    + any_of(
        "always never from_now_on don't_use don't_add don't_write don't_ever do_not in_future in_the_future"
    )
    + r"\b",
    r".{0,200}\b" + any_of("from_now_on going_forward in_the_future at_all_times") + r"\b",
    r"(?:no,? )?(?:please )?use .{1,80} instead\b",
    r"(?:请|以后)(?:总是|始终|不要|别|用)",
)


def is_preference(sentence: str) -> bool:
    """Whether the speaker says what they like, dislike, want or avoid."""
    return _PREFERENCE.search(sentence) is not None and _OF_THE_LISTENER.match(sentence) is None


def is_profile(sentence: str) -> bool:
    """Whether the speaker states a lasting fact about themselves."""
    return _PROFILE.search(sentence) is not None


def is_instruction(sentence: str) -> bool:
    """Whether it tells an assistant how things are to be done from now on."""
    return _INSTRUCTION.match(sentence) is not None
