"""Turns what was said into lines that stand on their own, each with its source."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import date

from strandline.domain.extraction import Turn
from strandline.domain.rules.dates import gloss, resolve
from strandline.domain.rules.grammar import has_first_person, to_third_person
from strandline.domain.rules.sentences import Sentence, captions, sentences
from strandline.domain.rules.text import MAX_LINE, cut
from strandline.domain.rules.voices import Voice
from strandline.domain.rules.worth import (
    has_subject_matter,
    is_memorable_answer,
    is_prose,
    is_question,
    is_yes_or_no,
)

MAX_LINES_PER_MESSAGE = 40
"""Lines taken from one message of a person."""

MAX_LINES_PER_ANSWER = 8
"""Lines taken from one message of an assistant."""

_MAX_GROUP = 3
_MAX_GROUP_CHARS = 320
_MAX_QUESTION = 200
_ANAPHOR = re.compile(
    r"(?:and |but |so )?(?:it|it['’]s|its|that|that['’]s|this|these|those|they|they['’]re|he"
    r"|he['’]s|she|she['’]s|his|her|their|them|there|then|plus|also|which)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Question:
    """The last thing a turn asked, and the seq of that turn."""

    text: str
    seq: int


@dataclass(frozen=True)
class Line:
    """A line, where it was said, and the first sentence it was made from."""

    text: str
    said: str
    seq_from: int
    seq_to: int
    quote: str
    voice: Voice
    dated: bool
    is_caption: bool = False


def lines_of(turn: Turn, voice: Voice, asked: Question | None, names: Collection[str]) -> list[Line]:
    """The lines a turn is worth, in the order they were said; the first carries the question it answers."""
    kept = _kept(turn, voice, names)
    if not kept and asked:
        kept = [s for s in sentences(turn.text)[:1] if is_yes_or_no(s.text)]
    found = [_line(turn, voice, group) for group in _groups(kept)]
    if asked and found:
        found[0] = _with_question(found[0], asked)
    found += [_caption(turn, voice, c) for c in captions(turn.text)] if not voice.is_assistant else []
    return found[: MAX_LINES_PER_ANSWER if voice.is_assistant else MAX_LINES_PER_MESSAGE]


def question_of(turn: Turn, names: Collection[str]) -> Question | None:
    """The last question of a turn that asks more than how one is."""
    asked = [
        s.text for s in sentences(turn.text) if is_question(s.text) and has_subject_matter(s.text, names)
    ]
    return Question(asked[-1], turn.seq) if asked else None


def _kept(turn: Turn, voice: Voice, names: Collection[str]) -> list[Sentence]:
    return [
        s
        for s in sentences(turn.text)
        if not is_question(s.text)
        and is_prose(s.text)
        and has_subject_matter(s.text, names)
        and (not voice.is_assistant or is_memorable_answer(s.text))
    ]


def _groups(kept: list[Sentence]) -> Iterator[list[Sentence]]:
    """Sentences with those that lean on them: `It was hard` means nothing without the sentence before."""
    group: list[Sentence] = []
    for sentence in kept:
        if group and not _joins(group, sentence):
            yield group
            group = []
        group.append(sentence)
    if group:
        yield group


def _joins(group: list[Sentence], sentence: Sentence) -> bool:
    fits = len(group) < _MAX_GROUP and sentence.end - group[0].start <= _MAX_GROUP_CHARS
    return fits and _ANAPHOR.match(sentence.text) is not None


def _line(turn: Turn, voice: Voice, group: list[Sentence]) -> Line:
    at = turn.at.date()
    text, dated = _third_person(voice, group, at) or _quoted(voice, group, at)
    return Line(
        text=text,
        said=group[0].text,
        seq_from=turn.seq,
        seq_to=turn.seq,
        quote=turn.text[group[0].start : group[-1].end][:MAX_LINE],
        voice=voice,
        dated=dated,
    )


def _third_person(voice: Voice, group: list[Sentence], at: date) -> tuple[str, bool] | None:
    if voice.is_assistant or not has_first_person(group[0].text):
        return None
    resolved = [resolve(s.text, at) for s in group]
    told = [to_third_person(r.text, voice.name) for r in resolved]
    if None in told:
        return None
    return " ".join(t for t in told if t), any(r.dated for r in resolved)


def _quoted(voice: Voice, group: list[Sentence], at: date) -> tuple[str, bool]:
    glossed = [gloss(s.text, at) for s in group]
    said = " ".join(g.text for g in glossed).replace('"', "'")
    return f'{voice.at_start} said: "{said}"', any(g.dated for g in glossed)


def _with_question(line: Line, asked: Question) -> Line:
    question = cut(asked.text, _MAX_QUESTION).replace('"', "'")
    return replace(line, text=f'{line.text} (asked: "{question}")', seq_from=asked.seq)


def _caption(turn: Turn, voice: Voice, caption: Sentence) -> Line:
    text = f"{voice.at_start} shared an image: {caption.text.strip()}"
    return Line(text, caption.text, turn.seq, turn.seq, caption.text, voice, dated=False, is_caption=True)
