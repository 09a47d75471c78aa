"""Archives and the session log as their owner reads them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from strandline.domain.address import archive_id, archive_uri, diff_uri
from strandline.domain.errors import NotFound
from strandline.domain.message import MAX_ANSWER_BYTES, read_line
from strandline.domain.session import Head, Skip
from strandline.pipeline.commit import load_head, plan_commit
from strandline.pipeline.services import Services
from strandline.storage.layout import Life, User
from strandline.storage.log import ref
from strandline.storage.once import fetch

_NAME = re.compile(r"archive_(\d{3,9})", re.ASCII)


@dataclass(frozen=True)
class Window:
    """Which messages of a log: those between two seqs, both exclusive, `limit` of them from the end where it begins,
    or what fits into one answer."""

    after_seq: int = 0
    before_seq: int | None = None
    limit: int = 100
    newest_first: bool = False

    def span(self, last_seq: int) -> tuple[int, int]:
        """First and last seq, both inclusive; last is less than first when there are none."""
        first = self.after_seq + 1
        last = min(last_seq, self.before_seq - 1) if self.before_seq is not None else last_seq
        if self.newest_first:
            return max(first, last - self.limit + 1), last
        return first, min(last, first + self.limit - 1)


def dry_run(services: Services, owner: User, session_id: str, keep_recent_count: int) -> Mapping[str, Any]:
    """What a commit would archive now."""
    plan = plan_commit(services, load_head(services, owner, session_id), keep_recent_count)
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
            "uri": archive_uri(owner.user_id, session_id, number),
            "status": status(head, number),
            "first_seq": first,
            "last_seq": last,
        }
        for number, first, last in services.log.archives(head)
    ]


def read(services: Services, owner: User, session_id: str, name: str) -> Mapping[str, Any]:
    """One archive, whatever its status; of its messages as many as one answer holds. Raises NotFound."""
    head = load_head(services, owner, session_id)
    number = _number(name)
    found = services.log.find(head, number) if 1 <= number <= head.commit_count else None
    if found is None:
        raise NotFound(
            f"there is no archive {name!r} in session {session_id!r}", type="archive", resource=name
        )
    life = Life(ref(head))
    text = {
        part: fetch(services.objects, life.archive_file(number, f"{part}.md"))
        for part in ("abstract", "overview")
    }
    learnt = fetch(services.objects, life.archive_file(number, "learn_diff.json"))
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
        "learn_diff_uri": diff_uri(owner.user_id, session_id, number, learnt=True) if learnt else None,
    }


def read_file(services: Services, owner: User, session_id: str, name: str, file: str) -> str:
    """A text of one archive: `abstract.md`, `overview.md`, `memory_diff.json` or `learn_diff.json`. Raises NotFound."""
    head = load_head(services, owner, session_id)
    number = _number(name)
    body = fetch(services.objects, Life(ref(head)).archive_file(number, file)) if number else None
    if body is None:
        raise NotFound(
            f"there is no {file} of archive {name!r} in session {session_id!r}", type="file", resource=file
        )
    return body.decode()


def _number(name: str) -> int:
    """The number of an archive by its name; 0 when that names none."""
    match = _NAME.fullmatch(name)
    return int(match[1]) if match else 0


def status(head: Head, number: int) -> str:
    """`pending`, `failed` or `completed`."""
    if any(a.number == number for a in head.pending):
        return "pending"
    return "failed" if any(a.number == number for a in head.failed) else "completed"


def log(services: Services, owner: User, session_id: str, window: Window) -> list[dict[str, Any]]:
    """Messages of the window, archived or live. Only the objects that hold them are read."""
    head = load_head(services, owner, session_id)
    first, last = window.span(head.last_seq)
    lines: list[bytes] = []
    for number, begin, end in services.log.archives(head):
        if begin > last:
            break
        if end >= first:
            whole = services.log.archived(ref(head), number, begin, end) or []
            lines += whole[max(first - begin, 0) : last - begin + 1]
    if last >= head.live_from:
        lines += services.log.live(head, max(first, head.live_from), last)
    return [read_line(line) for line in within(reversed(lines) if window.newest_first else lines)]


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
