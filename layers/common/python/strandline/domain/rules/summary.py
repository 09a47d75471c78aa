"""Extractive summaries: the title of a conversation, its abstract, and its overview (the working memory)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from strandline.domain.rules.dates.calendar_words import day_text
from strandline.domain.rules.keywords import salience, themes
from strandline.domain.rules.lines import Line, question_of
from strandline.domain.rules.messages import Conversation
from strandline.domain.rules.patterns import compiled, words_of
from strandline.domain.text import cut, is_unspaced, one_line

MAX_OVERVIEW_TOKENS = 1800
"""Tokens of the lines of an overview, as `_tokens` counts them; headings and questions come on top."""

_MAX_TITLE = 80
_MAX_UNSPACED_TITLE = 24
_MAX_ABSTRACT_LINE = 300
_MAX_ITEM = 300
_MAX_QUESTIONS = 8
_MAX_SPEAKERS = 8
_PLAN = compiled(
    words_of(
        """
        will going_to gonna plan plans planning want_to wants_to need_to needs_to have_to hope_to hoping_to next soon
        upcoming todo to-do forward thinking_of thinking_about deadline
        """
    ),
    r"['’]ll\b|打算|计划|計劃|想要|つもり|予定|たい(?:です|と)",
)
_DECISION = compiled(
    words_of("decided decide decision agreed chose chosen settled we'll_go_with let's_go_with let's_use"),
    r"决定|決定|決めた|決めました",
)


@dataclass(frozen=True)
class Summary:
    """`title`: a few words; `abstract`: one or two sentences; `overview`: the working memory, in markdown."""

    title: str
    abstract: str
    overview: str


def summarise(about: Conversation, lines: Sequence[Line]) -> Summary:
    """What a conversation was about, in its own lines; no part is ever empty."""
    name, topics = _title(about, lines)
    scores = salience(lines, about.names)
    return Summary(
        name,
        _abstract(about, topics, lines, scores),
        _overview(about, name, lines, scores),
    )


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


def _overview(about: Conversation, name: str, lines: Sequence[Line], scores: Sequence[float]) -> str:
    kept = _most_telling(lines, scores)
    plans = [x for x in kept if _PLAN.search(x.said) and not _DECISION.search(x.said)]
    dated = [x for x in kept if x.dated and x not in plans]
    facts = [x for x in kept if x not in plans and x not in dated]
    sections = (
        *_section("Asked of the assistant", _requests(about)),
        *_section("Key facts and decisions", (x.text for x in facts)),
        *_section("Dates", (x.text for x in dated)),
        *_section("Plans", (x.text for x in plans)),
        *_section("Open questions", _open_questions(about)),
    )
    return "\n".join([f"# {name}", "", _header(about), *sections, ""])


def _section(name: str, found: Iterable[str]) -> list[str]:
    items = [f"- {one_line(text, _MAX_ITEM)}" for text in found]
    return ["", f"## {name}", *items] if items else []


def _most_telling(lines: Sequence[Line], scores: Sequence[float]) -> list[Line]:
    """As many lines as the budget holds, those that say most, in the order they were said."""
    left, kept = MAX_OVERVIEW_TOKENS, list[int]()
    for i in sorted(range(len(lines)), key=lambda i: (-scores[i], i)):
        left -= _tokens(lines[i].text[:_MAX_ITEM])
        if left < 0:
            break
        kept.append(i)
    return [lines[i] for i in sorted(kept)]


def _tokens(text: str) -> int:
    """About as many tokens as the text has: four ASCII characters, or two bytes of others, to a token."""
    ascii_only = len(text.encode("ascii", "ignore"))
    return 1 + ascii_only // 4 + (len(text.encode()) - ascii_only) // 2


def _requests(about: Conversation) -> list[str]:
    """What an assistant was asked, the last few."""
    if not about.has_assistant:
        return []
    people = [m for m in about.messages if not m.voice.is_assistant]
    asked = [(m.voice, q) for m in people if (q := question_of(m, about)) is not None]
    return [f"{voice.at_start} asked: {question.text}" for voice, question in asked[-_MAX_QUESTIONS:]]


def _open_questions(about: Conversation) -> list[str]:
    """The question the conversation ended with."""
    last = [(m.voice, q) for m in about.messages[-1:] if (q := question_of(m, about)) is not None]
    return [f"{voice.at_start} asked: {question.text}" for voice, question in last]


def _header(about: Conversation) -> str:
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
