"""`ports.Model`, `Summariser`, `Settler` and `Analyst` by a language model behind a chat endpoint: asks, waits where
the endpoint is busy, reads the answer.

An endpoint sends one request and never repeats it; repeating is done here and nowhere else, so what is counted is what
was sent. A request is repeated only while its answer could still come before the deadline. An answer that is not what
was asked for is not asked for again here: the attempt has failed, and the queue decides about another.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol

from strandline.domain.errors import AnswerCut, ExtractionFailed
from strandline.domain.extraction import Extraction, Transcript, Usage
from strandline.domain.language_model import analysis
from strandline.domain.language_model.answer import Answer, read
from strandline.domain.language_model.judging import read_verdict
from strandline.domain.language_model.meeting import question, read_ends
from strandline.domain.language_model.prompt import VERSION, Prompt, prompt
from strandline.domain.language_model.working_memory import question as notes
from strandline.domain.language_model.working_memory import read_update
from strandline.domain.learning.insight import Attempt, Insight
from strandline.domain.settlement import Meeting, Settlement
from strandline.domain.working_memory.update import Summary, Update
from strandline.ports import Clock, Ids

log = logging.getLogger(__name__)

MAX_CALLS = 5
FIRST_WAIT_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 20.0
_DAY_SECONDS = 86_400.0

Stop = Literal["complete", "cut", "refused"]


@dataclass(frozen=True)
class Reply:
    """What came back: the answer as JSON text or as an object, why it ends, and the tokens it cost."""

    answer: Answer | None
    stop: Stop
    input_tokens: int
    output_tokens: int


class Busy(Exception):
    """No answer now, perhaps a moment later. `retry_after` in seconds, where the endpoint says it."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class Rejected(Exception):
    """The endpoint will not answer this. `final` when it is the question's fault, not that of a key or a setting."""

    def __init__(self, reason: str, *, final: bool) -> None:
        super().__init__(reason)
        self.final = final


class Endpoint(Protocol):
    """A chat endpoint with one model. `name` says provider and model."""

    name: str

    def ask(self, question: Prompt) -> Reply:
        """Sends one request. Raises Busy or Rejected; their texts quote neither question, answer nor key."""


@dataclass(frozen=True)
class Patience:
    """Seconds: what one request may take, and all of them together with the waits between."""

    request: float
    total: float


def _untold(_: Usage) -> None:
    pass


class LanguageModel:
    """One model. It remembers nothing between archives. `spent` hears of what each question has cost, also of one that
    came to nothing."""

    def __init__(
        self,
        endpoint: Endpoint,
        patience: Patience,
        clock: Clock,
        ids: Ids,
        *,
        spent: Callable[[Usage], None] = _untold,
    ) -> None:
        self._endpoint = endpoint
        self._spent = spent
        self._patience = patience
        self._clock = clock
        self._ids = ids

    @property
    def name(self) -> str:
        """Names the extraction: who was asked, and by which instructions."""
        return f"{self._endpoint.name}/{VERSION}"

    def extract(self, transcript: Transcript) -> Extraction:
        reply, calls = self._ask(prompt(transcript))
        usage = self._usage(reply, calls)
        try:
            return self._read(reply, transcript).model_copy(update={"usage": usage})
        except ExtractionFailed as error:
            error.usage = usage
            raise

    def summarise(self, update: Update) -> Summary:
        reply, calls = self._ask(notes(update))
        usage = self._usage(reply, calls)
        try:
            self._expect_whole(reply)
            return Summary(read_update(reply.answer, update), usage)
        except ExtractionFailed as error:
            error.usage = usage
            raise

    def analyse(self, attempt: Attempt) -> Insight:
        reply, calls = self._ask(analysis.question(attempt))
        usage = self._usage(reply, calls)
        try:
            self._expect_whole(reply)
            approach, reflect, supersedes = analysis.read_points(reply.answer)
            verdict = read_verdict(reply.answer) if attempt.to_judge else None
        except ExtractionFailed as error:
            error.usage = usage
            raise
        return Insight(
            model=self.name,
            approach=approach,
            reflect=reflect,
            supersedes=supersedes,
            verdict=verdict,
            usage=usage,
        )

    def settle(self, meeting: Meeting) -> Settlement:
        try:
            reply = self._endpoint.ask(question(meeting))
        except (Busy, Rejected) as error:
            raise self._failed(error, 1, final=False) from error
        usage = self._usage(reply, 1)
        try:
            if reply.stop != "complete":
                raise ExtractionFailed(f"the model's answer was {reply.stop}")
            return Settlement(model=self.name, ends=read_ends(reply.answer, meeting), usage=usage)
        except ExtractionFailed as error:
            error.usage = usage
            raise

    def _usage(self, reply: Reply, calls: int) -> Usage:
        """What a reply has cost after that many requests."""
        spent = (reply.input_tokens, reply.output_tokens)
        name = self._endpoint.name
        log.info("%s answered (%s) after %d calls: %d tokens in, %d out", name, reply.stop, calls, *spent)
        usage = Usage(models=(name,), calls=calls, input_tokens=spent[0], output_tokens=spent[1])
        self._spent(usage)
        return usage

    def _read(self, reply: Reply, transcript: Transcript) -> Extraction:
        self._expect_whole(reply)
        return read(reply.answer, transcript, self.name)

    def _expect_whole(self, reply: Reply) -> None:
        if reply.stop == "refused":
            raise ExtractionFailed("the model refused to answer, or a filter stopped it")
        if reply.stop == "cut":
            raise AnswerCut("the model's answer does not fit into its output limit", final=True)

    def _ask(self, question: Prompt) -> tuple[Reply, int]:
        """The reply, and how many requests it took."""
        ends = self._clock.now() + timedelta(seconds=self._patience.total - self._patience.request)
        for calls in range(1, MAX_CALLS + 1):
            try:
                return self._endpoint.ask(question), calls
            except Busy as busy:
                log.warning("%s, call %d: %s", self._endpoint.name, calls, busy)
                self._wait(busy, calls, ends)
            except Rejected as error:
                raise self._failed(error, calls, final=error.final) from error
        raise AssertionError("unreachable: the last call either answers or raises")

    def _wait(self, busy: Busy, calls: int, ends: datetime) -> None:
        """Waits for the next call. Raises ExtractionFailed when there is no time for one."""
        wait = busy.retry_after if busy.retry_after is not None else self._backoff(calls)
        if calls == MAX_CALLS or self._clock.now() + timedelta(seconds=wait) > ends:
            raise self._failed(busy, calls, final=False) from busy
        self._clock.sleep(wait)

    def _backoff(self, calls: int) -> float:
        """Twice as long each time, half of it by chance, so that many workers do not come back together."""
        longest = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2.0 ** (calls - 1))
        return longest * (0.5 + self._ids.fraction() / 2)

    def _failed(self, error: Exception, calls: int, *, final: bool) -> ExtractionFailed:
        usage = Usage(models=(self._endpoint.name,), calls=calls)
        self._spent(usage)
        return ExtractionFailed(f"the model did not answer: {error}", final=final, usage=usage)


def busy_or_rejected(status: int, what: str, retry_after: float | None) -> Busy | Rejected:
    """What an HTTP status other than success means for the caller."""
    if status in (408, 425, 429) or status >= 500:
        return Busy(what, retry_after)
    return Rejected(what, final=status in (400, 413, 422))


def tokens(usage: Mapping[str, Any], name: str) -> int:
    """A count from an answer; 0 where it is none."""
    count = usage.get(name)
    return count if type(count) is int and count >= 0 else 0


def seconds(header: str | None, now: Callable[[], datetime]) -> float | None:
    """A `Retry-After` header in seconds from now: it is a number or a date. None where it is neither."""
    if header is None:
        return None
    try:
        wait = float(header) if header.strip()[:1].isdigit() else _until(header, now())
    except (ValueError, OverflowError):
        return None
    return min(max(0.0, wait), _DAY_SECONDS)


def _until(date: str, now: datetime) -> float:
    from email.utils import parsedate_to_datetime

    then = parsedate_to_datetime(date)
    return (then - now).total_seconds() if then.tzinfo else 0.0
