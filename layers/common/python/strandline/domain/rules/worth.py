"""Decides which sentences say something that is worth keeping."""

import re
from collections.abc import Collection

from strandline.domain.rules.grammar import has_first_person
from strandline.domain.rules.text import is_unspaced
from strandline.domain.rules.words import content, words

_QUESTION = re.compile(r"[?？][\"'”’」』)\]\s!！]*\Z|(?:か|吗|呢|嗎|까요?|나요)[。.\s]*\Z")
_NAMED_OR_NUMBER = re.compile(r"\d|(?<=[\w,;] )[A-Z]\w+")
_POLITE_EAST_ASIAN = re.compile(
    r"你好|您好|大家好|嗨|哈喽|早上好|早安|下午好|晚上好|晚安|谢谢你?|謝謝你?|多谢|不客气|没关系"
    r"|没问题|好的?吧?|是的?|对的?|嗯+|哦+|啊+|哇+|喔+|哈+"
    r"|再见|拜拜|太好了|太棒了|真棒|真好|不错|很好|很高兴认识你|我也是|听起来很?(?:不错|好|棒|有趣)"
    r"|那很?(?:好|棒|有趣)|祝你好运|加油"
    r"|こんにちは|こんばんは|おはよう(?:ございます)?|ありがとう(?:ございます|ございました)?|どうも"
    r"|どういたしまして|すみません|ごめんなさい"
    r"|はい|いいえ|ええ|うん|うわー*|わー+|おー+|ああ|すごい|凄い|素晴らしい|素敵|いい|良い"
    r"|よかった|そう|なるほど|さようなら|またね|私も"
    r"|ですね?|でした|ます|ました|よ|ね|안녕하세요|안녕|감사합니다|고마워요?|네|아니요|좋아요|정말|와+",
)
_PUNCTUATION = re.compile(r"[\W_]+")
_YES_OR_NO = re.compile(
    r"\s*(?:yes|yeah|yep|yup|no|nope|nah|sure|definitely|absolutely|of course|not (?:really|yet)"
    r"|never|exactly|totally|certainly)\b"
    r"|\s*(?:是的?|不是|不|对|没有|有|はい|いいえ|ええ|네|아니요)(?:[，。,、！!]|\Z)",
    re.IGNORECASE,
)
_ADVICE = re.compile(
    r"\b(?:recommend|suggest|advise|should|try|consider|best|need to|must|make sure|remember|avoid"
    r"|use|deadline|cost|costs"
    r"|is called|found|created|booked|scheduled|confirmed|updated|fixed|because|means)\b"
    r"|建议|推荐|應該|应该|必须|已经|おすすめ|お勧め|べき|추천",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"\b(?:let me know|feel free|happy to|glad to|here (?:is|are)|here['’]s|how can i|i can help"
    r"|of course|certainly|would you like"
    r"|i['’]ll|i will|let me|i['’]m going to|i['’]m sorry|if you (?:have|need))\b|请告诉我|很高兴|有什么",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[^\W\d_]")
_MIN_LETTER_SHARE = 0.5


def is_question(sentence: str) -> bool:
    return _QUESTION.search(sentence) is not None


def is_yes_or_no(sentence: str) -> bool:
    """Whether it begins with a yes or a no, which says something once the question is known."""
    return _YES_OR_NO.match(sentence) is not None


def has_subject_matter(sentence: str, names: Collection[str]) -> bool:
    """Whether more is left of a sentence than politeness once greetings, thanks,
    praise and `names` are gone."""
    if is_unspaced(sentence):
        return len(_PUNCTUATION.sub("", _POLITE_EAST_ASIAN.sub("", sentence))) > 1
    left = content(sentence, names)
    if not left:
        return False
    return len(left) > 1 or has_first_person(sentence) or _NAMED_OR_NUMBER.search(sentence) is not None


def is_prose(sentence: str) -> bool:
    """Whether it reads as language: not a line of code, a log or a table."""
    letters = len(_LETTER.findall(sentence)) + sentence.count(" ")
    return letters >= _MIN_LETTER_SHARE * len(sentence)


def is_memorable_answer(sentence: str) -> bool:
    """Whether an assistant's sentence is concrete: it names, dates, counts or advises,
    and is no offer to help."""
    if _OFFER.search(sentence) or sentence.rstrip().endswith((":", "：")):
        return False
    concrete = _NAMED_OR_NUMBER.search(sentence) or _ADVICE.search(sentence)
    return concrete is not None and (is_unspaced(sentence) or len(words(sentence)) > 3)
