"""prompt: what a model is to be given of a session before its next call, so that it fits.

in             a session, the model's window, limits, perhaps a query and what the last call cost
out            messages, the summary of those before them, memories; what was reduced, what was left out
commit point   CAS PUT of `context.json`, before an answer that rests on anything new is given
on duplicate   with nothing new said nothing is decided, nothing is written, and the same comes out
on crash       before the PUT nothing has happened. After it: what was decided is decided; a compaction that was to be
               asked for counts as lost when its time is over (pipeline/compaction.py)
cost           warm, with nothing new: two conditional GETs, besides those of the memories. Otherwise a PUT, and a GET
               of each object that has visible messages. What is covered by the summary is not read

Of two callers at once one writes first; the other makes its answer again from what the first has decided.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any

from strandline.domain.compaction import breaker
from strandline.domain.compaction.assembly import Ask, Assembled, Left, Room, Stored
from strandline.domain.compaction.left_out import left_out
from strandline.domain.compaction.limits import Limits, resolve
from strandline.domain.compaction.room import thresholds
from strandline.domain.compaction.sizes import overhead
from strandline.domain.compaction.state import ContextState, Pin, handed_out
from strandline.domain.errors import Aborted, StrandlineError
from strandline.domain.session import Head
from strandline.domain.transcribing import text_of
from strandline.domain.working_memory.thresholds import due
from strandline.pipeline import compaction
from strandline.pipeline.answer_size import within_answer
from strandline.pipeline.beside import About, Beside, WantedMemories, fitted, memories_for, summary_of
from strandline.pipeline.commit import no_session
from strandline.pipeline.compaction import Sought
from strandline.pipeline.library import Library
from strandline.pipeline.moment import Moment, now_or_then
from strandline.pipeline.visible import find_pin, pinned, read_visible, with_outputs
from strandline.pipeline.working_memory import ask_ahead, keeps_working_memory
from strandline.ports import StoreError
from strandline.storage.document import Change
from strandline.storage.layout import Life, User
from strandline.storage.log import ref

ATTEMPTS = 4


@dataclass(frozen=True)
class Wanted:
    """One call. `compaction` overrides the session's limits; `memories` None: none; `usage`: tokens and prompt
    fingerprint of the caller's last model call."""

    room: Room
    compaction: Mapping[str, Any] | None = None
    query: str | None = None
    memories: WantedMemories | None = field(default_factory=WantedMemories)
    usage: tuple[int, str] | None = None
    as_of: datetime | None = None
    acting_peer: str | None = None


@dataclass(frozen=True)
class Prompt:
    """The answer. `covered_through`: the seq up to which the summary stands for the messages; `left`: what is neither
    covered nor shown."""

    assembled: Assembled
    beside: Beside
    covered_through: int
    left: Sequence[Left]
    state: ContextState
    status: breaker.Status

    @property
    def degraded(self) -> bool:
        """Whether compaction has failed so often that only what needs no model is done."""
        return self.state.retry_at is not None


class _Moved(Exception):
    """The session has moved on since it was read."""


def run_prompt(services: Library, owner: User, session_id: str, wanted: Wanted) -> Prompt:
    """What fits. Of a time in the past nothing is written down, and nothing is asked for.

    Raises NotFound; InvalidArgument for a room without a token for messages; ValidationError for limits that do not go
    together; ContextBlocked when the context is too long and cannot be made shorter for now; Aborted, Unavailable.
    """
    for _ in range(ATTEMPTS):
        head = _head(services, owner, session_id)
        try:
            return _Call(services, owner, head, wanted).answer()
        except _Moved:
            continue
    raise Aborted("the session is changing too fast; repeat the request")


def _head(services: Library, owner: User, session_id: str) -> Head:
    found = services.heads.read_warm(owner.head(session_id))
    if found is None or found.value.buried_at:
        raise no_session(session_id)
    return found.value


@dataclass(frozen=True)
class _Given:
    """What the answer is made of besides the state: the same in every attempt to write it."""

    moment: Moment
    messages: Sequence[Stored]
    beside: Beside
    pin: Pin | None
    quiet: int
    read_from: int
    left: int | None
    """Tokens of the room that the newest user message leaves; None without a window."""


@dataclass(frozen=True)
class _Done:
    """What an attempt to write the state comes to, should it be the one that lands."""

    state: ContextState
    assembled: Assembled
    blocked: bool = False
    started: bool = False
    ahead: int | None = None
    """Up to where a working memory is to be made ahead of time."""


class _Call:
    """One answer, from one state of the session."""

    def __init__(self, services: Library, owner: User, head: Head, wanted: Wanted) -> None:
        self._services = services
        self._owner = owner
        self._head = head
        self._wanted = wanted
        self._limits: Limits = resolve(head.compaction, wanted.compaction)
        marks = thresholds(wanted.room)
        self._effective = marks.effective if marks else None
        self._key = Life(ref(head)).context
        self._known: tuple[ContextState, Assembled] | None = None

    def answer(self) -> Prompt:
        moment = now_or_then(self._services, self._head, self._wanted.as_of)
        if moment.past:
            state = ContextState(self._head.incarnation)
            given = self._given(moment, state)
            return self._prompt(given, _Done(state, self._assembled(given, state)))
        stored = self._services.contexts.read_warm(self._key)
        known = stored.value if stored else None
        given = self._given(moment, self._current(known))
        return self._prompt(given, self._decided(given, known))

    # ---- what does not depend on what was decided before

    def _given(self, moment: Moment, state: ContextState) -> _Given:
        services, head = self._services, moment.head
        visible = read_visible(moment.lines, self._effective, state.quiet_through)
        asks, messages, pin = visible.asks, visible.messages, state.pin
        looked = asks is None and visible.read_from > 0
        quiet = head.last_seq if looked else state.quiet_through
        if asks is None and messages and head.covered_archives:
            pin = find_pin(services, head, pin)
            asks = pinned(services, head, pin)
            messages = [asks, *messages] if asks else messages
        newest = asks["tokens"] + overhead(asks) if asks else 0
        left = None if self._effective is None else self._effective - newest
        beside = self._beside(moment, asks, left)
        return _Given(moment, messages, beside, pin, quiet, visible.read_from, left)

    def _beside(self, moment: Moment, asks: Stored | None, left: int | None) -> Beside:
        services, wanted, count = self._services, self._wanted, self._services.counter.count
        summary = fitted(summary_of(services, moment.head, moment.head.covered_archives), left, count)
        tokens = count(summary) if summary else 0
        query = wanted.query if wanted.query is not None else (text_of(dict(asks)) if asks else "")
        about = About(query, wanted.acting_peer, wanted.as_of)
        return Beside(summary, tokens, memories_for(services, self._owner, wanted.memories, about, left))

    # ---- what does, and what is decided now

    def _decided(self, given: _Given, known: ContextState | None) -> _Done:
        """What is answered, written down before. Raises ContextBlocked."""
        sought = self._sought(given, self._current(known))
        try:
            done = self._written(given, known, sought)
        except BaseException:
            self._let_go(sought)
            raise
        if sought is not None and done.started:
            compaction.start(self._services, self._head, sought)
        else:
            self._let_go(sought)
        if done.blocked:
            raise compaction.refusal(self._services, self._head, done.state)
        if done.ahead is not None:
            with suppress(StoreError):
                ask_ahead(self._services, ref(self._head), done.ahead)
        return done

    def _written(self, given: _Given, known: ContextState | None, sought: Sought | None) -> _Done:
        change = partial(self._change, given=given, sought=sought)
        first = change(known)
        if first.value is None:
            return first.result
        return self._services.contexts.update(self._key, change, absent=known is None)

    def _change(
        self, current: ContextState | None, *, given: _Given, sought: Sought | None
    ) -> Change[ContextState, _Done]:
        now, heal = self._services.clock.now(), self._services.rules.heal_seconds
        known = self._current(current)
        base = replace(known, pin=given.pin, quiet_through=max(known.quiet_through, given.quiet))
        seen = self._assembled(given, base)
        blocked = self._blocked(base, seen)
        given_out = handed_out(seen.state, given.beside.memories.experiences, self._head.last_seq)
        after = base if blocked else given_out  # what is not sent is not decided
        waits = breaker.under_way(base, self._head, now, heal) or breaker.is_open(base, now)
        started = sought is not None and not waits
        if sought is not None and started:
            after = breaker.asked(after, sought.compaction, now)
        ahead = None if blocked else self._ahead(given, base)
        after = after if ahead is None else replace(after, summarised_through=ahead)
        same = after == (current or ContextState(self._head.incarnation))
        return Change(None if same else after, _Done(after, seen, blocked, started, ahead))

    def _current(self, state: ContextState | None) -> ContextState:
        """The state as the head has it. Raises _Moved when the state knows of a later head."""
        known = state or ContextState(self._head.incarnation)
        if known.covered_through > self._head.covered_through:
            raise _Moved
        return breaker.moved(known, self._head)

    def _assembled(self, given: _Given, state: ContextState) -> Assembled:
        if self._known is not None and self._known[0] == state:
            return self._known[1]
        services, budget = self._services, self._limits.tool_result_budget
        whole = [with_outputs(services, self._head, each, state, budget) for each in given.messages]
        ask = Ask(
            self._wanted.room,
            self._limits,
            self._wanted.as_of if given.moment.past and self._wanted.as_of else services.clock.now(),
            self._wanted.usage,
            given.beside.tokens,
            given.beside.chars,
        )
        seen = within_answer(whole, ask, state, services.counter.count)
        self._known = (state, seen)
        return seen

    # ---- compaction

    def _sought(self, given: _Given, state: ContextState) -> Sought | None:
        """The compaction to ask for, if the context is long enough for one. Raises nothing: there will be another
        call."""
        auto = self._limits.auto_compact
        pressure = self._assembled(given, replace(state, pin=given.pin)).pressure
        if pressure == "none" or not auto.enabled:
            return None
        old = [message for message in given.messages if message["seq"] > self._head.covered_through]
        last = compaction.through(old, auto, given.left)
        with suppress(StoreError, StrandlineError):
            return compaction.seek(self._services, self._head, state, last, auto)
        return None

    def _ahead(self, given: _Given, state: ContextState) -> int | None:
        """Up to where a working memory is worth making now, so that little is left to read when it is needed."""
        if not keeps_working_memory(self._head):
            return None
        first = max(self._head.covered_through + 1, given.read_from)
        fresh = [message for message in given.messages if message["seq"] >= first]
        return due(fresh, max(state.summarised_through, state.covered_through))

    def _let_go(self, sought: Sought | None) -> None:
        if sought is not None:
            compaction.drop(self._services, self._head, sought)

    def _blocked(self, state: ContextState, seen: Assembled) -> bool:
        enabled = self._limits.auto_compact.enabled
        return enabled and state.retry_at is not None and seen.pressure == "blocking"

    def _prompt(self, given: _Given, done: _Done) -> Prompt:
        head, seen = given.moment.head, done.assembled
        span = (head.covered_through + 1, head.last_seq)
        now, heal = self._services.clock.now(), self._services.rules.heal_seconds
        return Prompt(
            assembled=seen,
            beside=given.beside,
            covered_through=head.covered_through,
            left=left_out(span, seen.messages, seen.left, given.read_from),
            state=done.state,
            status=breaker.status(done.state, self._head, now, heal),
        )
