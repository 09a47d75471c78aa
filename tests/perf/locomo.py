"""LoCoMo through the service: import, search, and recall of the evidence turns beside a plain BM25.

A conversation is a user, a session of it a session. A hit stands for the turns it cites: a message for its own, a
memory line for the span of its source. Recall is counted by `locomo_score.py`: k counts hits.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from strandline.domain.memory import read_lines
from strandline_sdk.client import Client
from strandline_sdk.importers import ImportedSession, read_sessions
from strandline_sdk.upload import Uploader
from tests.perf.bm25 import Bm25, stems
from tests.perf.skip import Skipped
from tests.perf.world import ROOT

SHARED = ROOT.parent / "shared"
DATA = SHARED / "data" / "locomo7.json"
SCORE = SHARED / "tools" / "locomo_score.py"
LIMIT = 20
ANSWERABLE = (1, 2, 3, 4)
JOBS = 4

Ranked = Sequence[str | Sequence[str]]
Search = Callable[["Question"], Ranked]
_SCORES = re.compile(r"^\s+(all|[1-4]): turn ([\d. ]+) \|", re.MULTILINE)


@dataclass(frozen=True)
class Question:
    """One question of a conversation, and the turns that hold its answer."""

    sample: str
    number: int
    category: int
    text: str
    evidence: frozenset[str]


class Locomo:
    """The data set. Raises Skipped when it, or its measure, is not here."""

    def __init__(self, *, quick: bool, conversations: int | None = None) -> None:
        for path in (DATA, SCORE):
            if not path.exists():
                raise Skipped(f"there is no ../shared/{path.relative_to(SHARED)}")
        self._conversations = 1 if quick else conversations

    @cached_property
    def sessions(self) -> list[ImportedSession]:
        found = list(read_sessions(DATA, "locomo"))
        kept = list(dict.fromkeys(s.conversation for s in found))[: self._conversations]
        return [s for s in found if s.conversation in kept]

    @cached_property
    def samples(self) -> list[str]:
        return list(dict.fromkeys(session.conversation for session in self.sessions))

    @property
    def turns(self) -> int:
        return sum(len(session.messages) for session in self.sessions)

    @cached_property
    def ids(self) -> Mapping[str, Sequence[str]]:
        """The turn ids of each session, by session id; a turn's seq is its place there."""
        return {s.session_id: [str(m.get("id")) for m in s.messages] for s in self.sessions}

    @cached_property
    def questions(self) -> list[Question]:
        """Those the measure counts: answerable, with evidence that exists."""
        return [question for conversation in self.conversations for question in self._questions(conversation)]

    @cached_property
    def conversations(self) -> list[dict[str, Any]]:
        return [c for c in json.loads(DATA.read_text()) if c["sample_id"] in self.samples]

    def _questions(self, conversation: Mapping[str, Any]) -> Iterator[Question]:
        sample = conversation["sample_id"]
        known = {i for session, ids in self.ids.items() if session.startswith(f"{sample}-") for i in ids}
        for number, row in enumerate(conversation["qa"]):
            named = " ".join(row.get("evidence") or ()).replace("D:", "D")
            evidence = frozenset(f"D{int(a)}:{int(b)}" for a, b in re.findall(r"D(\d+):(\d+)", named)) & known
            if evidence and row["category"] in ANSWERABLE:
                yield Question(sample, number, row["category"], row["question"], evidence)

    def texts(self, sample: str) -> dict[str, str]:
        """Every turn of a conversation as `speaker: text`, by id."""
        own = [session for session in self.sessions if session.conversation == sample]
        return {str(m.get("id")): f"{m.get('peer_id')}: {m.get('content')}" for s in own for m in s.messages}

    def cited(self, session_id: str, first: int, last: int) -> list[str]:
        return list(self.ids[session_id][first - 1 : last])


def store(
    data: Locomo, client: Client, *, jobs: int = JOBS, sessions: Sequence[ImportedSession] | None = None
) -> list[tuple[str, str]]:
    """Imports and commits these sessions, without any every one; answers (conversation, task id). Raises RuntimeError
    when one is refused."""
    clients = {sample: client.acting_for(sample) for sample in data.samples}
    uploader = Uploader(lambda session: clients[session.conversation])
    done = list(uploader.upload(data.sessions if sessions is None else sessions, jobs))
    if failed := [session for session in done if session.error or session.task_id is None]:
        raise RuntimeError(f"{len(failed)} sessions were not stored, the first: {failed[0]}")
    return [(session.conversation, str(session.task_id)) for session in done]


def finish(client: Client, tasks: Iterable[tuple[str, str]]) -> None:
    """Waits until every task has completed. Raises RuntimeError when one ended otherwise."""
    for sample, task_id in tasks:
        task = client.acting_for(sample).wait_for_task(task_id)
        if task["status"] != "completed":
            raise RuntimeError(f"task {task_id} of {sample}: {task['status']}, {task.get('error')}")


def searches(data: Locomo, client: Client) -> dict[str, Search]:
    """What is compared: from a question to what is found, best first."""
    plain = {sample: Bm25(data.texts(sample)) for sample in data.samples}
    stemmed = {sample: Bm25(data.texts(sample), stems) for sample in data.samples}

    def find(question: Question, context_type: str) -> list[Any]:
        whose = client.acting_for(question.sample)
        return list(whose.find(question.text, limit=LIMIT, context_type=context_type)["memories"])

    def memories(question: Question) -> Ranked:
        return [_turns(data, hit) for hit in find(question, "memory")]

    return {
        "plain BM25 over turns": lambda q: plain[q.sample].rank(q.text, LIMIT),
        "the same with stems": lambda q: stemmed[q.sample].rank(q.text, LIMIT),
        "message search": lambda q: [hit["message_id"] for hit in find(q, "message")],
        "memory search": memories,
    }


def _turns(data: Locomo, hit: Mapping[str, Any]) -> list[str]:
    spans = [(s["session_id"], s["seq_from"], s["seq_to"]) for s in hit["sources"]]
    return [turn for span in spans for turn in data.cited(*span)]


def recall(data: Locomo, search: Search) -> dict[str, list[float]]:
    """Percent at 1, 5, 10 and 20 by category, and `all`."""
    with ThreadPoolExecutor(JOBS) as pool:
        found = list(pool.map(search, data.questions))
    rows = [
        {"sample_id": question.sample, "qi": question.number, "ranked": ranked}
        for question, ranked in zip(data.questions, found, strict=True)
    ]
    return _scored(json.dumps(data.conversations), "\n".join(map(json.dumps, rows)))


def _scored(asked: str, ranked: str) -> dict[str, list[float]]:
    with tempfile.TemporaryDirectory() as directory:
        questions, answers = Path(directory, "questions.json"), Path(directory, "answers.jsonl")
        questions.write_text(asked)
        answers.write_text(ranked)
        command = [sys.executable, str(SCORE), "--data", str(questions), str(answers)]
        shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {category: [float(x) for x in scores.split()] for category, scores in _SCORES.findall(shown)}


@dataclass(frozen=True)
class Coverage:
    """How much of the evidence some memory line cites, and what there is to find."""

    cited: int
    evidence: int
    files: int
    lines: int
    turns_cited: int

    @property
    def share(self) -> float:
        return self.cited / self.evidence


def coverage(data: Locomo, client: Client) -> Coverage:
    """Reads every memory of every conversation."""
    evidence = {(q.sample, turn) for q in data.questions for turn in q.evidence}
    cited: set[tuple[str, str]] = set()
    files = lines = 0
    for sample in data.samples:
        whose = client.acting_for(sample)
        for listed in whose.memories():
            found, _ = read_lines(whose.memory(listed["path"])["content"])
            files, lines = files + 1, lines + len(found)
            spans = [(x.source.session_id, x.source.seq_from, x.source.seq_to) for x in found]
            cited |= {(sample, turn) for span in spans for turn in data.cited(*span)}
    return Coverage(len(evidence & cited), len(evidence), files, lines, len(cited))
