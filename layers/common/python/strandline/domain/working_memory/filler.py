"""What keeps a conversation going and says nothing: greetings, thanks, `ok`, an emoji, an offer to help.

A `yes` or an `ok` says something where it is the answer to a question and nobody has gone on since; thanks never do.
"""

import re
from collections.abc import Collection

from strandline.domain.rules.courtesy import is_courtesy, without_politeness
from strandline.domain.rules.messages import Conversation, Message
from strandline.domain.rules.words import words
from strandline.domain.rules.worth import has_subject_matter, is_offer, is_question
from strandline.domain.text import is_unspaced

_HEARD = frozenset(
    """
    ok okay okey k kk fine cool great nice good perfect awesome amazing excellent wonderful brilliant lovely wow oh
    ah aha hm hmm mm mhm lol haha hahaha hehe yay right alright all yes yeah yep yup no nope sure got it i see sounds
    understood indeed exactly true too so very well that that's it's is np thanks thank thx ty you for asking hi
    hello hey hiya bye goodbye
    """.split()
)
_SAYS = re.compile(r"[^\W_]")


def fillers(about: Conversation) -> Collection[int]:
    """Seqs of the messages that say nothing."""
    polite = {m.turn.seq for m in about.messages if all(is_polite(said, about.names) for said in _said(m))}
    telling = [m for m in about.messages if m.turn.seq not in polite]
    found = {m.turn.seq for m in telling if all(_only_hears(said, about.names) for said in _said(m))}
    if len(telling) > 1 and _asks(telling[-2]):
        found.discard(telling[-1].turn.seq)
    return polite | found


def is_polite(sentence: str, names: Collection[str]) -> bool:
    """Whether it thanks, greets or offers help and says nothing besides, whatever was asked."""
    return (is_courtesy(sentence) or is_offer(sentence)) and not has_subject_matter(sentence, names)


def _said(message: Message) -> list[str]:
    return [s.text for s in message.sentences] or [message.turn.text]


def _asks(message: Message) -> bool:
    return any(is_question(said) and not is_offer(said) for said in _said(message))


def _only_hears(sentence: str, names: Collection[str]) -> bool:
    if is_unspaced(sentence):
        return not _SAYS.search(without_politeness(sentence))
    return not has_subject_matter(sentence, names) and _HEARD.issuperset(words(sentence))
