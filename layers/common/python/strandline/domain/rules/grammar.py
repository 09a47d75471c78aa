"""Puts a sentence said in the first person into the third, where its grammar is certain enough."""

import re
from collections.abc import Collection

from strandline.domain.rules.lead import without_lead
from strandline.domain.rules.patterns import any_of, compiled, words_of
from strandline.domain.rules.verbs import (
    ADVERB,
    BASE,
    BASE_WITH_S,
    SUBJECTLESS,
    is_past,
    third_person,
)
from strandline.domain.rules.words import is_english, words

MAX_MENTIONS = 3
"""A sentence that would name its speaker more often than this is quoted instead."""

_FIRST_PERSON = re.compile(
    r"\b(?:I|i)(?:['’](?P<short>m|ve|ll|d))?(?!['’.\w])|\b(?P<word>my|me|mine)\b",
    re.IGNORECASE,
)
_UNSAFE = compiled(
    words_of(
        """
        we us our ours ourselves you your yours yourself u ur myself we're we've we'll we'd you're you've you'll you'd
        let's let_me I_and me_and and_me me_too me_neither
        """
    ),
    rf"\b{any_of('am do did have can should would could was had will than as')} I\b",
    rf"\b{any_of('war part chapter act type class phase level volume section')} I\b",
    r"[\"“”«»?]|:\s|https?://",
)
_INTRODUCTION = re.compile(
    r"(?P<being>I(?:['’]m| am)) (?P<name>[^\W\d_][\w'’-]*(?: [^\W\d_][\w'’-]*)??)"
    r"(?:, (?=(?:an?|the|\d+)\b)| (?=from )|(?P<and>,? and )(?=I\b))"
)
_NEXT_WORDS = re.compile(r" (?P<word>no longer|[A-Za-z]+(?:['’]t)?)(?![\w'’-])")
_COORDINATED = re.compile(
    r"(?:\b(?:and|or|but|then)|,) (?:\w+ly |then |also |just |still |always |never )?(?P<verb>[a-z]+(?:['’]t)?)\b"
)
_LEFT_OVER = re.compile(r"\b(?:I|me|my)\b")
_GERUND_SUBJECT = compiled(
    r"[\w ]{3,60} "
    + any_of("is was are were has have helps help makes make made gives gave keeps gets brings bring")
    + r"\b"
)
_CLAUSE = compiled(
    words_of("I is was are were has have had will can do does did"), r"['’](?:s|m|ve|re|ll|d)\b"
)
_JOINED = re.compile(r"\b(?:and|or) ", re.IGNORECASE)
_NEVER_AFTER_NAME = frozenset(("am", "don't", "haven't"))
_SHORT = {"m": " is", "ve": " has", "ll": " will"}
_PARTICIPLE = re.compile(r" (?:better|never |always |just |already )?(?:been|gone|done|seen|\w+ed)\b")


def to_third_person(sentence: str, name: str, listeners: Collection[str] = ()) -> str | None:
    """The sentence with `name` for I, me and my, its verbs agreeing; None where that is not certain to be right.

    A leading interjection and the name of a listener are left out. A sentence without first person is otherwise
    returned as it is: whose it is must then be clear from what stands before it.
    """
    sentence = _without_own_name(without_lead(sentence, listeners), name)
    if _UNSAFE.search(sentence) or not is_english(sentence) or not _has_subject(sentence):
        return None
    parts: list[str] = []
    end = mentions = 0
    while (match := _FIRST_PERSON.search(sentence, end)) is not None:
        replaced = None if _is_joined(sentence, match) else _replacement(sentence, match, name)
        mentions += 1
        if replaced is None or mentions > MAX_MENTIONS:
            return None
        text, after = replaced
        parts += [sentence[end : match.start()], text]
        end = after
    text = "".join([*parts, sentence[end:]])
    return None if _LEFT_OVER.search(text) else text[:1].upper() + text[1:]


def _without_own_name(sentence: str, name: str) -> str:
    """`I'm a nurse` for `I'm Ann, a nurse` and `I work` for `I'm Ann and I work`, as `Ann is Ann` tells nothing."""
    match = _INTRODUCTION.match(sentence)
    if match is None or match["name"] not in (name, name.split(" ", maxsplit=1)[0]):
        return sentence
    return sentence[match.end() :] if match["and"] else match["being"] + " " + sentence[match.end() :]


def has_first_person(sentence: str) -> bool:
    return _FIRST_PERSON.search(sentence) is not None


def _has_subject(sentence: str) -> bool:
    """Whether it does not begin like `Glad I came`, `Went home` or `Looking forward to it`."""
    first = (w for w in words(sentence) if w not in ADVERB)
    word = next(first, "")
    if word.endswith("ing"):
        return _GERUND_SUBJECT.match(sentence) is not None
    return word not in SUBJECTLESS and word not in BASE and word not in BASE_WITH_S and not is_past(word)


def _is_joined(sentence: str, match: re.Match[str]) -> bool:
    """Whether it is part of one subject: `my wife and I`. Behind a verb, `and I` begins a new clause."""
    at = match.start()
    joined = _JOINED.match(sentence, max(0, at - 4)) or _JOINED.match(sentence, max(0, at - 3))
    return joined is not None and joined.end() == at and _CLAUSE.search(sentence, 0, at) is None


def _replacement(sentence: str, match: re.Match[str], name: str) -> tuple[str, int] | None:
    """What stands for one mention of the speaker, and where the sentence goes on."""
    word = (match["word"] or "").casefold()
    if word in ("my", "mine"):
        return _possessive(name), match.end()
    if word == "me":
        return name, match.end()
    if match["short"]:
        if not _NEXT_WORDS.match(sentence, match.end()):
            return None
        return name + _contracted(sentence, match), match.end()
    return _with_verb(sentence, match.end(), name)


def _possessive(name: str) -> str:
    return name + ("'" if name.endswith("s") else "'s")


def _contracted(sentence: str, match: re.Match[str]) -> str:
    short = match["short"].lower()
    if short == "d":
        return " had" if _PARTICIPLE.match(sentence, match.end()) else " would"
    return _SHORT[short]


def _with_verb(sentence: str, at: int, name: str) -> tuple[str, int] | None:
    """`name` with the adverbs and the verb that follow `I`, the verb in the third person."""
    adverbs = ""
    while (match := _NEXT_WORDS.match(sentence, at)) is not None:
        word = match["word"].replace("’", "'")
        if word.casefold() not in ADVERB and word != "no longer":
            verb = third_person(word.casefold())
            if verb is None or _verb_goes_on(sentence, match.end(), changed=verb != word):
                return None
            return f"{name}{adverbs} {verb}", match.end()
        adverbs += f" {word}"
        at = match.end()
    return None


def _verb_goes_on(sentence: str, at: int, *, changed: bool) -> bool:
    """Whether what may be a second verb of the same subject follows: `I love it and go there often`."""
    verbs = [m["verb"].replace("’", "'") for m in _COORDINATED.finditer(sentence, at)]
    return any(v in _NEVER_AFTER_NAME or (changed and v in BASE) for v in verbs)
