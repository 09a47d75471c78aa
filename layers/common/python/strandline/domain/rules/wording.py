"""How a line is worded: in the third person with its dates resolved, or quoted with the dates in brackets."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date

from strandline.domain.rules.dates import gloss, resolve
from strandline.domain.rules.dates.calendar_words import day_text
from strandline.domain.rules.dates.tense import is_time_bound
from strandline.domain.rules.grammar import has_first_person, to_third_person
from strandline.domain.rules.messages import Conversation
from strandline.domain.rules.patterns import compiled, words_of
from strandline.domain.rules.voices import Voice
from strandline.domain.rules.words import is_foreign
from strandline.domain.text import is_unspaced

_YOU = compiled(words_of("you your yours yourself you're you've you'll you'd"))


@dataclass(frozen=True)
class Worded:
    """The text of a line; `dated` when what was said names its own date, `told` when it is not a quotation."""

    text: str
    dated: bool = False
    told: bool = False


def worded(said: Sequence[str], voice: Voice, at: date, about: Conversation) -> Worded:
    """What `voice` said on `at`, so that it can be understood by itself, later.

    A statement without a date of its own gets the day it was said behind it where it is only true of its time, and
    where it is in a language whose tenses are not known here.
    """
    line = _third_person(said, voice, at, about.names) or _quoted(said, voice, at, about)
    if line.dated or voice.is_assistant:
        return line
    if is_foreign(said[0]):
        return replace(line, text=line.text + _iso_date(said[0], at))
    if any(is_time_bound(s) for s in said):
        return replace(line, text=f"{line.text} ({day_text(at)})")
    return line


def asked(said: str, voice: Voice, at: date) -> Worded:
    """A request to an assistant."""
    text = _in_quotes(gloss(said, at).text)
    return Worded(f"{voice.at_start} asked: {text}")


def _quoted(said: Sequence[str], voice: Voice, at: date, about: Conversation) -> Worded:
    """What `voice` said, as it was said, relative dates explained in square brackets; and whom `you` means."""
    glossed = [gloss(s, at) for s in said]
    space = "" if is_unspaced(said[0]) else " "
    text = _in_quotes(space.join(g.text for g in glossed))
    listener = about.listener(voice) if _YOU.search(text) else None
    to = f" to {listener.name}" if listener else ""
    return Worded(f"{voice.at_start} said{to}: {text}", any(g.dated for g in glossed))


def with_question(line: str, question: str, short_answer: str) -> str:
    """A line with the question it answers, and with the yes or no that went before it, if any."""
    answered = f" – {_in_quotes(short_answer)}" if short_answer else ""
    return f"{line} (asked: {_in_quotes(question)}{answered})"


def _in_quotes(text: str) -> str:
    return '"' + text.replace('"', "'").replace("**", "") + '"'


def _third_person(said: Sequence[str], voice: Voice, at: date, listeners: Collection[str]) -> Worded | None:
    if voice.is_assistant or not has_first_person(said[0]):
        return None
    resolved = [resolve(s, at) for s in said]
    told = [to_third_person(r.text, voice.name, listeners) for r in resolved]
    if None in told:
        return None
    return Worded(" ".join(t for t in told if t), any(r.dated for r in resolved), told=True)


def _iso_date(said: str, at: date) -> str:
    return f"（{at.isoformat()}）" if is_unspaced(said) else f" ({at.isoformat()})"
