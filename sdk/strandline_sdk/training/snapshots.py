"""The policies of a user, as the API has them: taken, compared, restored."""

from collections.abc import Sequence
from dataclasses import dataclass

from strandline_sdk.client import Client
from strandline_sdk.errors import ApiError
from strandline_sdk.model import Memory
from strandline_sdk.rollouts.policies import EXPERIENCES, Policy, PolicySet, unmarked

PREFIX = EXPERIENCES


@dataclass(frozen=True)
class MemorySnapshotter:
    """The experiences of the user whose key it is. A snapshot is named by a hash of what they say, so it is the same
    wherever it is taken, and whole, so it can be restored."""

    client: Client

    def take(self) -> PolicySet:
        """The experiences as they are, without the marks behind their lines."""
        memories = [self._whole(row["path"]) for row in self.client.memories(PREFIX)]
        root = memories[0]["uri"].removesuffix(memories[0]["path"]) + PREFIX if memories else PREFIX
        return PolicySet.of(root.rstrip("/"), map(_policy, memories))

    def restore(self, policies: PolicySet) -> None:
        """Writes what differs from the snapshot, and deletes what it has not."""
        now = self.take()
        for name, policy in policies.policies.items():
            old = now.policies.get(name)
            if old is None or old.content != policy.content:
                self.client.put_memory(path_of(name), policy.content)
        for name in now.policies.keys() - policies.policies.keys():
            self.client.delete_memory(path_of(name))

    def _whole(self, path: str) -> Memory:
        return self.client.memory(path)


def path_of(name: str) -> str:
    """Where the experience of a name is."""
    return f"{PREFIX}{name}.md"


def _policy(memory: Memory) -> Policy:
    name = memory["path"].removeprefix(PREFIX).removesuffix(".md")
    text = unmarked(memory["content"])
    return Policy(name, memory["uri"], text, memory.get("version", 1), "production")


@dataclass(frozen=True)
class MemoryUpdater:
    """Writes a promoted set for the user who is served. What somebody else has changed meanwhile is left as it is."""

    client: Client

    def publish(self, current: PolicySet, promoted: PolicySet) -> Sequence[dict[str, str]]:
        """A line for each experience that changes: written, there already, or in conflict."""
        return [{"name": p.name, "change": self._write(current, p)} for p in _changed(current, promoted)]

    def _write(self, current: PolicySet, policy: Policy) -> str:
        old = current.policies.get(policy.name)
        now = self._now(policy.name)
        text = unmarked(now["content"]) if now else None
        if text == policy.content:
            return "unchanged"  # as after a run that was killed
        if text != (old.content if old else None):
            return "conflict"
        return self._put(policy, now["sha256"] if now else None)

    def _put(self, policy: Policy, known: str | None) -> str:
        try:
            self.client.put_memory(path_of(policy.name), policy.content, if_match=known, new=known is None)
        except ApiError as error:
            if error.status != 412:
                raise
            return "conflict"
        return "updated" if known else "added"

    def _now(self, name: str) -> Memory | None:
        try:
            return self.client.memory(path_of(name))
        except ApiError as error:
            if error.status != 404:
                raise
            return None


@dataclass(frozen=True)
class DryRun:
    """Says what would be written."""

    def publish(self, current: PolicySet, promoted: PolicySet) -> Sequence[dict[str, str]]:
        """A line for each experience that would change."""
        return [{"name": policy.name, "change": "dry run"} for policy in _changed(current, promoted)]


def _changed(current: PolicySet, promoted: PolicySet) -> list[Policy]:
    def differs(policy: Policy) -> bool:
        old = current.policies.get(policy.name)
        return old is None or old.content != policy.content

    return [policy for policy in promoted.policies.values() if differs(policy)]
