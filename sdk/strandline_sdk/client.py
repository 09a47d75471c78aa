"""The service's routes as methods. They return the JSON of the answer, typed by `model`."""

import time
from collections.abc import Iterator, Sequence
from typing import Any, Unpack, cast

from strandline_sdk.connection import given, memory_path, segment, session_path
from strandline_sdk.contexts import Contexts
from strandline_sdk.keys import Keys
from strandline_sdk.log import Log
from strandline_sdk.model import (
    BlamedLine,
    ChangedMemory,
    Committed,
    Context,
    Erased,
    FindOptions,
    Found,
    JournalEntry,
    Lifetime,
    Memory,
    Rebuild,
    Revision,
    RolledBack,
    Scrub,
    Session,
    SessionSettings,
    Task,
    TaskStatus,
    ToolResult,
    ToolResultHit,
    ToolResultText,
)
from strandline_sdk.topics import Topics
from strandline_sdk.transport import Request

ENDED = frozenset({"completed", "failed", "cancelled"})


class Client(Keys, Log, Topics, Contexts):
    """Sessions, tasks, memories and search. Lists that come in pages are iterators that fetch as they are read."""

    def acting_user(self) -> str:
        """The user that these requests act as. A user's key always acts as that user, whatever else is named."""
        place = self._get("/fs/stat", uri="viking://~")["uri"]
        return str(place).removeprefix("viking://user/")

    # ---- sessions --------------------------------------------------------------------------------------

    def create_session(self, session_id: str | None = None, **settings: Unpack[SessionSettings]) -> Session:
        """A new session, with a generated id when none is given; ALREADY_EXISTS when the id is taken."""
        body = {"session_id": session_id, **settings} if session_id else dict(settings)
        return cast(Session, self._write("POST", "/sessions", body))

    def session(self, session_id: str) -> Session:
        """The session's meta: counters, policies, archives."""
        return cast(Session, self._get(session_path(session_id)))

    def sessions(self, *, page_size: int = 100) -> Iterator[Session]:
        """All sessions, newest first."""
        return self._pages("/sessions", limit=page_size)

    def delete_session(self, session_id: str) -> Erased:
        """Removes every object of the session; its memories stay. Answers what was erased, per store."""
        return cast(Erased, self._call(Request("DELETE", session_path(session_id))))

    def commit(self, session_id: str, *, keep_recent_count: int = 0) -> Committed:
        """Archives the live messages but the newest `keep_recent_count`, and starts their extraction."""
        path = session_path(session_id, "/commit")
        return cast(Committed, self._write("POST", path, {"keep_recent_count": keep_recent_count}))

    def context(self, session_id: str, *, token_budget: int | None = None) -> Context:
        """The overview of what is archived and the live messages, within the budget."""
        return cast(Context, self._get(session_path(session_id, "/context"), token_budget=token_budget))

    def used(self, session_id: str, contexts: Sequence[str] = (), *, skill: str | None = None) -> Any:
        """Reports that the session made use of these memories, by their URIs, or of a skill."""
        body = given({"contexts": list(contexts) or None, "skill": skill})
        return self._write("POST", session_path(session_id, "/used"), body)

    # ---- tool results: outputs too large to stand in their messages ----------------------------------------

    def tool_results(self, session_id: str) -> Iterator[ToolResult]:
        """The tool outputs that are stored beside the session's messages."""
        return self._pages(session_path(session_id, "/tool-results"))

    def tool_result(
        self, session_id: str, result_id: str, *, offset: int = 0, limit: int | None = None
    ) -> ToolResultText:
        """The characters of a tool output from `offset` on, at most `limit` of them."""
        path = session_path(session_id, f"/tool-results/{segment(result_id)}")
        return cast(ToolResultText, self._get(path, offset=offset, limit=limit))

    def search_tool_result(
        self,
        session_id: str,
        result_id: str,
        query: str,
        *,
        limit: int | None = None,
        context_chars: int | None = None,
    ) -> list[ToolResultHit]:
        """Where a text stands in a tool output, with `context_chars` characters of what is around it."""
        path = session_path(session_id, f"/tool-results/{segment(result_id)}/search")
        return cast(list[ToolResultHit], self._get(path, q=query, limit=limit, context_chars=context_chars))

    # ---- tasks -----------------------------------------------------------------------------------------

    def tasks(
        self,
        *,
        task_type: str | None = None,
        status: TaskStatus | None = None,
        resource_id: str | None = None,
        page_size: int = 100,
    ) -> Iterator[Task]:
        """The tasks that are still kept, newest first; `resource_id` is a session's id."""
        return self._pages(
            "/tasks", task_type=task_type, status=status, resource_id=resource_id, limit=page_size
        )

    def task(self, task_id: str) -> Task:
        """The task as it stands."""
        return cast(Task, self._get(f"/tasks/{segment(task_id)}"))

    def retry_task(self, task_id: str) -> Task:
        """Starts a failed task again, from what is stored. FAILED_PRECONDITION for a task that has not failed."""
        return cast(Task, self._write("POST", f"/tasks/{segment(task_id)}/retry", {}))

    def cancel_task(self, task_id: str) -> Task:
        """Cancels a task; what it was about stays stored. FAILED_PRECONDITION for a task that has ended."""
        return cast(Task, self._write("POST", f"/tasks/{segment(task_id)}/cancel", {}))

    def wait_for_task(self, task_id: str, *, timeout: float = 600.0) -> Task:
        """The task once it has ended, well or not. Raises TimeoutError after `timeout` seconds."""
        pauses = self._pauses(timeout)
        while (task := self.task(task_id))["status"] not in ENDED:
            if not next(pauses):
                raise TimeoutError(f"task {task_id} is still {task['status']} after {timeout:g} s")
        return task

    def wait_for_tasks(self, task_ids: Sequence[str], *, timeout: float = 600.0) -> Iterator[Task]:
        """Each task once it has ended, in the given order. Raises TimeoutError after `timeout` seconds in all."""
        deadline = time.monotonic() + timeout
        for task_id in task_ids:
            yield self.wait_for_task(task_id, timeout=max(0.0, deadline - time.monotonic()))

    def wait_for_archives(self, session_id: str, *, timeout: float = 600.0) -> Session:
        """The session once none of its archives is pending, whichever commit made them. Raises TimeoutError."""
        pauses = self._pauses(timeout)
        while (session := self.session(session_id)).get("archives", {}).get("pending", 0):
            if not next(pauses):
                raise TimeoutError(f"session {session_id} has pending archives after {timeout:g} s")
        return session

    # ---- memories --------------------------------------------------------------------------------------

    def memories(
        self,
        prefix: str | None = None,
        *,
        memory_type: str | None = None,
        as_of: str | None = None,
        full: bool = False,
    ) -> Iterator[Memory]:
        """The memories, all or those under a path prefix or of a type; `as_of`: those of that time; `full`: with what
        each of them says."""
        view = "full" if full else None
        return self._pages("/memories", prefix=prefix, type=memory_type, as_of=as_of, view=view)

    def memory(self, path: str, *, as_of: str | None = None, version: int | None = None) -> Memory:
        """One memory: its markdown without front matter as `content`, and what the front matter says as fields. As it
        is, as it was at a time, or one of its versions."""
        return cast(Memory, self._get(memory_path(path), as_of=as_of, version=version))

    def memory_file(self, uri: str) -> str:
        """The whole markdown file at a `viking://` address, front matter included."""
        return cast(str, self._get("/content/read", uri=uri))

    def put_memory(
        self,
        path: str,
        content: str,
        *,
        if_match: str | None = None,
        new: bool = False,
        **lifetime: Unpack[Lifetime],
    ) -> Memory:
        """Writes a memory. `if_match` (a sha256) or `new` make it fail with FAILED_PRECONDITION on another state."""
        headers = {"If-Match": f'"{if_match}"'} if if_match else {"If-None-Match": "*"} if new else {}
        body = {"content": content, **lifetime}
        return cast(Memory, self._write("PUT", memory_path(path), body, headers))

    def delete_memory(self, path: str) -> None:
        """Deletes a memory; its history stays in the bucket's versions."""
        self._call(Request("DELETE", memory_path(path)))

    # ---- what memories were ------------------------------------------------------------------------------

    def memory_history(self, path: str) -> Iterator[Revision]:
        """The versions of a memory that are kept, newest first, also of a deleted one."""
        for page in self._results(f"{memory_path(path)}/history"):
            yield from page["versions"]

    def memory_blame(self, path: str) -> Iterator[BlamedLine]:
        """Each line of a memory with its source, and the words that were said, read again from the archive."""
        for page in self._results(f"{memory_path(path)}/blame"):
            yield from page["lines"]

    def rollback_memory(
        self, path: str, version: int, *, dry_run: bool = False, if_match: str | None = None
    ) -> ChangedMemory:
        """Makes a memory, even a deleted one, what it was in that version, by writing a new version."""
        headers = {"If-Match": f'"{if_match}"'} if if_match else {}
        body = {"version": version, "dry_run": dry_run}
        return cast(ChangedMemory, self._write("POST", f"{memory_path(path)}/rollback", body, headers))

    def rollback_session(self, session_id: str, *, dry_run: bool = False) -> RolledBack:
        """Removes from the memories what a session said; lines that were edited since are conflicts and stay."""
        path = session_path(session_id, "/rollback")
        return cast(RolledBack, self._rolled_back(path, {"dry_run": dry_run}))

    def rollback_since(self, since: str, *, dry_run: bool = False) -> RolledBack:
        """Makes every memory what it was at that time."""
        body = {"since": since, "dry_run": dry_run}
        return cast(RolledBack, self._rolled_back("/memories/rollback", body))

    # ---- memories made again -----------------------------------------------------------------------------

    def begin_rebuild(self, *, again: bool = False, session_id: str | None = None) -> Rebuild:
        """Begins to make the memories again from the archives, all or those of a session, beside those that are there;
        `again`: extracted once more."""
        body = given({"again": again, "session_id": session_id})
        return cast(Rebuild, self._write("POST", "/rebuilds", body))

    def begin_scrub(self, *, session_id: str | None = None, dry_run: bool = False) -> Scrub:
        """Begins to remove secrets from what is stored: from everything, or from what quotes one session."""
        body = given({"session_id": session_id, "dry_run": dry_run})
        return cast(Scrub, self._write("POST", "/scrubs", body))

    def scrub(self, scrub_id: str) -> Scrub:
        """How far a scrub is, and what it has found."""
        return cast(Scrub, self._get(f"/scrubs/{segment(scrub_id)}"))

    def wait_for_scrub(self, scrub_id: str, *, timeout: float = 600.0) -> Scrub:
        """The scrub when it has gone over everything once. Raises TimeoutError after `timeout` seconds: look later."""
        pauses = self._pauses(timeout)
        while (at := self.scrub(scrub_id))["status"] == "running":
            if not next(pauses):
                raise TimeoutError(f"scrub {scrub_id} is still running after {timeout:g} s")
        return at

    def preview_extraction(self, session_id: str) -> Rebuild:
        """Begins to find out what an extraction of a session would bring, uncommitted messages included."""
        return cast(Rebuild, self._write("POST", session_path(session_id, "/extract"), {"dry_run": True}))

    def rebuild(self, rebuild_id: str) -> Rebuild:
        """How far a rebuild is."""
        return cast(Rebuild, self._get(f"/rebuilds/{segment(rebuild_id)}"))

    def continue_rebuild(self, rebuild_id: str) -> Rebuild:
        """Continues a rebuild for some seconds."""
        return cast(Rebuild, self._write("POST", f"/rebuilds/{segment(rebuild_id)}/continue", {}))

    def wait_for_rebuild(self, rebuild_id: str, *, timeout: float = 600.0) -> Rebuild:
        """Continues a rebuild until it is ready. Raises TimeoutError after `timeout` seconds; call it again later."""
        pauses = self._pauses(timeout)
        while (at := self.continue_rebuild(rebuild_id))["status"] not in ("ready", "promoted"):
            if not next(pauses):
                raise TimeoutError(f"rebuild {rebuild_id} is still {at['status']} after {timeout:g} s")
        return at

    def promote_rebuild(self, rebuild_id: str, *, dry_run: bool = False) -> RolledBack:
        """Replaces the memories by the rebuilt ones; a dry run shows the difference."""
        path = f"/rebuilds/{segment(rebuild_id)}/promote"
        return cast(RolledBack, self._rolled_back(path, {"dry_run": dry_run}))

    def find(self, query: str, **options: Unpack[FindOptions]) -> Found:
        """Searches memories, or messages with `context_type="message"`; best first."""
        body = {"query": query, **given(options)}
        return cast(Found, self._call(Request("POST", "/search/find", body=body)))

    def journal(self, *, after: str | None = None, page_size: int = 100) -> Iterator[JournalEntry]:
        """The events of sessions and memories, in order, behind the event with the id `after`."""
        while page := self._get("/journal", after=after, limit=page_size):
            yield from page
            after = page[-1]["id"]
