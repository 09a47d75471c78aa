"""What a run has left in the service, and its deletion: sessions of training, users of drafts and of snapshots.

All of them are the run's own, by name, and nobody is served by them. What was promoted are memories of the user who is
served: nothing here touches a memory of that user, and a user whom the client acts for is never erased.

What has been deleted stands in `cleaned.json` of the run's directory: per session what was erased, per user the task of
its erasure, whose result is the receipt.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from strandline_sdk.client import Client
from strandline_sdk.rollouts.spool import write_json
from strandline_sdk.training.published import snapshot_user
from strandline_sdk.training.results import RunDirectory
from strandline_sdk.training.service_learner import draft_user

_FILE = "cleaned.json"


class NotCleanable(ValueError):
    """No run, or somebody else's."""


@dataclass(frozen=True)
class Left:
    """What is there: session ids of the user that is served, and users of the run's own."""

    sessions: tuple[str, ...]
    users: tuple[str, ...]


@dataclass(frozen=True)
class Remains:
    """Of one run; `client` acts for the user that the run was for, with an admin or root key where it has made
    users."""

    directory: RunDirectory
    client: Client
    _cleaned: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        named = self._named()
        whose = (self.client.account, self.client.user)
        if whose != (named.get("account"), named.get("user")):
            raise NotCleanable(f"the run was for another user: {_acting(named)}")
        self._cleaned.update({"sessions": [], "users": [], **self._read()})

    def left(self) -> Left:
        """What a deletion would delete. Raises ApiError."""
        prefix = f"train-{self._run}-"
        sessions = [s["session_id"] for s in self.client.sessions() if s["session_id"].startswith(prefix)]
        return Left(tuple(sorted(sessions)), tuple(filter(self._is_there, self._users())))

    def delete(self) -> None:
        """Deletes it, and says so in the run's directory: one that is not over cannot be gone on with. Raises
        ApiError."""
        if not self.directory.events("run_ended") and not self.directory.events("given_up"):
            self.directory.event("given_up")
        left = self.left()
        for session in left.sessions:
            self._cleaned["sessions"].append(dict(self.client.delete_session(session)))
            self._write()
        for user in left.users:
            task = self.client.erase_user(user)["task_id"]
            self._cleaned["users"].append({"user_id": user, "task_id": task})
            self._write()

    def cleaned(self, *, timeout: float = 0.0) -> dict[str, Any]:
        """What was deleted, with the receipts of users that are there by now, or within `timeout` seconds."""
        for row in self._cleaned["users"]:
            if "receipt" not in row:
                with suppress(TimeoutError):
                    task = self.client.wait_for_task(row["task_id"], timeout=timeout)
                    row.update(
                        {"status": task["status"], "receipt": task.get("result"), "error": task.get("error")}
                    )
        self._write()
        return self._cleaned

    # ---- names -------------------------------------------------------------------------------------------

    def _users(self) -> Iterator[str]:
        """Drafts are counted from 1, an epoch begins one at most; a snapshot is of policies that the run has kept."""
        named = self._named()
        if named.get("learn") == "service":
            for number in range(1, len(self.directory.events("epoch_began")) + 1):
                yield draft_user(self._run, number)
        if named.get("policies") == "key":
            for file in sorted((self.directory.path / "policies").glob("snap_*.json")):
                yield snapshot_user(self._run, file.stem)

    def _is_there(self, user: str) -> bool:
        """Whether it has anything, and is not being erased already."""
        if user == self.client.user or user in [row["user_id"] for row in self._cleaned["users"]]:
            return False
        acting = self.client.acting_for(user)
        return (
            next(acting.memories(), None) is not None or next(acting.sessions(page_size=1), None) is not None
        )

    @property
    def _run(self) -> str:
        return str(self._named()["run"])

    def _named(self) -> dict[str, Any]:
        named = self.directory.events("run_named")
        if not named:
            raise NotCleanable(f"{self.directory.path} is no run")
        return named[0]

    def _read(self) -> dict[str, Any]:
        with suppress(FileNotFoundError):
            found: dict[str, Any] = json.loads((self.directory.path / _FILE).read_text("utf-8"))
            return found
        return {}

    def _write(self) -> None:
        if any(self._cleaned.values()):
            write_json(self.directory.path / _FILE, self.directory.scrubber.document(self._cleaned))


def _acting(named: Mapping[str, Any]) -> str:
    given = [f"--{option} {named[option]}" for option in ("account", "user") if named.get(option)]
    return f"strandline {' '.join(given)} train clean …" if given else "leave out --account and --user"


def cleaning_lines(left: Left, cleaned: dict[str, Any]) -> Iterator[str]:
    """In words: what is there, and what became of what was."""
    yield from (f"there is: session {session}" for session in left.sessions)
    yield from (f"there is: user {user} and everything of it" for user in left.users)
    if cleaned["sessions"]:
        yield f"deleted: {len(cleaned['sessions'])} sessions"
    for row in cleaned["users"]:
        yield f"erased: user {row['user_id']}: {_receipt(row)}"
    if left.sessions or left.users:
        yield "nothing of this is served to anybody; --delete deletes it"
    elif not any(cleaned.values()):
        yield "the run has left nothing"


def _receipt(row: dict[str, Any]) -> str:
    if "receipt" not in row:
        return f"begun (task {row['task_id']})"
    if row["status"] != "completed":
        return f"{row['status']}: {row['error']}"
    return json.dumps(row["receipt"], sort_keys=True)
