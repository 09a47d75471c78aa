"""Recorded conversations (`tests/cases/context`): steps, and the context that each of them has to give, wherever it
runs.

    say      messages, in a batch; `{"repeat": [text, n]}` anywhere in a step is the text n times
    commit   archives what is live
    drain    everything that is under way comes to its end
    fail     from now on no extraction succeeds     mend   they succeed again     retry   a commit's task, once more
    context  what the model is given; `expect` is the answer

In what is expected a message is a line: its seq, its role, a hash of all of it and how its text reads; a long text is
its length, its hash, its beginning and its end. What a run calls by names of its own (its tasks), and when it happened,
is left out; and so is, in what is expected but not in what two runs have in common, how the summary reads and how many
tokens there are with it.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from strandline.domain.compaction.sizes import texts

CASES = Path(__file__).parents[1] / "cases" / "context"
NAMES = sorted(path.stem for path in CASES.glob("*.json"))
SHORT = 200
LINE = 160
OF_THE_RUN = {"task_id", "retry_at", "explain", "score"}
Step = Mapping[str, Any]


class Driver(Protocol):
    """A running service, and one user of it."""

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """The result of a good answer below `/api/v1`."""

    def drain(self, session: str) -> None:
        """Everything that is under way in the session has come to its end."""

    def fail(self) -> None:
        """No extraction succeeds any more."""

    def mend(self) -> None:
        """Extractions succeed again."""


@dataclass(frozen=True)
class Script:
    """A conversation."""

    name: str
    why: str
    steps: Sequence[Step]

    @classmethod
    def load(cls, name: str) -> "Script":
        given = json.loads((CASES / f"{name}.json").read_text())
        return cls(name, given["why"], given["steps"])

    @property
    def expected(self) -> list[Any]:
        """What its contexts are to be, in order."""
        return [step["expect"] for step in self.steps if step["do"] == "context"]


class Run:
    """A script on its way through a service. `seen`: its contexts so far; `expectable`: what is expected of them."""

    def __init__(self, script: Script, driver: Driver) -> None:
        self._script, self._driver = script, driver
        self._session = f"replay-{script.name}"
        self._tasks: list[str] = []
        self.seen: list[Any] = []

    @property
    def expectable(self) -> list[Any]:
        return list(map(_expectable, self.seen))

    def step(self, number: int) -> None:
        step = self._script.steps[number]
        getattr(self, f"_{step['do']}")(unfolded(step.get("body")))

    def _create(self, body: Any) -> None:
        self._driver.request("POST", "/sessions", {"session_id": self._session, **body})

    def _say(self, body: Any) -> None:
        self._driver.request("POST", f"/sessions/{self._session}/messages/batch", {"messages": body})

    def _commit(self, body: Any) -> None:
        self._tasks.append(self._driver.request("POST", f"/sessions/{self._session}/commit", body)["task_id"])

    def _drain(self, _: Any) -> None:
        self._driver.drain(self._session)

    def _fail(self, _: Any) -> None:
        self._driver.fail()

    def _mend(self, _: Any) -> None:
        self._driver.mend()

    def _retry(self, number: int) -> None:
        self._driver.request("POST", f"/tasks/{self._tasks[number - 1]}/retry")

    def _context(self, body: Any) -> None:
        given = self._driver.request("POST", f"/sessions/{self._session}/context", {"memory": None, **body})
        self.seen.append(_recorded(given))


def unfolded(value: Any) -> Any:
    """The value with its repeated texts written out."""
    if isinstance(value, dict):
        if value.keys() == {"repeat"}:
            text, times = value["repeat"]
            return text * times
        if value.keys() == {"joined"}:
            return "".join(map(unfolded, value["joined"]))
        return {name: unfolded(each) for name, each in value.items()}
    return [unfolded(each) for each in value] if isinstance(value, list) else value


def _recorded(answer: Any) -> Any:
    return {**_short(answer), "messages": [_line(message) for message in answer["messages"]]}


def _expectable(seen: Any) -> Any:
    summary, tokens = seen["summary"], seen["tokens"]
    if not summary:
        return seen
    room = {name: tokens[name] for name in ("effective_window", "warning", "auto", "blocking")}
    return {**seen, "summary": {"covered_through_seq": summary["covered_through_seq"]}, "tokens": room}


def _line(message: Any) -> str:
    """`7 user 0a1b2c3d4e5f 27 "Her keel is cracked."`: seq, role, hash, characters, and how it reads."""
    whole = json.dumps(message, sort_keys=True, ensure_ascii=False)
    text = " | ".join(texts(message))
    reads = text if len(text) <= LINE else f"{text[: LINE // 2]} (…) {text[-LINE // 2 :]}"
    return f"{message['seq']} {message['role']} {_hash(whole)} {len(text)} {json.dumps(reads, ensure_ascii=False)}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _short(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _short(each) for name, each in value.items() if name not in OF_THE_RUN}
    if isinstance(value, list):
        return [_short(each) for each in value]
    if isinstance(value, str) and len(value) > SHORT:
        return {"chars": len(value), "hash": _hash(value), "begins": value[:60], "ends": value[-60:]}
    return value
