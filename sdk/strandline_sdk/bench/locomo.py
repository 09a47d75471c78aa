"""LoCoMo through the service: import, commit, questions. A conversation is a user, a session of it a session."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from strandline_sdk.bench.measures import KS, Asked
from strandline_sdk.bench.questions import Question, Turns, questions
from strandline_sdk.client import Client
from strandline_sdk.importers import ImportedSession, read_sessions
from strandline_sdk.upload import Uploader

Advance = Callable[[int], None]


@dataclass(frozen=True)
class Wanted:
    """Which conversations and questions, searched how, so many at a time."""

    path: Path
    conversations: int | None = None
    categories: tuple[int, ...] = (1, 2, 3, 4)
    context_type: str = "memory"
    jobs: int = 4
    prefix: str = ""


class NotImported(RuntimeError):
    """Sessions that were refused, or memories that were not made."""


@dataclass(frozen=True)
class Locomo:
    """The data set at a place; `client` has an admin or root key, since every conversation is a user."""

    wanted: Wanted
    client: Client
    sessions: Sequence[ImportedSession]

    @staticmethod
    def read(wanted: Wanted, client: Client) -> "Locomo":
        """Raises InputError for a file that is no LoCoMo, OSError."""
        found = list(read_sessions(wanted.path, "locomo"))
        kept = list(dict.fromkeys(session.conversation for session in found))[: wanted.conversations]
        return Locomo(wanted, client, [session for session in found if session.conversation in kept])

    def store(self, advance: Advance = lambda _: None) -> int:
        """Imports and commits, so many sessions at a time, and waits for the memories; how many messages are new. Safe
        to repeat. Raises NotImported, ApiError, TimeoutError."""
        uploader = Uploader(lambda session: self._acting(session.conversation), on_messages=advance)
        done = list(uploader.upload(self.sessions, self.wanted.jobs))
        if refused := [one for one in done if one.error]:
            raise NotImported(
                f"{len(refused)} sessions, the first: {refused[0].session_id}: {refused[0].error}"
            )
        for one in done:
            if one.task_id:
                task = self._acting(one.conversation).wait_for_task(one.task_id)
                if task["status"] != "completed":
                    raise NotImported(f"{one.session_id}: its commit {task['status']}: {task.get('error')}")
        return sum(one.stored for one in done)

    def questions(self) -> list[Question]:
        """What is asked."""
        return list(questions(self.wanted.path, self.sessions, self.wanted.categories))

    def ask(
        self, wanted: Sequence[Question], then: Callable[[Asked], Asked] = lambda asked: asked
    ) -> Iterator[Asked]:
        """Searches for each question, and does what is `then` to be done, so many at a time; in their order."""
        turns = Turns.of(self.sessions)
        with ThreadPoolExecutor(self.wanted.jobs) as pool:
            yield from pool.map(partial(self._ask, turns, then), wanted)

    def _ask(self, turns: Turns, then: Callable[[Asked], Asked], question: Question) -> Asked:
        whose = self._acting(question.conversation)
        found = whose.find(question.text, limit=max(KS), context_type=self.wanted.context_type)["memories"]
        hits: list[Any] = list(found)
        text = "\n".join(f"- {hit['abstract']}" for hit in hits)
        return then(Asked(question, [turns.cited(hit) for hit in hits], text))

    def _acting(self, conversation: str) -> Client:
        return self.client.acting_for(f"{self.wanted.prefix}{conversation}")
