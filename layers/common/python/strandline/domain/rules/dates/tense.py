"""Whether a sentence tells of what was, of what will be, or of neither."""

from strandline.domain.rules.patterns import any_of, compiled, words_of
from strandline.domain.rules.verbs import is_past
from strandline.domain.rules.words import words

_PROGRESSIVE = (
    rf"(?:['’](?:m|re)|\b(?:am|is|are)) (?:{any_of('also currently still just now not')} )?\w{{1,20}}ing\b"
)
_FUTURE = compiled(
    words_of(
        """
        will won't going_to gonna plan plans planning upcoming coming tomorrow can't_wait forward soon about_to
        scheduled deadline due let's shall next hope hoping
        """
    ),
    r"['’]ll\b",
    _PROGRESSIVE,
)
_AGE = r"(?:\d{1,3}|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-\w+)?|\w+teen)"
_OF_THESE_DAYS = compiled(
    words_of(
        """
        just recently lately currently now nowadays these_days at_the_moment the_other_day a_while_ago earlier
        soon finally new started starting already so_far this_time anymore no_longer years_old
        """
    ),
    rf"(?:['’]m|\b(?:am|is|are|turned)) {_AGE}(?=\s*[.,!;]| (?:and|years?|months?|now)\b|\Z)",
    r"最近|近来|刚刚?|现在|現在|目前|目下|すでに|もうすぐ|요즘|지금|최근",
)
_OWN = compiled(words_of("I I'm I've I'd I'll my me we we're we've we'd we'll our us"))
_PAST_OF_BE = frozenset("was were had did didn't wasn't weren't hadn't".split())


def direction(sentence: str) -> int:
    """-1 where it tells of the past, 1 of the future, 0 where it does not say."""
    if _FUTURE.search(sentence):
        return 1
    return -1 if any(is_past(w) or w in _PAST_OF_BE for w in words(sentence)) else 0


def is_time_bound(sentence: str) -> bool:
    """Whether it is only understood with the day it was said: of a change, a plan or a state of the speaker."""
    if _OF_THESE_DAYS.search(sentence):
        return True
    return _OWN.search(sentence) is not None and direction(sentence) != 0
