"""What stands before a statement and is no part of it: `Yeah,`, `Oh wow!`, `Mel,`, `By the way,`."""

import re
from collections.abc import Collection

from strandline.domain.rules.words import INTERJECTION

_LEAD = re.compile(r"(?P<word>[^\W\d_]+)(?P<gap>[,!.;…–— -]+)")
_ALSO_WORDS = frozenset("so right great cool nice awesome no well sure here man".split())
"""Interjections that begin a statement as well: `So glad`, `No one`."""
_GREETED = re.compile(
    r"(?:hi|hey|hello|hiya|howdy) (?:there|all|again|everyone|everybody|folks|guys)(?: ?[,!.;…–—]+ *| - )",
    re.IGNORECASE,
)
_BY_THE_WAY = re.compile(r"(?:by the way|btw|fyi|anyway|speaking of which|also|plus)\b[,:]? ?", re.IGNORECASE)
_REMINDER = re.compile(
    r"(?:(?:can|could|will|would) you )?(?:please )?(?:remember|note|keep in mind|don['’]t forget)(?: that\b|:)[ ]?",
    re.IGNORECASE,
)


def is_reminder(sentence: str) -> bool:
    """Whether an assistant is asked to remember what the sentence goes on to say."""
    return _REMINDER.match(sentence) is not None


def without_lead(sentence: str, listeners: Collection[str]) -> str:
    """The sentence without leading interjections and names of listeners; never nothing."""
    aside = _BY_THE_WAY.match(sentence) or _REMINDER.match(sentence) or _GREETED.match(sentence)
    at = aside.end() if aside and aside.end() < len(sentence) else 0
    while (match := _LEAD.match(sentence, at)) is not None and match.end() < len(sentence):
        word = match["word"].casefold()
        set_off = match["gap"] != " "
        if not (word in INTERJECTION or (set_off and word in listeners)) or (
            word in _ALSO_WORDS and not set_off
        ):
            break
        at = match.end()
    return sentence[at:]
