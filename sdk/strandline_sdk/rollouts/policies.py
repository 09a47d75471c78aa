"""Policies as both sides hold them: a set of experiences, named by a hash of what they say."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, cast

from strandline_sdk.rollouts.model import MemoryUse, PolicyEntry, PolicySetDocument, PolicyStatus

EXPERIENCES = "experiences/"
_WORD = re.compile(r"[^\W_]+")
_SITUATION = re.compile(r"^##\s+Situation\s*\n(.*?)(?=^##\s|\Z)", re.MULTILINE | re.DOTALL | re.IGNORECASE)
_MARK = re.compile(r"[ \t]*<!--.*?-->[ \t]*$", re.MULTILINE)
_LINKS = re.compile(r"\n+## Links\n(?:- [^\n]*\n?)+\s*\Z")
_SHORT = 2  # words of so few letters say nothing
_FOUND = 5


@dataclass(frozen=True)
class Policy:
    """An experience: a markdown text with Situation, Approach and Reflect."""

    name: str
    uri: str
    content: str
    version: int = 1
    status: PolicyStatus = "production"
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def situation(self) -> str:
        """When it applies: its section Situation, or its first line."""
        found = _SITUATION.search(self.content)
        lines = (found[1] if found else self.content).strip().splitlines()
        return " ".join(line.strip().removeprefix("- ") for line in (lines if found else lines[:1]))


@dataclass(frozen=True)
class PolicySet:
    """Policies by name, in the order of their names."""

    root_uri: str
    policies: Mapping[str, Policy] = field(default_factory=dict)

    @staticmethod
    def of(root_uri: str, policies: Iterable[Policy]) -> "PolicySet":
        """A set of these; of two with one name the later counts."""
        by_name = {policy.name: policy for policy in policies}
        return PolicySet(root_uri, dict(sorted(by_name.items())))

    @property
    def snapshot_id(self) -> str:
        """The same for the same names and texts, whoever has them, wherever, in whatever order."""
        said = [[name, policy.content] for name, policy in self.policies.items()]
        text = json.dumps(said, ensure_ascii=False, separators=(",", ":"))
        return f"snap_{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"

    def document(self, *, content: bool, **metadata: Any) -> PolicySetDocument:
        """As it is sent: by reference, or with what the policies say."""
        entries = [_entry(policy, content) for policy in self.policies.values()]
        return {"root_uri": self.root_uri, "policies": entries, "metadata": metadata}

    @staticmethod
    def read(document: PolicySetDocument) -> "PolicySet":
        """The set that was sent with content. Raises ValueError for an entry without."""
        return PolicySet.of(document["root_uri"], map(_policy, document["policies"]))


def _entry(policy: Policy, content: bool) -> PolicyEntry:
    entry: PolicyEntry = {
        "name": policy.name,
        "uri": policy.uri,
        "version": policy.version,
        "status": policy.status,
        "metadata": dict(policy.metadata),
    }
    return cast(PolicyEntry, {**entry, "content": policy.content} if content else entry)


def _policy(entry: PolicyEntry) -> Policy:
    if not isinstance(entry.get("content"), str):
        raise ValueError(f"policy {entry['name']} has no content")
    return Policy(
        entry["name"],
        entry.get("uri", ""),
        entry["content"],
        entry.get("version", 1),
        entry.get("status", "production"),
        entry.get("metadata", {}),
    )


def unmarked(text: str) -> str:
    """A memory's text as its owner would have written it: without the marks behind its lines and the links at its end,
    which the service makes, and which lead to what this user alone has."""
    return _LINKS.sub("\n", _MARK.sub("", text).replace("\r\n", "\n"))


def words(text: str) -> frozenset[str]:
    """The words of a text that say something, in lower case."""
    return frozenset(w for w in _WORD.findall(text.lower()) if len(w) > _SHORT)


class Experiences:
    """The policies of a rollout, disclosed step by step: first when each applies, then, by name, what it says.

    Remembers what was read. May be used by the threads of one rollout.
    """

    def __init__(self, policies: PolicySet) -> None:
        self._policies = policies
        self._read: list[str] = []
        self._given: list[str] = []
        self._calls = 0
        self._lock = Lock()

    def search(self, query: str, limit: int = _FOUND) -> list[dict[str, str]]:
        """`{name, uri, situation}` of the experiences that share words with the query, best first."""
        with self._lock:
            self._calls += 1
        found = self._ranked(query)[:limit]
        return [{"name": p.name, "uri": p.uri, "situation": p.situation} for p in found]

    def read(self, uri: str) -> str | None:
        """What the experience at this address (or of this name) says; None when there is none."""
        for policy in self._policies.policies.values():
            if uri in (policy.uri, policy.name):
                return self._noted(policy, calls=1)
        return None

    def handed(self, query: str, limit: int = _FOUND) -> list[str]:
        """What the best of them say, for a prompt: they count as read, but by no call."""
        return [self._noted(policy, calls=0) for policy in self._ranked(query)[:limit]]

    @property
    def empty(self) -> bool:
        """Whether nothing has been learnt yet."""
        return not self._policies.policies

    def use(self) -> MemoryUse:
        """What was taken from them."""
        with self._lock:
            read = list(dict.fromkeys(self._read))
            context = "\n\n".join(dict.fromkeys(self._given))
            return {"context": context, "read": read, "tool_calls": self._calls}

    def _noted(self, policy: Policy, calls: int) -> str:
        with self._lock:
            self._calls += calls
            self._read.append(policy.name)
            self._given.append(policy.content)
        return policy.content

    def _ranked(self, query: str) -> list[Policy]:
        asked = words(query)
        ranked = [(self._likeness(asked, policy), policy) for policy in self._policies.policies.values()]
        found = sorted((each for each in ranked if each[0] > 0), key=lambda each: (-each[0], each[1].name))
        return [policy for _, policy in found]

    @staticmethod
    def _likeness(asked: frozenset[str], policy: Policy) -> float:
        said = words(f"{policy.name} {policy.situation}")
        return len(asked & said) / (len(said) + 1)
