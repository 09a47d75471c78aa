"""The update by rules: what was said and done in the new messages, sorted into the sections. The same input gives the
same bytes, and a message that the document takes in already changes nothing.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from strandline.domain.extraction import Transcript
from strandline.domain.rules.extract import lines_said
from strandline.domain.rules.instructions import is_instruction
from strandline.domain.rules.lines import Line, question_of
from strandline.domain.rules.messages import Conversation, Message, conversation
from strandline.domain.rules.summary import header, title_of
from strandline.domain.rules.worth import is_request
from strandline.domain.text import cut, one_line
from strandline.domain.transcribing import transcribe
from strandline.domain.working_memory.document import Document, Section
from strandline.domain.working_memory.excerpts import both_ends
from strandline.domain.working_memory.filler import fillers, is_polite
from strandline.domain.working_memory.kinds import is_correction, is_learned, is_plan, is_result
from strandline.domain.working_memory.limits import SECTION_CHARS, SECTION_TOKENS, within_limits
from strandline.domain.working_memory.steps import Step, steps, touched
from strandline.domain.working_memory.telling import most_telling
from strandline.domain.working_memory.thresholds import Stored

MAX_REQUESTS = 8
"""Questions and requests taken from one range."""

_MAX_SAID = 300
_MAX_ASIDE = 140
_MAX_ACTIONS = 6
_MAX_SPEAKERS = 4
_FACTS_CHARS = SECTION_CHARS - 200
_FACTS_TOKENS = SECTION_TOKENS - 60
_SEQ = re.compile(r"\A\[\d+\] ")
_ASKED = re.compile(r"\A[^:`]{1,90} asked: ")


@dataclass(frozen=True)
class _Heard:
    """The new messages, as the rules see them."""

    messages: Sequence[Stored]
    about: Conversation
    lines: Sequence[Line]

    @cached_property
    def telling(self) -> list[Message]:
        """What was said, without what only keeps the conversation going."""
        passed = fillers(self.about)
        return [each for each in self.about.messages if each.turn.seq not in passed]

    @cached_property
    def steps(self) -> list[Step]:
        return steps(self.messages)

    @cached_property
    def calls(self) -> bool:
        """Whether an assistant is at work, to whom people say what they want: somebody without a name talks to one."""
        nameless = any(voice.peer is None for voice in self.about.speakers)
        return nameless or self.about.has_assistant or bool(self.steps)


def updated(before: Document, messages: Sequence[Stored]) -> Document:
    """The document with these stored messages, which are in order; those that it takes in already are passed over."""
    fresh = [message for message in messages if message["seq"] > before.through]
    if not fresh:
        return before
    heard = _hear(fresh)
    document = before
    for revise in _REVISIONS:
        document = revise(document, heard)
    return within_limits(replace(document, through=fresh[-1]["seq"]))


def _hear(messages: Sequence[Stored]) -> _Heard:
    about = conversation(Transcript(session_id="", archive=1, turns=tuple(transcribe(messages))))
    lines = [line for line in lines_said(about) if not is_polite(line.said, about.names)]
    return _Heard(messages, about, lines)


def _title(document: Document, heard: _Heard) -> Document:
    """The first range that is about something names the session."""
    if document.title or not heard.lines:
        return document
    return document.named(title_of(heard.about, heard.lines))


def _state(document: Document, heard: _Heard) -> Document:
    """Who said what last, what the last tool answered, and what is waited for. What nothing new is said of stays."""
    said = dict(filter(None, map(_voice_and_words, document.of("state"))))
    for message in (each for each in heard.telling if each.turn.text.strip()):
        said.pop(message.voice.at_start, None)  # whoever spoke last stands last
        said[message.voice.at_start] = f'"{one_line(message.turn.text, _MAX_SAID)}"'
    spoken = [f"{voice} last said: {words}" for voice, words in list(said.items())[-_MAX_SPEAKERS:]]
    kept = [old for old in document.of("state") if old.startswith("Last tool: ") and not heard.steps]
    return document.with_items("state", [*spoken, *kept, *_last_tool(heard.steps), *_waiting(heard.steps)])


def _voice_and_words(text: str) -> tuple[str, str] | None:
    voice, found, words = text.partition(" last said: ")
    return (voice, words) if found else None


def _last_tool(done: Sequence[Step]) -> Iterator[str]:
    last = next((step for step in reversed(done) if step.done is not None), None)
    if last is not None:
        yield f"Last tool: [{last.done}] {last.label}: {one_line(both_ends(last.output.strip(), 200))}"


def _waiting(done: Sequence[Step]) -> Iterator[str]:
    for step in done[-_MAX_SPEAKERS:]:
        if step.done is None:
            yield f"Waiting for the result of {step.label} [{step.seq}]"


def _task(document: Document, heard: _Heard) -> Document:
    """How it began, what was asked for, and what is planned."""
    began = [] if document.of("task") or document.through else list(_beginning(heard))
    asked = [
        line for line in heard.lines if heard.calls and not line.voice.is_assistant and is_request(line.said)
    ]
    plans = [line for line in heard.lines if is_plan(line) and line not in asked]
    wanted = sorted([*_requests(heard), *((line.seq_to, line.text) for line in (*asked, *plans))])
    return _grown(document, "task", [*began, *(text for _, text in wanted)])


def _beginning(heard: _Heard) -> Iterator[str]:
    first = next((m for m in heard.telling if not m.voice.is_assistant), None)
    if first is not None and heard.calls:
        yield f'{first.voice.at_start} began: "{one_line(first.turn.text, _MAX_SAID)}"'


def _requests(heard: _Heard) -> list[tuple[int, str]]:
    """What an assistant was asked, the last few, by seq."""
    if not heard.calls:
        return []
    people = [m for m in heard.about.messages if not m.voice.is_assistant]
    asked = [(m, q) for m in people if (q := question_of(m, heard.about)) is not None]
    return [(m.turn.seq, f"{m.voice.at_start} asked: {q.text}") for m, q in asked[-MAX_REQUESTS:]]


def _facts(document: Document, heard: _Heard) -> Document:
    """What was told and decided: of all the lines, old and new, those that say most of what the session is about."""
    told = [line.text for line in heard.lines if not (is_plan(line) or _elsewhere(line, heard))]
    pool = list(dict.fromkeys([*document.of("facts"), *told]))
    kept = most_telling(pool, heard.about.names, _FACTS_CHARS, _FACTS_TOKENS)
    gone = len(set(document.of("facts")) - set(kept))
    return document.with_items("facts", kept, document.left.get("facts", 0) + gone)


def _elsewhere(line: Line, heard: _Heard) -> bool:
    """Whether a line goes into another section."""
    asked = heard.calls and not line.voice.is_assistant and is_request(line.said)
    return asked or is_instruction(line.said) or is_learned(line) or is_result(line)


def _files(document: Document, heard: _Heard) -> Document:
    """Every file that was named, with what was done to it; what was touched last stands last."""
    known: dict[str, list[str]] = {}
    for old in document.of("files"):
        path, _, tools = old.removesuffix(")").partition(" (")
        known[path] = tools.split(", ") if tools else []
    for path, action in touched(heard.messages, heard.steps):
        actions = known.pop(path, [])
        known[path] = [*actions, *([action] if action and action not in actions else [])][-_MAX_ACTIONS:]
    return document.with_items("files", (_file(path, actions) for path, actions in known.items()))


def _file(path: str, actions: Sequence[str]) -> str:
    return f"{path} ({', '.join(actions)})" if actions else path


def _errors(document: Document, heard: _Heard) -> Document:
    """What tools failed at, and where people set an assistant right."""
    failed = [(s.done or s.seq, f"{s.label}: {error}") for s in heard.steps if (error := s.error)]
    corrected = [(m.turn.seq, f'{m.voice.at_start}: "{words}"') for m, words in _corrections(heard)]
    known = {_SEQ.sub("", old) for old in document.of("errors")}
    fresh: dict[str, int] = {}
    for seq, text in sorted([*failed, *corrected]):
        if text not in known:
            fresh.setdefault(text, seq)
    return _grown(document, "errors", [f"[{seq}] {text}" for text, seq in fresh.items()])


def _corrections(heard: _Heard) -> Iterator[tuple[Message, str]]:
    if not heard.calls:
        return
    for message in heard.telling:
        said = [one_line(s.text, _MAX_SAID) for s in message.sentences if is_correction(s.text)]
        if said and not message.voice.is_assistant:
            yield message, cut(" ".join(said[:3]), _MAX_SAID)


def _open(document: Document, heard: _Heard) -> Document:
    """What has failed and not gone well since, and the question that nobody has answered yet. What is settled goes into
    the key results."""
    waiting = {_SEQ.sub("", old): old for old in document.of("open")}
    questions = [text for text in waiting if _ASKED.match(text) and heard.about.messages]
    settled = [f"Answered: {waiting.pop(text)}" for text in questions]
    for step in heard.steps:
        if step.done is not None:
            settled += _tried(waiting, step)
    document = document.with_items("open", [*waiting.values(), *_unanswered(heard)])
    return _grown(document, "results", settled)


def _tried(waiting: dict[str, str], step: Step) -> list[str]:
    """Notes under `waiting` that a step has failed; answers what has waited for it to go well."""
    held = [text for text in waiting if text.startswith(f"{step.label} failed: ")]
    if not step.error:
        return [f"[{step.done}] Went well later: {waiting.pop(text)}" for text in held]
    if not held:
        text = f"{step.label} failed: {step.error}"
        waiting[text] = f"[{step.done}] {text}"
    return []


def _unanswered(heard: _Heard) -> Iterator[str]:
    for message in heard.about.messages[-1:]:
        question = question_of(message, heard.about)
        if question is not None:
            yield f"[{message.turn.seq}] {message.voice.at_start} asked: {question.text}"


def _learnings(document: Document, heard: _Heard) -> Document:
    """How things are to be done, and why they are as they are."""
    return _grown(
        document, "learnings", [x.text for x in heard.lines if is_instruction(x.said) or is_learned(x)]
    )


def _results(document: Document, heard: _Heard) -> Document:
    """What an assistant says has come of it, and what runs of tests have counted."""
    said = [(line.seq_to, line.text) for line in heard.lines if is_result(line)]
    ran = [(s.done or s.seq, f"[{s.done}] {s.label}: {text}") for s in heard.steps if (text := s.outcome)]
    return _grown(document, "results", [text for _, text in sorted([*said, *ran])])


def _worklog(document: Document, heard: _Heard) -> Document:
    """Who talked from which message to which, and every step."""
    first, last = heard.messages[0]["seq"], heard.messages[-1]["seq"]
    people = any(not message.voice.is_assistant for message in heard.about.messages)
    talk = [f"[{first}–{last}] {header(heard.about)}"] if people else []
    return _grown(document, "worklog", [*talk, *_taken(heard)])


def _taken(heard: _Heard) -> Iterator[str]:
    """A line for each message that called tools."""
    texts = {message.turn.seq: message.turn.text for message in heard.telling}
    by_seq: dict[int, list[Step]] = {}
    for step in heard.steps:
        if step.asked or step.done != step.seq:  # else it is a result without its call
            by_seq.setdefault(step.seq, []).append(step)
    for seq, taken in by_seq.items():
        labels = ", ".join(dict.fromkeys(step.label for step in taken))
        asked = next((step.asked for step in taken if not step.subject), "")
        aside = one_line(texts.get(seq, "") or asked, _MAX_ASIDE)
        yield f"[{seq}] {cut(labels, _MAX_SAID)}{': ' if aside else ''}{aside}"


def _grown(document: Document, section: Section, more: Iterable[str]) -> Document:
    return document.with_items(section, [*document.of(section), *more])


_REVISIONS: Sequence[Callable[[Document, _Heard], Document]] = (
    _title,
    _state,
    _task,
    _facts,
    _files,
    _errors,
    _open,
    _learnings,
    _results,
    _worklog,
)
