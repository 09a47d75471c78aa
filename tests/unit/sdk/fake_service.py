"""The service's contract in memory, as an httpx transport: sessions, appends with duplicates, commits, tasks, memories.

What a test puts into `failures` is answered first, one per request, before anything is done.
"""

import json
import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import RLock
from typing import Any
from urllib.parse import unquote

import httpx

from tests.unit.sdk.fake_answers import Answer, ok, refusal
from tests.unit.sdk.fake_answers import failure as failure

FRONT = "---\ntype: events\n---\n\n"
MEMORY = {
    "path": "events/2024/03/02/pottery.md",
    "uri": "viking://user/mia/memories/events/2024/03/02/pottery.md",
    "type": "events",
    "content": "---\ntype: events\n---\nMia fired her first bowl on 1 March 2024. 陶芸\n",
    "sha256": "5" * 64,
    "updated_at": "2024-03-02T09:30:00.000Z",
}


@dataclass
class Session:
    """One session's log, how much of it is committed, and archives of earlier commits.

    `pending_polls`: how often the session is asked for before the earlier archive is no longer pending.
    """

    messages: list[dict[str, Any]] = field(default_factory=list)
    committed: int = 0
    pending_polls: int = 0
    failed: int = 0
    created_at: str = "2024-03-02T09:00:00.000Z"


@dataclass
class FakeService(httpx.BaseTransport):
    """Users, their sessions and tasks. `task_error` makes every task fail; `polls` is how long one is pending."""

    page: int = 100
    polls: int = 1
    task_error: str | None = None
    failures: deque[httpx.Response | Exception] = field(default_factory=deque)
    requests: list[httpx.Request] = field(default_factory=list)
    sessions: dict[tuple[str, str], Session] = field(default_factory=dict)
    tasks: dict[str, dict[str, Any]] = field(default_factory=dict)
    called_off: dict[str, dict[str, Any]] = field(default_factory=dict)
    changes: list[dict[str, Any]] = field(default_factory=list)
    memories: list[dict[str, Any]] = field(default_factory=lambda: [dict(MEMORY)])
    hits: list[dict[str, Any]] = field(default_factory=lambda: [MEMORY_HIT])
    past: dict[str, Any] = field(default_factory=dict)
    asked: list[Any] = field(default_factory=list)
    lock: RLock = field(default_factory=RLock)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        with self.lock:
            self.requests.append(request)
            if self.failures:
                return self._fail(self.failures.popleft())
            status, document = self._route(request)
            return httpx.Response(status, json=document)

    def paths(self, method: str) -> list[str]:
        """Where the requests of a method went, in order."""
        return [request.url.path for request in self.requests if request.method == method]

    def _fail(self, failure: httpx.Response | Exception) -> httpx.Response:
        if isinstance(failure, Exception):
            raise failure
        return failure

    def _route(self, request: httpx.Request) -> Answer:
        path = request.url.raw_path.decode().partition("?")[0]
        if path == "/health":
            return 200, {"status": "ok", "version": "0.0.0"}
        if request.headers.get("X-API-Key") != "good":
            return refusal(401, "UNAUTHENTICATED", "send a valid key")
        for method, pattern, handler in ROUTES:
            match = re.fullmatch(f"/api/v1{pattern}", path)
            if match and method == request.method:
                return handler(self, request, *map(unquote, match.groups()))
        return refusal(404, "NOT_FOUND", f"no route {request.method} {path}")

    def _key(self, request: httpx.Request, session_id: str) -> tuple[str, str]:
        return request.headers.get("X-Strandline-User", "self"), session_id

    def _list(self, request: httpx.Request) -> Answer:
        ids = [session_id for user, session_id in self.sessions if user == self._key(request, "")[0]][::-1]
        return self._paged(
            request, [{"session_id": i, "uri": f"viking://user/self/sessions/{i}"} for i in ids]
        )

    def _paged(self, request: httpx.Request, items: list[dict[str, Any]]) -> Answer:
        start = int(request.url.params.get("cursor", 0))
        end = start + self.page
        more = {"next_cursor": str(end)} if end < len(items) else {}
        return 200, {"status": "ok", "result": items[start:end], **more}

    def _create(self, request: httpx.Request) -> Answer:
        body = json.loads(request.content)
        key = self._key(request, body.get("session_id", "generated"))
        if key in self.sessions:
            return refusal(409, "ALREADY_EXISTS", "the id is taken")
        self.sessions[key] = Session()
        return ok({"session_id": key[1], "uri": "viking://user/self/sessions/" + key[1], **body})

    def _meta(self, request: httpx.Request, session_id: str) -> Answer:
        session = self.sessions.get(self._key(request, session_id))
        if session is None:
            return refusal(404, "NOT_FOUND", "no such session")
        commits = int(session.committed > 0)
        session.pending_polls = max(0, session.pending_polls - 1)
        pending = int(session.pending_polls > 0)
        archives = {"pending": pending, "completed": commits, "failed": session.failed}
        counts = {"total_message_count": len(session.messages), "commit_count": commits, "archives": archives}
        live = {"message_count": len(session.messages) - session.committed, "pending_tokens": 0}
        named = {"session_id": session_id, "created_at": session.created_at}
        return ok({**named, "uri": "viking://user/self/sessions/x", **counts, **live})

    def _delete(self, request: httpx.Request, session_id: str) -> Answer:
        del self.sessions[self._key(request, session_id)]
        return ok({"session_id": session_id, "erased": {"objects": 2, "tasks": 1}})

    def _append(self, request: httpx.Request, session_id: str) -> Answer:
        message = json.loads(request.content)
        expected = message.pop("expected_last_seq", None)
        found = self.sessions.get(self._key(request, session_id), Session())
        if expected is not None and expected != len(found.messages):
            return refusal(409, "ABORTED", "not there", {"last_seq": len(found.messages)})
        _, document = self._store(request, session_id, [message])
        receipt = document["result"]["messages"][0]
        return ok({**document["result"], "message_id": receipt["id"], "seq": receipt["seq"]})

    def _batch(self, request: httpx.Request, session_id: str) -> Answer:
        messages = json.loads(request.content)["messages"]
        if not 1 <= len(messages) <= 100:
            return refusal(400, "INVALID_ARGUMENT", "1 to 100 messages")
        refused = [n for n, message in enumerate(messages) if "refuse me" in json.dumps(message)]
        if refused:
            fields = [{"field": f"messages.{n}.content", "message": "refused"} for n in refused]
            problem = f"{fields[0]['field']}: refused"
            return refusal(400, "INVALID_ARGUMENT", problem, {"validation_errors": fields})
        return self._store(request, session_id, messages)

    def _store(self, request: httpx.Request, session_id: str, messages: list[dict[str, Any]]) -> Answer:
        session = self.sessions.setdefault(self._key(request, session_id), Session())
        receipts = [self._receive(session, message) for message in messages]
        live = len(session.messages) - session.committed
        added = sum(not receipt["duplicate"] for receipt in receipts)
        counts = {"added": added, "message_count": live, "pending_tokens": 7 * live}
        return ok({"session_id": session_id, "messages": receipts, **counts})

    def _receive(self, session: Session, message: dict[str, Any]) -> dict[str, Any]:
        """Recognises the newest 1,000 ids, as the service does."""
        known = next((m for m in session.messages[-1000:] if m["id"] == message["id"]), None)
        if known is None:
            session.messages.append({**message, "seq": len(session.messages) + 1})
        seq = known["seq"] if known else len(session.messages)
        return {"id": message["id"], "seq": seq, "duplicate": known is not None}

    def _log(self, request: httpx.Request, session_id: str) -> Answer:
        if self._key(request, session_id) not in self.sessions:
            return refusal(404, "NOT_FOUND", "no such session")
        params = request.url.params
        after, limit = int(params.get("after_seq", 0)), int(params["limit"])
        before = int(params["before_seq"]) - 1 if "before_seq" in params else None
        log = self.sessions[self._key(request, session_id)].messages[after:before]
        return ok((log[::-1] if params.get("order") == "desc" else log)[:limit])

    def _journal(self, request: httpx.Request) -> Answer:
        after, limit = request.url.params.get("after", ""), int(request.url.params["limit"])
        return ok([change for change in self.changes if change["id"] > after][:limit])

    def _echo(self, request: httpx.Request, *ids: str) -> Answer:
        """What was asked, for routes whose answers are passed on as they are."""
        body = json.loads(request.content) if request.content else None
        return ok([{"path": request.url.path, "params": dict(request.url.params), "body": body}])

    def _commit(self, request: httpx.Request, session_id: str) -> Answer:
        session = self.sessions.get(self._key(request, session_id))
        if session is None or session.committed == len(session.messages):
            skipped = {"status": "skipped", "archived": False, "task_id": None, "reason": "no_messages"}
            return ok({"session_id": session_id, **skipped})
        session.committed = len(session.messages)
        task_id = f"task-{len(self.tasks) + 1}"
        task = {"task_id": task_id, "task_type": "session_commit", "resource_id": session_id, "polls": 0}
        self.tasks[task_id] = {**task, "user": self._key(request, "")[0]}
        accepted = {"status": "accepted", "archived": True, "task_id": task_id, "archive_uri": "viking://x"}
        return ok({"session_id": session_id, **accepted})

    def _archives(self, request: httpx.Request, session_id: str) -> Answer:
        committed = self.sessions[self._key(request, session_id)].committed
        archive = {"archive_id": "archive_001", "status": "completed", "first_seq": 1, "last_seq": committed}
        return ok([{**archive, "abstract": "About bowls."}] if committed else [])

    def _task(self, request: httpx.Request, task_id: str) -> Answer:
        task = self.tasks.get(task_id)
        if task is None or task["user"] != self._key(request, "")[0]:
            return refusal(404, "NOT_FOUND", "no such task")
        task["polls"] += 1
        return ok(self._state(task))

    def _state(self, task: dict[str, Any]) -> dict[str, Any]:
        ended = "failed" if self.task_error else "completed"
        state = {"status": ended if task["polls"] >= self.polls else "running", "error": self.task_error}
        done = {"stage": "merge", "attempts": 1, "result": {"memories": {"total": 2}}}
        return {**task, **state, **done, **self.called_off.get(task["task_id"], {})}

    def _tasks(self, request: httpx.Request) -> Answer:
        wanted = {n: v for n, v in request.url.params.items() if n in ("status", "task_type", "resource_id")}
        own = [t for t in self.tasks.values() if t["user"] == self._key(request, "")[0]][::-1]
        return self._paged(request, [t for t in map(self._state, own) if wanted.items() <= t.items()])

    def _cancel(self, request: httpx.Request, task_id: str) -> Answer:
        if self._state(self.tasks[task_id])["status"] != "running":
            return refusal(412, "FAILED_PRECONDITION", "the task has ended")
        self.called_off[task_id] = {"status": "cancelled"}
        return ok(self._state(self.tasks[task_id]))

    def _retry(self, request: httpx.Request, task_id: str) -> Answer:
        self.called_off.pop(task_id, None)
        self.tasks[task_id]["polls"] = 0
        return ok(self._state(self.tasks[task_id]))

    def _file(self, request: httpx.Request) -> Answer:
        """The file is front matter and content."""
        uri = request.url.params["uri"]
        found = next((m for m in self.memories if m["uri"] == uri), None)
        return ok(f"{FRONT}{found['content']}") if found else refusal(404, "NOT_FOUND", uri)

    def _memories(self, request: httpx.Request) -> Answer:
        wanted = request.url.params
        found = [m for m in self.memories if m["path"].startswith(wanted.get("prefix", ""))]
        return self._paged(request, [m for m in found if wanted.get("type") in (None, m["type"])])

    def _past(self, request: httpx.Request, path: str, view: str) -> Answer:
        """What a test has put there of a memory's past; what was asked is kept."""
        if request.content:
            self.asked.append(json.loads(request.content))
        return ok(self.past[view])

    def _rollback(self, request: httpx.Request, *_: str) -> Answer:
        """Two pages of changes."""
        wanted = json.loads(request.content)
        self.asked.append(wanted)
        result = {**self.past["rollback"], "archives": [], "dry_run": wanted.get("dry_run", False)}
        more = {} if wanted.get("cursor") else {"next_cursor": "more"}
        return 200, {"status": "ok", "result": result, **more}

    def _rebuild(self, request: httpx.Request, *_: str) -> Answer:
        """What a test says that a rebuild is."""
        self.asked.append(json.loads(request.content))
        return ok(self.past["rebuild"])

    def _scrub(self, request: httpx.Request, *_: str) -> Answer:
        """What a test says that a scrub is."""
        if request.method == "POST":
            self.asked.append(json.loads(request.content))
        return ok(self.past["scrub"])

    def _memory(self, request: httpx.Request, path: str) -> Answer:
        found = next((m for m in self.memories if m["path"] == path), None)
        if found is None and request.method != "PUT":
            return refusal(404, "NOT_FOUND", "no such memory")
        if request.method == "GET":
            return ok(found)
        if not self._matches(request, found):
            return refusal(412, "FAILED_PRECONDITION", "the memory is not the one you read")
        if found:
            self.memories.remove(found)
        if request.method == "PUT":
            self.memories.append({**MEMORY, "path": path, **json.loads(request.content)})
        return ok({"path": path, "sha256": MEMORY["sha256"]})

    def _stat(self, request: httpx.Request) -> Answer:
        user = self._key(request, "")[0]
        return ok({"uri": request.url.params["uri"].replace("~", f"user/{user}")})

    def _matches(self, request: httpx.Request, found: dict[str, Any] | None) -> bool:
        if "If-None-Match" in request.headers:
            return found is None
        return request.headers.get("If-Match") in (None, f'"{found["sha256"]}"' if found else "")

    def _find(self, request: httpx.Request) -> Answer:
        query = json.loads(request.content)
        if query.get("context_type") == "message":
            return ok({"memories": [MESSAGE_HIT], "resources": [], "skills": [], "total": 1})
        hits = self.hits if "bowl" in query["query"] else []
        return ok({"memories": hits, "resources": [], "skills": [], "total": len(hits)})


MESSAGE_HIT = {
    "uri": "viking://user/mia/sessions/talk-1/messages/3",
    "context_type": "message",
    "session_id": "talk-1",
    "message_id": "D1:3",
    "seq": 3,
    "role": "user",
    "peer_id": "Mia",
    "created_at": "2024-03-02T09:30:00.000Z",
    "score": 4.2,
    "abstract": "I fired\nmy first \x1b[31mbowl",
}
MEMORY_HIT = {
    "uri": MEMORY["uri"],
    "context_type": "memory",
    "score": 7.123,
    "abstract": "Mia fired her first bowl on 1 March 2024.",
    "category": "events",
    "sources": [
        {"session_id": "talk-1", "archive": "archive_001", "seq_from": 3, "seq_to": 5},
        {"session_id": "talk-2", "archive": "archive_001", "seq_from": 1, "seq_to": 1},
    ],
}


ROUTES: list[tuple[str, str, Callable[..., Answer]]] = [
    ("GET", "/sessions", FakeService._list),
    ("POST", "/sessions", FakeService._create),
    ("GET", "/sessions/([^/]+)", FakeService._meta),
    ("DELETE", "/sessions/([^/]+)", FakeService._delete),
    ("POST", "/sessions/([^/]+)/messages", FakeService._append),
    ("POST", "/sessions/([^/]+)/messages/batch", FakeService._batch),
    ("GET", "/sessions/([^/]+)/messages", FakeService._log),
    ("POST", "/sessions/([^/]+)/commit", FakeService._commit),
    ("GET", "/sessions/([^/]+)/archives", FakeService._archives),
    ("GET", "/tasks", FakeService._tasks),
    ("GET", "/tasks/([^/]+)", FakeService._task),
    ("POST", "/tasks/([^/]+)/retry", FakeService._retry),
    ("POST", "/tasks/([^/]+)/cancel", FakeService._cancel),
    ("GET", "/journal", FakeService._journal),
    ("GET", "/sessions/([^/]+)/(?:tool-results.*|context|archives/.+)", FakeService._echo),
    ("POST", "/sessions/([^/]+)/used", FakeService._echo),
    ("GET", "/memories", FakeService._memories),
    ("GET", "/memories/(.+\\.md)/(history|blame)", FakeService._past),
    ("POST", "/memories/(.+\\.md)/(rollback)", FakeService._past),
    ("POST", "/memories/rollback", FakeService._rollback),
    ("POST", "/scrubs", FakeService._scrub),
    ("GET", "/scrubs/([^/]+)", FakeService._scrub),
    ("POST", "/rebuilds", FakeService._rebuild),
    ("POST", "/rebuilds/([^/]+)/continue", FakeService._rebuild),
    ("POST", "/rebuilds/([^/]+)/promote", FakeService._rollback),
    ("POST", "/sessions/([^/]+)/extract", FakeService._rebuild),
    ("POST", "/sessions/([^/]+)/rollback", FakeService._rollback),
    ("GET", "/memories/(.+)", FakeService._memory),
    ("GET", "/content/read", FakeService._file),
    ("GET", "/fs/stat", FakeService._stat),
    ("PUT", "/memories/(.+)", FakeService._memory),
    ("DELETE", "/memories/(.+)", FakeService._memory),
    ("POST", "/search/find", FakeService._find),
]


def body(request: httpx.Request) -> Any:
    """The JSON that a request carried."""
    return json.loads(request.content)
