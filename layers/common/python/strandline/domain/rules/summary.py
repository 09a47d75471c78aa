"""Extractive summaries: the title of a conversation, its abstract, and its overview (the working memory)."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from strandline.domain.extraction import Transcript
from strandline.domain.rules.dates.calendar_words import day_text
from strandline.domain.rules.keywords import salience, themes
from strandline.domain.rules.lines import Line, question_of
from strandline.domain.rules.text import cut, is_unspaced, one_line
from strandline.domain.rules.voices import Voice, name_words, voice_of

MAX_OVERVIEW_TOKENS = 1800
"""Tokens of an overview, as estimated by `_tokens`, before its headings."""

_MAX_TITLE = 80
_MAX_UNSPACED_TITLE = 24
_MAX_ABSTRACT_LINE = 300
_MAX_LINE = 300
_MAX_REQUESTS = 10
_MAX_SPEAKERS = 8
_PLAN = re.compile(
    r"\b(?:will|going to|gonna|plan(?:s|ning)? |want(?:s|ed)? to|need(?:s)? to|hop(?:e|ing) to|next"
    r"|soon|upcoming|todo|to-do"
    r"|look(?:s|ing)? forward|thinking (?:of|about)|deadline)\b|['’]ll\b|打算|计划|計劃|想要|つもり"
    r"|予定|たい(?:です|と)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Conversation:
    """What is summarised: the archive, who speaks in it, and the lines taken from it."""

    transcript: Transcript
    speakers: list[Voice]
    lines: list[Line]

    @property
    def names(self) -> frozenset[str]:
        return name_words(self.speakers)


def title(about: Conversation) -> str:
    """A few words on what the conversation was about; never empty."""
    said = about.lines[0].said if about.lines else ""
    if is_unspaced(said):
        return cut(one_line(said), _MAX_UNSPACED_TITLE)
    return cut(one_line(_listed(themes(about.lines, about.names))), _MAX_TITLE) or "conversation"


def abstract(about: Conversation) -> str:
    """One or two sentences: who talked when about what, and the line that says most of it."""
    if not about.speakers:
        return "Nobody spoke."
    spoke = f"{_who(about)} {'talked' if len(about.speakers) > 1 else 'wrote'} {_when(about)}"
    if not about.lines:
        return f"{spoke}; nothing was said that needs remembering."
    scores = salience(about.lines, about.names)
    best = about.lines[scores.index(max(scores))]
    return f"{spoke} about {title(about)}. {one_line(best.text, _MAX_ABSTRACT_LINE)}"


def overview(about: Conversation) -> str:
    """The working memory: title, who and when, what was said, dates, plans and open questions, in markdown."""
    messages = len(about.transcript.turns)
    spoke = f"{_who(about)}, {_when(about)}, " if about.speakers else ""
    head = [f"# {title(about)}", "", f"{spoke}{messages} message{'s' * (messages != 1)}"]
    chosen = _chosen(about)
    sections = (
        ("Asked of the assistant", list(_requests(about))),
        ("Key facts and decisions", [x.text for x in chosen if not x.dated and not _PLAN.search(x.said)]),
        ("Dates", [x.text for x in chosen if x.dated]),
        ("Plans", [x.text for x in chosen if not x.dated and _PLAN.search(x.said)]),
        ("Open questions", list(_open_questions(about))),
    )
    return "\n".join([*head, *(line for name, found in sections for line in _section(name, found))]) + "\n"


def _section(name: str, found: Iterable[str]) -> list[str]:
    items = [f"- {one_line(text, _MAX_LINE)}" for text in found]
    return ["", f"## {name}", *items] if items else []


def _chosen(about: Conversation) -> list[Line]:
    """The lines that say most, as many as the budget holds, in the order they were said."""
    scores = salience(about.lines, about.names)
    left, kept = MAX_OVERVIEW_TOKENS, set[int]()
    for i in sorted(range(len(scores)), key=lambda i: (-scores[i], i)):
        left -= _tokens(about.lines[i].text[:_MAX_LINE])
        if left < 0:
            break
        kept.add(i)
    return [about.lines[i] for i in sorted(kept)]


def _tokens(text: str) -> int:
    """About as many tokens as the text has: four ASCII characters or two other bytes are one."""
    size = len(text.encode())
    wide = size - len(text.encode("ascii", "ignore"))
    return 1 + (size - wide) // 4 + wide // 2


def _requests(about: Conversation) -> Iterator[str]:
    """What the user asked an assistant, the last ones."""
    if not any(v.is_assistant for v in about.speakers):
        return
    turns = [(t, v) for t in about.transcript.turns if (v := voice_of(t)) and not v.is_assistant]
    asked = [(v, q) for t, v in turns if (q := question_of(t, about.names))]
    for voice, question in asked[-_MAX_REQUESTS:]:
        yield f"{voice.at_start} asked: {question.text}"


def _open_questions(about: Conversation) -> Iterator[str]:
    """The question the conversation ended with."""
    for turn in about.transcript.turns[-1:]:
        voice, question = voice_of(turn), question_of(turn, about.names)
        if voice and question:
            yield f"{voice.at_start} asked: {question.text}"


def _who(about: Conversation) -> str:
    names = [v.name for v in about.speakers[:_MAX_SPEAKERS]]
    if len(about.speakers) > _MAX_SPEAKERS:
        names.append("others")
    listed = _listed(names)
    return listed[0].upper() + listed[1:] if listed.startswith("the ") else listed


def _when(about: Conversation) -> str:
    days = [day_text(t.at.date()) for t in about.transcript.turns]
    return f"on {days[0]}" if days[0] == days[-1] else f"from {days[0]} to {days[-1]}"


def _listed(items: list[str]) -> str:
    return ", ".join(items[:-1]) + " and " + items[-1] if len(items) > 1 else "".join(items)
