"""Tables of English words: what carries no subject matter, and what is only said to be polite."""

import re
from collections.abc import Iterable

from strandline.domain.rules.verbs import BASE
from strandline.domain.text import is_unspaced

FUNCTION = frozenset(
    """
    a an the and or but nor if then than because as until while of at by for with about against between
    into through during before after above below to from up down in out on off over under again further
    once here there when where why how all any both each few more most other some such no not only own
    same so too very s t can will just don should now d ll m o re ve y ain are aren is isn was wasn were
    weren be been being am have haven has hasn had hadn having do doesn does did didn doing i me my myself
    we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it
    its itself they them their theirs themselves what which who whom this that these those would could
    might must shall may also ever even still yet though although since per via upon onto cannot couldn
    wouldn shouldn won us im ive id ill youre thats dont cant didnt gonna wanna gotta
    """.split()
)

POLITE = frozenset(
    """
    hi hey hello hiya howdy yo greetings morning evening bye goodbye cya later see ya soon welcome thanks
    thank thx ty cheers please sorry oh ah aw aww awww ooh wow whoa woah yay yeah yep yup yes no nope nah
    ok okay okey sure right alright well hmm mm mhm uh um haha hahaha hehe lol lmao omg great good nice
    cool awesome amazing wonderful fantastic excellent perfect brilliant incredible lovely sweet neat
    super glad happy pleased appreciate appreciated congrats congratulations kudos bravo luck lucky best
    wishes sounds sound looks look really so much lot lots bunch totally absolutely definitely exactly
    indeed true agree agreed course problem worries pleasure anytime fine doing going hear hearing heard
    talk talking chat chatting catch meet know understand believe guess bet imagine hope wish enjoy fun
    have take care keep up work way go going thing things stuff day night today weekend time times that's
    it's i'm you're let's can't don't how's what's i'll i'd you'll you've i've there's wait proud
    inspiring inspiration interesting exciting excited impressive beautiful gorgeous cute adorable dude
    man buddy bro mate friend friends guys everyone let me us anything something everything new help kind
    like love feel think say said got get make made makes
    """.split()
)

INTERJECTION = frozenset(
    """
    hi hey hello thanks thank oh ah aw aww wow whoa yay yeah yep yup yes no nope ok okay sure right well
    hmm uh um haha hehe lol omg woah whoa man dude here so and but also anyway honestly actually btw plus
    great cool nice awesome woohoo woo hoo hooray hurray yippee yahoo bravo phew whew ugh gosh wowza
    """.split()
)

_ABROAD = frozenset(
    """
    salut bonjour bonsoir merci hola gracias buenos días hallo danke ciao grazie olá obrigado obrigada
    très oui sí danke schön bitte да нет хорошо понятно очень приятно
    привет спасибо здравствуйте merhaba teşekkürler hej tack cześć dziękuję
    """.split()
)
_CRY = re.compile(
    r"(?:a+h+|o+h+|a+w+|u+h+|h+m+|m+|w+o+w+|w+h?o+a*h*|y+a+y+|y+e+a+h*|y+e+s+|h+u+h+|[ae]?(?:h+(?:a+|e+|i+|o+))+h*)\Z"
)
"""Interjections however long they are drawn: `ahh`, `yaaay`, `hahaha`."""
_CAPITAL_I = re.compile(r"\bI\b")
_STATEMENT = 4
_SHARED = frozenset("a an as me no do so on in am is was man er her per des die".split())
"""Words that other languages written with these letters have too."""
_NOTHING_SAID = POLITE | INTERJECTION | _ABROAD
_COMMON = (FUNCTION | POLITE | INTERJECTION | BASE) - _SHARED
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def words(text: str) -> list[str]:
    """The words of a text in lower case, apostrophes made straight."""
    return _WORD.findall(text.replace("’", "'").casefold())


def content(text: str, without: Iterable[str] = ()) -> list[str]:
    """The words that say what a text is about: no function words, nothing merely polite, none of `without`."""
    drop = frozenset(without)
    return [w for w in words(text) if not _is_empty(w) and w not in drop and w.removesuffix("'s") not in drop]


def _is_empty(word: str) -> bool:
    stem = word.split("'", maxsplit=1)[0]
    return (
        bool({word, stem} & _NOTHING_SAID)
        or stem in FUNCTION
        or len(word) < 2
        or _CRY.match(word) is not None
    )


def is_english(text: str) -> bool:
    """Whether enough of the words are English function words to apply English grammar to them.

    Words that other languages have too only count beside one that they have not.
    """
    found = [w.split("'")[0] for w in words(text)]
    function = [w for w in found if w in FUNCTION]
    return any(w not in _SHARED for w in function) and len(function) * 6 >= len(found)


def is_foreign(text: str) -> bool:
    """Whether it is a statement in a language other than English: it has not one of the commonest English words."""
    if is_unspaced(text):
        return True
    if _CAPITAL_I.search(text):
        return False
    found = [w for w in words(text) if len(w) > 1]
    if not found or any(w.split("'")[0] in _COMMON for w in found):
        return False
    return len(found) >= _STATEMENT or not text.isascii()
