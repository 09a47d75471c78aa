"""Turns what was said into lines that stand on their own, each with its source."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from strandline.domain.graphemes import beginning
from strandline.domain.rules import wording
from strandline.domain.rules.cheer import is_cheer, only_points
from strandline.domain.rules.courtesy import is_courtesy
from strandline.domain.rules.dates import gloss
from strandline.domain.rules.messages import Conversation, Message
from strandline.domain.rules.patterns import any_of, compiled
from strandline.domain.rules.sentences import Sentence, captions
from strandline.domain.rules.voices import Voice
from strandline.domain.rules.worth import (
    asks_something,
    asks_to_know,
    has_subject_matter,
    is_answer,
    is_memorable_answer,
    is_offer,
    is_prose,
    is_question,
    is_request,
    is_yes_or_no,
)
from strandline.domain.text import MAX_LINE, cut

MAX_LINES_PER_MESSAGE = 40
"""Lines taken from one message of a person."""

MAX_LINES_PER_ANSWER = 5
"""Lines taken from one message of an assistant."""

_MAX_GROUP = 3
_MAX_GROUP_CHARS = 320
_MAX_QUESTION = 200
_ANAPHOR = compiled(
    r"(?:and |but |so )?"
    + any_of("it its that this these those they he his she her their them there then plus also which")
    + r"\b",
    any_of("他 她 它 这 這 那 但是 但 因为 所以 それ これ あれ 彼 でも だから その この あの"),
)


@dataclass(frozen=True)
class Question:
    """The last thing a message asked, and the seq of that message."""

    text: str
    seq: int


@dataclass(frozen=True)
class Line:
    """A line, where it was said, the first sentence it was made from, and all of them.

    `asked` is the question it answers; `dated`: it names its own date; `told`: it is in the third person, not a
    quotation.
    """

    text: str
    said: str
    seq_from: int
    seq_to: int
    quote: str
    voice: Voice
    dated: bool = False
    told: bool = False
    is_caption: bool = False
    whole: str = ""
    asked: str = ""


def lines_of(message: Message, question: Question | None, about: Conversation) -> list[Line]:
    """The lines a message is worth, in the order they were said; the first carries the question it answers."""
    kept = _told(message, question, about)
    if not kept and question and not message.voice.is_assistant:
        kept = [s for s in message.sentences[:1] if is_yes_or_no(s.text)]
    groups = [g for g in _groups(kept) if question or not _is_adrift(g, about)]
    found = [_line(message, group, about) for group in groups]
    if question and found:
        found[0] = _with_question(found[0], question, _short_answer(message, kept))
    if message.voice.is_assistant:
        return found[:MAX_LINES_PER_ANSWER]
    return [*found, *_shared_images(message)][:MAX_LINES_PER_MESSAGE]


def question_of(message: Message, about: Conversation) -> Question | None:
    """The last question of a message that asks more than how one is, its relative dates resolved.

    None where an assistant only offers more help.
    """
    for sentence in reversed(message.sentences):
        if message.voice.is_assistant and is_offer(sentence.text):
            return None
        if is_question(sentence.text) and asks_something(sentence.text, about.names):
            text = gloss(cut(sentence.text, _MAX_QUESTION), message.turn.at.date()).text
            return Question(text, message.turn.seq)
    return None


def _short_answer(message: Message, kept: list[Sentence]) -> str:
    """The yes or no a message begins with, unless it is part of a line anyway."""
    first = message.sentences[0]
    if message.voice.is_assistant or first in kept or not is_yes_or_no(first.text):
        return ""
    return first.text


def _told(message: Message, question: Question | None, about: Conversation) -> list[Sentence]:
    """What is worth keeping; of an assistant what is concrete, and what comes first in answer to a question."""
    kept = _kept(message, about)
    if not message.voice.is_assistant:
        return kept
    answers = question is not None and asks_to_know(question.text)
    return [
        s
        for i, s in enumerate(kept)
        if is_memorable_answer(s.text) or (answers and i == 0 and _answers(s, about))
    ]


def _answers(sentence: Sentence, about: Conversation) -> bool:
    return is_answer(sentence.text) and not is_cheer(sentence.text, about.names)


def _kept(message: Message, about: Conversation) -> list[Sentence]:
    return [
        s
        for s in message.sentences
        if not is_question(s.text)
        and is_prose(s.text)
        and has_subject_matter(s.text, about.names)
        and not is_courtesy(s.text, about.names)
        and (about.has_assistant or not is_cheer(s.text, about.names))
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


def _is_adrift(group: list[Sentence], about: Conversation) -> bool:
    """Whether it only says `it's the best` of something that is not in it."""
    return len(group) == 1 and only_points(group[0].text, about.names)


def _joins(group: list[Sentence], sentence: Sentence) -> bool:
    fits = len(group) < _MAX_GROUP and sentence.end - group[0].start <= _MAX_GROUP_CHARS
    return fits and _ANAPHOR.match(sentence.text) is not None


def _line(message: Message, group: list[Sentence], about: Conversation) -> Line:
    turn, voice = message.turn, message.voice
    said = [s.text for s in group]
    if about.has_assistant and not voice.is_assistant and is_request(said[0]):
        line = wording.asked(" ".join(said), voice, turn.at.date())
    else:
        line = wording.worded(said, voice, turn.at.date(), about)
    quote = beginning(turn.text[group[0].start : group[-1].end], MAX_LINE)
    return Line(
        line.text,
        said[0],
        turn.seq,
        turn.seq,
        quote,
        voice,
        dated=line.dated,
        told=line.told,
        whole=" ".join(said),
    )


def _with_question(line: Line, question: Question, short_answer: str) -> Line:
    text = wording.with_question(line.text, question.text, short_answer)
    return replace(line, text=text, seq_from=question.seq, asked=question.text)


def _shared_images(message: Message) -> Iterator[Line]:
    seq, voice = message.turn.seq, message.voice
    for caption in captions(message.turn.text):
        text = f"{voice.at_start} shared an image: {caption.text.strip()}"
        yield Line(text, caption.text, seq, seq, caption.text, voice, is_caption=True)
