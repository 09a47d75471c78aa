"""Extractive summaries: the title of a conversation, its abstract, and who talked when."""

from collections.abc import Sequence
from dataclasses import dataclass

from strandline.domain.rules.dates.calendar_words import day_text
from strandline.domain.rules.keywords import salience, themes
from strandline.domain.rules.lines import Line
from strandline.domain.rules.messages import Conversation
from strandline.domain.text import cut, is_unspaced, one_line

_MAX_TITLE = 80
_MAX_UNSPACED_TITLE = 24
_MAX_ABSTRACT_LINE = 300
_MAX_SPEAKERS = 8


@dataclass(frozen=True)
class Summary:
    """`title`: a few words; `abstract`: one or two sentences."""

    title: str
    abstract: str


def summarise(about: Conversation, lines: Sequence[Line]) -> Summary:
    """What a conversation was about, in its own lines; no part is ever empty."""
    name, topics = _title(about, lines)
    scores = salience(lines, about.names)
    return Summary(name, _abstract(about, topics, lines, scores))


def title_of(about: Conversation, lines: Sequence[Line]) -> str:
    """A few words on what a conversation was about."""
    return _title(about, lines)[0]


def _title(about: Conversation, lines: Sequence[Line]) -> tuple[str, str]:
    """The title, and the same as part of a sentence."""
    longest = max((line.said for line in lines), key=len, default="")
    if is_unspaced(longest):
        title = cut(one_line(longest).rstrip("。！!．."), _MAX_UNSPACED_TITLE)
        return title, title
    found = themes(lines, about.names)
    title = cut(one_line(", ".join(found)), _MAX_TITLE)
    return (title, cut(one_line(_listed(found)), _MAX_TITLE)) if title else ("conversation", "conversation")


def _abstract(about: Conversation, topics: str, lines: Sequence[Line], scores: Sequence[float]) -> str:
    """Who talked when about what, and the line that says most of it."""
    if not about.messages:
        return "Nobody spoke."
    spoke = f"{_who(about)} {'talked' if len(about.speakers) > 1 else 'wrote'} {_when(about)}"
    if not lines:
        return f"{spoke}; nothing was said that needs remembering."
    best = lines[scores.index(max(scores))]
    return f"{spoke} about {topics}. {one_line(best.text, _MAX_ABSTRACT_LINE)}"


def header(about: Conversation) -> str:
    """Who talked when, and in how many messages."""
    n = len(about.messages)
    said = f"{n} message{'s' * (n != 1)}"
    return f"{_who(about)}, {_when(about)}, {said}" if n else said


def _who(about: Conversation) -> str:
    names = [v.name for v in about.speakers[:_MAX_SPEAKERS]]
    others = ["others"] if len(about.speakers) > _MAX_SPEAKERS else []
    listed = _listed([*names, *others])
    return listed[0].upper() + listed[1:] if listed.startswith("the ") else listed


def _when(about: Conversation) -> str:
    first, last = (day_text(about.messages[i].turn.at.date()) for i in (0, -1))
    return f"on {first}" if first == last else f"from {first} to {last}"


def _listed(items: list[str]) -> str:
    return ", ".join(items[:-1]) + " and " + items[-1] if len(items) > 1 else "".join(items)
