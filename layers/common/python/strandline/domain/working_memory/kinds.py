"""Which section a line goes into: what is planned, decided, corrected, learned, and what has come out."""

import re

from strandline.domain.rules.instructions import is_instruction
from strandline.domain.rules.lines import Line
from strandline.domain.rules.patterns import any_of, compiled, words_of

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
_CORRECTION = compiled(
    r"(?:no|nope|wait|stop|sorry|actually|not quite|wrong)\b[,.! ]",
    any_of(
        "that's_wrong that's_not that_is_wrong that_is_not i_meant i_said please_don't you_forgot you_missed"
    )
    + r"\b",
    r"(?:this|that|it) (?:is|was|does|did)(?:n['’]t| not) (?:right|correct|work|what)",
    r"(?:不对|不是|错了|应该是|其实|我说的是|違います|違う|間違)|.{0,40}(?:ではなく|じゃなくて|说错了)",
)
_LEARNED = compiled(
    words_of(
        """
        turns_out because root_cause the_reason_is the_problem_is the_issue_is caused_by due_to note_that keep_in_mind
        it_seems_that instead_of realized realised learned discovered lesson
        """
    ),
    r"原来|因为|原因是|実は|なぜなら|ために",
)
_RESULT = compiled(
    words_of(
        """
        passed failed fixed resolved completed finished done succeeded successfully submitted booked cancelled canceled
        refunded created deployed released merged works confirmed found reproduced
        """
    ),
    r"完成|成功|已经|修复|できました|完了|しました",
)
_DATED = re.compile(r"\b\d{1,2} [A-Z][a-z]+ \d{4}\b|\d{4}年|\d{1,2}月\d{1,2}日")


def is_plan(line: Line) -> bool:
    """Whether somebody says what is to happen, or wants it."""
    plan = _PLAN.search(line.said) is not None and not _DECISION.search(line.said)
    return plan and not line.voice.is_assistant and not is_instruction(line.said)


def is_learned(line: Line) -> bool:
    """Whether an assistant says why something is as it is."""
    return line.voice.is_assistant and _LEARNED.search(line.said) is not None


def is_result(line: Line) -> bool:
    """Whether an assistant says what has come out."""
    return line.voice.is_assistant and not is_learned(line) and _RESULT.search(line.said) is not None


def is_correction(sentence: str) -> bool:
    """Whether somebody sets an assistant right."""
    return _CORRECTION.match(sentence) is not None


def factor(text: str) -> float:
    """How much more a decision, or what has a date, is worth than other facts."""
    return (2.0 if _DECISION.search(text) else 1.0) * (1.3 if _DATED.search(text) else 1.0)
