"""How often the right task comes first: tau-bench's logged runs on airline tasks, some runs a task as its case, the
requests of its other runs as queries. And which experiences are related, where nobody names the cases.

    python -m tests.perf.experiences ../shared/data/tau2/gpt-4o-airline.json.gz
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path

from strandline.domain.learning.case import experience_path
from strandline.domain.learning.standing import related
from strandline.domain.learning.task import tasks_of
from strandline.domain.message import MessageIn
from strandline.domain.ranking import Conditions, Document, Index, search_all
from strandline.entry.wiring import RuleModel
from strandline.pipeline import memory
from strandline.pipeline.append import AppendRequest, run_append
from strandline.pipeline.experience import search_experience
from strandline_sdk.importers import read_sessions
from strandline_sdk.importers.imported import ImportedSession
from tests.pipeline.world import ALICE, World

Ranked = Callable[[str], Sequence[str]]
Runs = Mapping[str, Sequence[ImportedSession]]


def runs_of(path: Path) -> Runs:
    """The runs of each task, by the name of its case."""
    found: dict[str, list[ImportedSession]] = {}
    for session in read_sessions(path, "tau"):
        case = next(
            m["metadata"]["case"]["name"] for m in session.messages if "case" in m.get("metadata", {})
        )
        found.setdefault(case, []).append(session)
    return found


def request(run: ImportedSession) -> str:
    """What was asked first."""
    return next(m["content"] for m in run.messages if m["role"] == "user" and "content" in m)


def whole(run: ImportedSession) -> str:
    """All that was said, without the policy that every run begins with."""
    return "\n".join(m["content"] for m in run.messages if m["role"] != "system" and "content" in m)


def by(text: Callable[[ImportedSession], str], known: Runs) -> Ranked:
    """A search among tasks, each found by that text of its known runs."""
    documents = {
        name: [Document(f"{name}#{n}", name, text(run), {}) for n, run in enumerate(runs)]
        for name, runs in known.items()
    }
    index = Index().replace_groups(documents)

    def ranked(query: str) -> Sequence[str]:
        hits = search_all([index], query, Conditions(50))
        return list(dict.fromkeys(hit.document.group for hit in hits))

    return ranked


def learnt(known: Runs) -> Ranked:
    """`search_experience` of a service that has learnt from these runs."""
    world = World(model=RuleModel())
    for run in (run for runs in known.values() for run in runs):
        messages = [MessageIn.model_validate(message) for message in run.messages]
        run_append(world.services(), AppendRequest(ALICE, run.session_id, messages))
        world.commit(run.session_id)
        world.settle()
    services = world.services()
    return lambda query: [found.memory.title for found in search_experience(services, ALICE, query, 10)]


def measure(runs: Runs, many: int) -> dict[str, tuple[float, float]]:
    """(right task first, among the first three), in per cent, by way of searching; that many runs a task are known."""
    first = {name: found[:many] for name, found in runs.items()}
    asked = [(name, request(run)) for name, found in runs.items() for run in found[many:]]
    ways = {
        "by first request": by(request, first),
        "by whole conversation": by(whole, first),
        "search_experience": learnt(first),
    }
    found = {}
    for name, ranked in ways.items():
        places = [list(ranked(query)) for _, query in asked]
        right = [wanted for wanted, _ in asked]
        found[name] = tuple(
            100 * sum(want in place[:k] for want, place in zip(right, places, strict=True)) / len(asked)
            for k in (1, 3)
        )
    return found  # type: ignore[return-value]


def unnamed(run: ImportedSession) -> list[MessageIn]:
    """The messages of a run, of which only the judgement says that it is one."""
    rows = [
        {**row, "metadata": {"evaluation": row.get("metadata", {}).get("evaluation")}} for row in run.messages
    ]
    return [MessageIn.model_validate(row) for row in rows]


def relations(runs: Runs, *, backwards: bool) -> tuple[int, int, int, int]:
    """Experiences that are learnt of all runs, pairs of them that are related, how many of these are of one task,
    and how many pairs of one task there are."""
    world = World(model=RuleModel())
    tasks: dict[str, set[str]] = {}
    for name, found in runs.items():
        for run in found:
            tasks.setdefault(experience_path(case_name(run)), set()).add(name)
    order = [each[n] for n in range(4) for each in runs.values()]
    for run in reversed(order) if backwards else order:
        run_append(world.services(), AppendRequest(ALICE, run.session_id, unnamed(run)))
        world.commit(run.session_id)
        world.settle()
    services = world.services()
    linked = {
        frozenset((path, other))
        for path in memory.list_memories(services, ALICE, "experiences/")
        for other in related(memory.read(services, ALICE, path))
    }
    right = sum(bool(set.intersection(*(tasks[path] for path in pair))) for pair in linked)
    of_one = sum(bool(tasks[one] & tasks[other]) for one, other in combinations(tasks, 2))
    return len(tasks), len(linked), right, of_one


def case_name(run: ImportedSession) -> str:
    """What the case of an unnamed run is called."""
    rows = [{"seq": n, **row.model_dump(exclude_none=True)} for n, row in enumerate(unnamed(run), start=1)]
    ((task,), _) = tasks_of(rows)
    return task.name


if __name__ == "__main__":
    for many in (1, 3):
        print(f"{many} of 4 runs known")
        for way, (one, three) in measure(runs_of(Path(sys.argv[1])), many).items():
            print(f"  {way:25}{one:6.1f} % first{three:6.1f} % among three")
    for backwards in (False, True):
        learnt_of, linked, right, of_one = relations(runs_of(Path(sys.argv[1])), backwards=backwards)
        print(
            f"nobody names the cases{', backwards' if backwards else ''}: {learnt_of} experiences, {linked} pairs"
            f" related, {right} of one task ({100 * right / linked:.1f} %), {100 * right / of_one:.1f} % of all such"
        )
