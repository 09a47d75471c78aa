"""Archives and the session log as their owner reads them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from strandline.domain import session
from strandline.domain.errors import NotFound
from strandline.domain.message import MAX_ANSWER_BYTES, read_line
from strandline.domain.session import Head, Skip
from strandline.pipeline.commit import load_head
from strandline.pipeline.diff import archive_id, diff_uri, session_uri
from strandline.pipeline.services import Services
from strandline.storage.layout import Life, User
from strandline.storage.log import ref
from strandline.storage.once import fetch

_NAME = re.compile(r"archive_(\d{3,9})", re.ASCII)


def dry_run(services: Services, owner: User, session_id: str, keep_recent_count: int) -> Mapping[str, Any]:
    """What a commit would archive now."""
    plan = session.plan_commit(load_head(services, owner, session_id), keep_recent_count)
    if isinstance(plan, Skip):
        return {"session_id": session_id, "status": "dry_run", "archived": False, "reason": plan.reason}
    spot = {"first_seq": plan.first, "last_seq": plan.last, "archive_id": archive_id(plan.number)}
    return {"session_id": session_id, "status": "dry_run", "archived": False, **spot}


def list_archives(services: Services, owner: User, session_id: str) -> list[Mapping[str, Any]]:
    """The session's archives in order, with status and seq range. One list request per 1,000 objects."""
    head = load_head(services, owner, session_id)
    return [
        {
            "archive_id": archive_id(number),
            "uri": f"{session_uri(owner.user_id, session_id)}/archives/{archive_id(number)}",
            "status": status(head, number),
            "first_seq": first,
            "last_seq": last,
        }
        for number, first, last in services.log.archives(head)
    ]


def read(services: Services, owner: User, session_id: str, name: str) -> Mapping[str, Any]:
    """One archive, whatever its status; of its messages as many as one answer holds. Raises NotFound."""
    head = load_head(services, owner, session_id)
    match = _NAME.fullmatch(name)
    number = int(match[1]) if match else 0
    found = services.log.find(head, number) if 1 <= number <= head.commit_count else None
    if found is None:
        raise NotFound(f"there is no archive {name!r} in session {session_id!r}")
    life = Life(ref(head))
    text = {
        part: fetch(services.objects, life.archive_file(number, f"{part}.md"))
        for part in ("abstract", "overview")
    }
    lines = services.log.archived(ref(head), number, *found)
    return {
        "archive_id": archive_id(number),
        "status": status(head, number),
        "abstract": (text["abstract"] or b"").decode(),
        "overview": (text["overview"] or b"").decode(),
        "messages": [shown(read_line(line)) for line in within(lines or ())],
        "first_seq": found[0],
        "last_seq": found[1],
        "memory_diff_uri": diff_uri(owner.user_id, session_id, number),
    }


def read_file(services: Services, owner: User, session_id: str, name: str, file: str) -> str:
    """A text of one archive: `abstract.md`, `overview.md` or `memory_diff.json`. Raises NotFound."""
    head = load_head(services, owner, session_id)
    match = _NAME.fullmatch(name)
    body = fetch(services.objects, Life(ref(head)).archive_file(int(match[1]), file)) if match else None
    if body is None:
        raise NotFound(f"there is no {file} of archive {name!r} in session {session_id!r}")
    return body.decode()


def status(head: Head, number: int) -> str:
    """`pending`, `failed` or `completed`."""
    if any(a.number == number for a in head.pending):
        return "pending"
    return "failed" if any(a.number == number for a in head.failed) else "completed"


def log(
    services: Services, owner: User, session_id: str, *, after_seq: int, limit: int
) -> list[dict[str, Any]]:
    """Messages behind `after_seq`, archived or live, in seq order: `limit` of them, or what fits into one answer.

    Only the objects that hold them are read.
    """
    head = load_head(services, owner, session_id)
    last = min(after_seq + limit, head.last_seq)
    lines: list[bytes] = []
    for number, first, end in services.log.archives(head):
        if first > last:
            break
        if end > after_seq:
            whole = services.log.archived(ref(head), number, first, end) or []
            lines += whole[max(after_seq + 1 - first, 0) : last - first + 1]
    if last >= head.live_from:
        lines += services.log.live(head, max(after_seq + 1, head.live_from), last)
    return [read_line(line) for line in within(lines)]


def within(lines: Iterable[bytes]) -> Iterator[bytes]:
    """As many of the lines as one answer can hold, and the first in any case; the rest is asked for by seq."""
    room = MAX_ANSWER_BYTES
    for n, line in enumerate(lines):
        room -= len(line)
        if n and room < 0:
            return
        yield line


def shown(message: Mapping[str, Any]) -> dict[str, Any]:
    """A stored message as the API shows it."""
    return {name: value for name, value in message.items() if name != "tokens"}
