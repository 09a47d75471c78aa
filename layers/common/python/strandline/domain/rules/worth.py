"""Decides which sentences say something that is worth keeping."""

import re
from collections.abc import Collection

from strandline.domain.rules.cheer import names_something
from strandline.domain.rules.courtesy import without_politeness
from strandline.domain.rules.grammar import has_first_person
from strandline.domain.rules.lead import is_reminder
from strandline.domain.rules.patterns import any_of, compiled, words_of
from strandline.domain.rules.verbs import BASE
from strandline.domain.rules.words import content, words
from strandline.domain.text import is_unspaced

_QUESTION = re.compile(r"[?？][\"'”’」』)\]\s!！]*\Z|(?:(?<![静豊確暖])(?<!や)か|吗|嗎|까요?|나요)[。.\s]*\Z")
_WHAT_ABOUT = re.compile(r"(?:\A|[，,])[^，,在还着正]{1,12}呢[。.\s]*\Z")
_TOLD_FIRST = re.compile(r"[^?？]{3,}[，、,](?:你|您|あなた|そちら)(?:呢|は)?[?？]\Z")
_OURS = compiled(words_of("we our let's"))
_TAGGED = re.compile(r"(?:I|We|My|Our)\b(?! (?:wonder|was wondering|guess))[^?,]{6,200}, ")
_NUMBER_OR_NAME = re.compile(r"\d|(?<=[\w,;] )[A-Z]\w+")
_PUNCTUATION = re.compile(r"[\W_]+")
_YES_OR_NO = compiled(
    any_of(
        """
        yes yeah yep yup no nope nah sure definitely absolutely of_course not_really not_yet never exactly totally
        certainly
        """
    )
    + r"\b",
    any_of("是的 是 不是 不 对 没有 有 はい いいえ ええ 네 아니요") + r"(?:[，。,、！!]|\Z)",
)
_ADVICE = compiled(
    words_of(
        """
        recommend recommended suggest suggested advise should try consider best need_to must make_sure remember avoid
        use deadline cost costs is_called found created booked scheduled confirmed updated fixed because means
        """
    ),
    any_of("建议 推荐 應該 应该 必须 已经 成功 おすすめ お勧め べき 추천"),
)
_OFFER = compiled(
    words_of(
        """
        let_me_know feel_free happy_to glad_to here_is here_are here's how_can_I I_can_help of_course certainly
        would_you_like I'll I_will let_me I'm_going_to I'm_sorry if_you_have if_you_need
        """
    ),
    any_of("请告诉我 很高兴 有什么 当然可以"),
    r"\b(?:any|some)thing else\b[^?]{0,60}\?",
)
_ACCENTED = re.compile(r"[^\W\d_a-z]")
_OPENING = compiled(r"(?:(?:yes|no|sure|certainly|of course|absolutely|definitely)[,!:]? )+")
_DO_SOMETHING = compiled(r"(?:[\w ,]{1,20}, )?(?:can|could|will|would) you\b(?! (?:be|have|need|know|get)\b)")
_LETTER = re.compile(r"[^\W\d_]")
_NOT_CODE = re.compile(r"https?://\S+|\*\*|\]\(")
_CODE_SIGN = re.compile(r"[{};=<>|\\*+#^~@&]|\w\(")
_MIN_CODE_SIGNS = 3
_MAX_CODE_SHARE = 0.07
_REQUEST_VERBS = BASE | frozenset(
    """
    add analyze arrange calculate check classify compare compile convert correct debug delete deploy describe
    design determine edit explain extract fix format generate identify implement insert install list merge
    optimize outline parse print provide put refactor remove rename replace reply rephrase rewrite set solve
    sort summarize test translate update upload use write
    """.split()
)
_MIN_LETTER_SHARE = 0.5
_SHORT = 16
_MIN_ANSWER_WORDS = 4


def is_question(sentence: str) -> bool:
    """Whether it only asks; `I got the job, can you believe it?` also tells something."""
    asks = _QUESTION.search(sentence) or _WHAT_ABOUT.search(sentence)
    tells = _TAGGED.match(sentence) or _TOLD_FIRST.match(sentence) or is_reminder(sentence)
    return asks is not None and not tells


def is_yes_or_no(sentence: str) -> bool:
    """Whether it begins with a yes or a no, which says something once the question is known."""
    return _YES_OR_NO.match(sentence) is not None


def has_subject_matter(sentence: str, names: Collection[str]) -> bool:
    """Whether more is left of a sentence than politeness once greetings, thanks, praise and `names` are gone."""
    if is_unspaced(sentence):
        return _PUNCTUATION.sub("", without_politeness(sentence)) != ""
    left = content(sentence, names)
    if len(left) == 1:
        return (
            has_first_person(sentence)
            or _OURS.search(sentence) is not None
            or names_something(sentence, names)
            or _ACCENTED.search(left[0]) is not None
        )
    return len(left) > 1


def asks_something(question: str, names: Collection[str]) -> bool:
    """Whether a question is about more than how one is: one word is enough for `Who supports you?`"""
    return has_subject_matter(question, names) or (
        not is_unspaced(question) and bool(content(question, names))
    )


def is_prose(sentence: str) -> bool:
    """Whether it reads as language: not a line of code, a log or a table, nor what only leads up to one."""
    letters = len(_LETTER.findall(sentence)) + sentence.count(" ")
    signs = len(_CODE_SIGN.findall(_NOT_CODE.sub("", sentence)))
    is_code = signs >= _MIN_CODE_SIGNS and signs > _MAX_CODE_SHARE * len(sentence)
    return (
        (len(sentence) < _SHORT or letters >= _MIN_LETTER_SHARE * len(sentence))
        and not is_code
        and not sentence.endswith((":", "："))
    )


def is_request(sentence: str) -> bool:
    """Whether it asks for something to be done: it begins with a verb, or with `please`."""
    if is_reminder(sentence):
        return False
    found = words(sentence)[:2]
    return bool(found) and (found[-1] if found[0] == "please" else found[0]) in _REQUEST_VERBS


def is_offer(sentence: str) -> bool:
    """Whether an assistant offers help, announces what it does, or excuses itself."""
    return _OFFER.search(sentence) is not None


def asks_to_know(question: str) -> bool:
    """Whether it wants to be told something, not have something made or done: `Can you write a poem?`"""
    return _DO_SOMETHING.match(question) is None


def is_answer(sentence: str) -> bool:
    """Whether an assistant's sentence says more than yes or no in answer to a question, and is no offer to help."""
    said = _OPENING.sub("", sentence, count=1)
    return not is_offer(said) and (is_unspaced(said) or len(words(said)) >= _MIN_ANSWER_WORDS)


def is_memorable_answer(sentence: str) -> bool:
    """Whether an assistant's sentence is concrete: it names, dates, counts or advises, and is no offer to help."""
    if is_offer(sentence):
        return False
    concrete = _NUMBER_OR_NAME.search(sentence) or _ADVICE.search(sentence)
    return concrete is not None and (is_unspaced(sentence) or len(words(sentence)) >= _MIN_ANSWER_WORDS)
