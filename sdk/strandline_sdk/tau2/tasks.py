"""tau2's tasks as cases.

A case's kind (`task_signature`) is what the task needs to have changed: `airline: cancel reservation`. It names the
experience that training rollouts of the kind share; an agent does not see it, and finds experiences by what its user
says.
"""

from collections.abc import Sequence
from typing import Any

from tau2.data_model.tasks import Task
from tau2.registry import registry

from strandline_sdk.rollouts.model import Case, CasesQuery

DATASET = "tau2"
WHOLE = "base"
_READS = ("get_", "list_", "search_", "find_", "calculate", "think", "check_")


def cases(wanted: CasesQuery) -> Sequence[Case]:
    """The tasks of a domain's split, in the order of the data set. Raises LookupError."""
    if wanted["dataset"] != DATASET:
        raise LookupError(f"no data set {wanted['dataset']!r}: this is {DATASET}")
    return [_case(wanted["domain"], task) for task in tasks(wanted["domain"], wanted["split"])]


def tasks(domain: str, split: str) -> list[Task]:
    """Raises LookupError for a domain or split that tau2 does not have."""
    if domain not in registry.get_domains():
        raise LookupError(f"no domain {domain!r}: there are {', '.join(registry.get_domains())}")
    splits = registry.get_task_splits_loader(domain)
    known = sorted(splits()) if splits else [WHOLE]
    if split not in known:
        raise LookupError(f"no split {split!r} of {domain}: there are {', '.join(known)}")
    return list(registry.get_tasks_loader(domain)(split if splits else None))


def task_of(case: Case) -> Task:
    """The task of a case. Raises LookupError."""
    domain, name = case["metadata"]["domain"], case["metadata"]["task_id"]
    for task in registry.get_tasks_loader(domain)(None):
        if task.id == name:
            return task
    raise LookupError(f"no task {name!r} in {domain}")


def changes(task: Task) -> list[str]:
    """The calls that the task needs and that change something, by name, each once."""
    actions: Sequence[Any] = (task.evaluation_criteria.actions if task.evaluation_criteria else None) or ()
    return sorted({action.name for action in actions if not action.name.startswith(_READS)})


def _case(domain: str, task: Task) -> Case:
    wanted = " and ".join(name.replace("_", " ") for name in changes(task)) or "change nothing"
    return {
        "name": f"{domain}-{task.id}",
        "task_signature": f"{domain}: {wanted}",
        "input": _asked(task),
        "metadata": {"domain": domain, "task_id": task.id},
    }


def _asked(task: Task) -> str:
    """What the user calls for, in the words of the task."""
    instructions = task.user_scenario.instructions
    return str(getattr(instructions, "reason_for_call", instructions))
