"""Clients: what each of them asks for, one request after the other, and what it makes of the answers.

A client whose request gets no clear answer sends the same request again, a few times. Everything it was told, and
everything it never was, goes into the history.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeVar

from strandline.domain.auto_commit import AutoCommitPolicy
from strandline.domain.contracts import AppendRequested, CommitRequested, SessionRef
from strandline.domain.errors import Aborted, AlreadyExists, NotFound, StrandlineError
from strandline.domain.message import MessageIn, ToolPart
from strandline.domain.repeat import Repeat
from strandline.pipeline import archive, context, memory, session, task
from strandline.pipeline.append import Appended, AppendRequest, run_append
from strandline.pipeline.commit import Committed, run_commit
from strandline.pipeline.library import Library
from strandline.pipeline.memory import anything
from strandline.ports import Ambiguous, StoreError
from strandline.storage.layout import User
from tests.sim import history
from tests.sim.world import NoAnswer, World

T = TypeVar("T")

TRIES = 4
EVERYTHING = archive.Window(limit=10_000)
TOPICS = ("tea", "sport")
LONG = "a long output of a tool, line by line\n" * 12


class Unclear(Exception):
    """No answer, or only such as say that the request may be repeated, as often as the client had patience for."""


class Client:
    """One client of one user. Its message ids begin with its name."""

    def __init__(self, world: World, name: str, owner: User) -> None:
        self.world = world
        self.name = name
        self.owner = owner
        self._made = 0
        self._tries = 0  # how often the last request was sent
        self._canary = world.history.canaries.setdefault(owner, f"canary {owner.account_id} {owner.user_id}")

    def _ask(self, function: str, work: Callable[[Library], T]) -> T:
        """The answer to a request. Raises Unclear, and errors that repeating would not change."""
        for attempt in range(TRIES):
            self._tries = attempt + 1
            if attempt:
                self.world.scheduler.sleep(0.3 * 2**attempt)
            try:
                answer = self.world.invoke(function, work)
            except NoAnswer:
                continue
            except StrandlineError as error:
                gives_up = isinstance(error, Aborted) and self._tries == 1 and self._made % 2 == 0
                if error.retryable and not gives_up:
                    continue
                raise
            if self._heard(function):
                return answer
        raise Unclear

    def _heard(self, function: str) -> bool:
        try:
            self.world.network.call("client.answer", function, lambda: None)
        except Ambiguous:
            return False
        return True

    def rest(self) -> None:
        """Nothing, for a while."""
        self.world.scheduler.sleep(5)

    # ---- messages

    def messages(self, count: int, *, named: bool = True, of_tool: bool = False) -> Sequence[MessageIn]:
        """New messages. Two of three become a memory line."""
        return [self._message(named=named, of_tool=of_tool) for _ in range(count)]

    def _message(self, *, named: bool, of_tool: bool) -> MessageIn:
        self._made += 1
        identity = f"{self.name}-{self._made}"
        text = f"{self._canary} said {identity}"
        known = {"id": identity} if named else {}
        if of_tool:
            part = ToolPart(type="tool", tool_id=identity, tool_name="look", tool_output=f"{text}\n{LONG}")
            return MessageIn(role="assistant", parts=[part], **known)
        topic = (*TOPICS, "")[self._made % 3]
        return MessageIn(role="user", content=f"{topic}: {text}" if topic else text, **known)

    def append(self, name: str, count: int = 1, *, twin: bool = False, of_tool: bool = False) -> None:
        """Messages with ids of their own; as a `twin` the request is under way twice."""
        self._append(AppendRequest(self.owner, name, self.messages(count, of_tool=of_tool)), twin=twin)

    def append_keyed(self, name: str, count: int = 1, *, twin: bool = False) -> None:
        """Messages without ids, known by the key of their request."""
        key = f"{self.name} key {self._made}"
        self._append(
            AppendRequest(self.owner, name, self.messages(count, named=False), repeat_key=key), twin=twin
        )

    def _append(self, request: AppendRequest, *, twin: bool) -> None:
        world, started = self.world, self.world.scheduler.step
        sent = request.named(lambda: "never")
        ids, texts = [str(m.id) for m in sent], [m.content or "" for m in sent]
        work = partial(run_append, request=request)
        if twin:
            self._note_attempt(request.session_id, ids, texts)
            world.scheduler.spawn(f"{self.name}'", partial(self._unheard, "append", work))
        try:
            done: Appended = self._ask("append", work)
        except Aborted:
            world.history.append(history.Aborted(self.owner, request.session_id, ids, world.scheduler.step))
            return
        except (Unclear, StrandlineError):
            self._note_attempt(request.session_id, ids, texts)
            return
        receipts = [(receipt.id, receipt.seq) for receipt in done.receipts]
        at = world.scheduler.step
        of = (self.owner, request.session_id, done.head.incarnation)
        world.history.append(history.Acked(*of, receipts, at, ids, texts, started))

    def _note_attempt(self, name: str, ids: Sequence[str], texts: Sequence[str]) -> None:
        self.world.history.append(history.Attempted(self.owner, name, ids, self.world.scheduler.step, texts))

    def _unheard(self, function: str, work: Callable[[Library], object]) -> None:
        try:
            self.world.invoke(function, work)
        except (NoAnswer, StrandlineError):
            return

    def ingest(self, name: str, count: int = 1) -> None:
        """Messages by the queue; sent again until the queue has confirmed them."""
        sent = self.messages(count)
        ids, texts = [str(m.id) for m in sent], [m.content or "" for m in sent]
        request = AppendRequested(
            type="AppendRequested",
            version=1,
            account_id=self.owner.account_id,
            user_id=self.owner.user_id,
            session_id=name,
            messages=list(sent),
            idempotency_key=f"{self.name} {ids[0]}",
        )
        self._note_attempt(name, ids, texts)
        if self._send("ingest", request):
            at = self.world.scheduler.step
            self.world.history.append(history.Queued(self.owner, name, ids, at, self.world.scheduler.now))

    def _send(self, queue: str, request: object) -> bool:
        for attempt in range(TRIES):
            try:
                self.world.ports[queue].send(request)
            except StoreError:
                self.world.scheduler.sleep(0.3 * 2**attempt)
                continue
            return True
        return False

    # ---- commits

    def commit(self, name: str, keep: int = 0, *, keyed: bool = False) -> None:
        key = f"{self.name} commit {len(self.world.history.records)}"
        repeat = Repeat(key, "2026-01-01T00:00:00.000Z") if keyed else None
        work = partial(run_commit, whose=self._ref(name), keep_recent_count=keep, repeat=repeat)
        try:
            done = self._ask("api", work)
        except (Unclear, StrandlineError):
            self._note_unclear(name)
            return
        if self._tries > 1:
            self._note_unclear(name)
        if isinstance(done, Committed):
            made = done.archive
            of = (self.owner, name, done.session.incarnation)
            self.world.history.append(history.Committed(*of, made.number, made.first, made.last))

    def commit_later(self, name: str, keep: int = 0) -> None:
        """A commit by the queue."""
        self._note_unclear(name)
        self._send("commit", CommitRequested(session=self._ref(name), keep_recent_count=keep))

    def _note_unclear(self, name: str) -> None:
        self.world.history.append(history.CommitUnclear(self.owner, name))

    def _ref(self, name: str) -> SessionRef:
        return SessionRef(account_id=self.owner.account_id, user_id=self.owner.user_id, session_id=name)

    # ---- tasks and memories

    def call_off(self, name: str, *, again: bool = False) -> None:
        """Cancels the newest task of a session, and has it done `again` after a while."""
        task_id = self.world.newest_task(self.owner, name)
        if task_id is None:
            return
        with suppress(Unclear, StrandlineError):
            self._ask("api", lambda library: task.cancel(library, self.owner, task_id))
        if again:
            self.rest()
            with suppress(Unclear, StrandlineError):
                self._ask("api", lambda library: task.retry(library, self.owner, task_id))

    def edit(self, topic: str) -> None:
        """Somebody's own words take the place of a memory."""
        self._change(topic, lambda library, path: memory.write(library, self.owner, path, "mine\n", anything))

    def forget(self, topic: str) -> None:
        """A memory is deleted."""
        self._change(topic, lambda library, path: memory.delete(library, self.owner, path, anything))

    def _change(self, topic: str, work: Callable[[Library, str], object]) -> None:
        path = f"preferences/{topic}.md"
        self.world.history.append(history.Edited(self.owner, path))
        with suppress(Unclear, StrandlineError):
            self._ask("api", lambda library: work(library, path))

    # ---- reads

    def read(self, name: str) -> None:
        """The whole log of a session."""
        self._look(name, lambda library: archive.log(library, self.owner, name, EVERYTHING), history.Read)

    def context(self, name: str) -> None:
        """What a model would see of it."""
        self._look(
            name, lambda library: context.run_context(library, self.owner, name).messages, history.Seen
        )

    def _look(
        self,
        name: str,
        work: Callable[[Library], Sequence[dict[str, object]]],
        kind: type[history.Read] | type[history.Seen],
    ) -> None:
        before, started = self.world.life(self.owner, name), self.world.scheduler.step
        try:
            found = self._ask("api", work)
        except (Unclear, StrandlineError):
            return
        if before and before == self.world.life(self.owner, name):  # else it is not known which life was read
            seqs_and_ids = [(message["seq"], message["id"]) for message in found]
            ended = self.world.scheduler.step
            self.world.history.append(kind(self.owner, name, before, started, ended, seqs_and_ids))  # type: ignore[arg-type]

    # ---- sessions

    def create(self, name: str, **policy: int) -> None:
        """With a policy it is committed by itself."""
        whole = AutoCommitPolicy.from_dict(policy).to_dict() if policy else None
        wanted = session.NewSession(self.owner, name, whole, None, {})
        try:
            self._ask("api", partial(session.create, wanted=wanted))
        except (Unclear, AlreadyExists):
            return

    def delete(self, name: str) -> None:
        """Whatever lived when it began has gone when it is answered, be it that somebody else was first."""
        before, started = self.world.life(self.owner, name), self.world.scheduler.step
        asked_at = self.world.scheduler.now
        ended: int | None = None
        try:
            self._ask("erase", lambda library: session.delete(library, self.owner, name))
            ended = self.world.scheduler.step
        except NotFound:
            ended = self.world.scheduler.step
            if before and self._tries == 1:
                self.world.history.append(history.NotThere(self.owner, name, before))
        except Unclear:
            ended = None
        if before:
            self.world.history.append(history.Deleted(self.owner, name, before, started, ended, asked_at))
        for incarnation in self.world.born(self.owner, name, started):  # it may have been any of these
            self.world.history.append(history.Deleted(self.owner, name, incarnation, started, None))
