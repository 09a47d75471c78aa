"""What a run over a service does not show: a callable instead of one, hooks, snapshots that are restored."""

import pytest

from strandline_sdk.client import Client
from strandline_sdk.rollouts import Attempt, Outcome, Policy, PolicySet
from strandline_sdk.training.assembly import train
from strandline_sdk.training.executors import LocalExecutor
from strandline_sdk.training.hooks import Silent
from strandline_sdk.training.snapshots import DryRun, MemorySnapshotter, MemoryUpdater
from strandline_sdk.training.values import Planned, RolloutFailed
from tests.training import vault
from tests.training.conftest import Runs

AMBER = Policy(
    "open-the-amber-vault", "x/amber.md", "## Situation\n\nopen the amber vault\n\n- word 1: say aspen\n"
)


def planned() -> Planned:
    wanted = {
        "dataset": "vaults",
        "domain": "stone",
        "split": "test",
        "cursor": None,
        "limit": 9,
        "filters": {},
    }
    return Planned("baseline", 0, 1, vault.cases(wanted)[0], seed=7)  # type: ignore[arg-type]


def test_a_callable_is_as_good_as_a_service() -> None:
    executor = LocalExecutor(vault.attempt, {})
    assert executor.execute(planned(), PolicySet("x"))["evaluation"]["passed"] is False
    known = PolicySet.of("x", [AMBER])
    found = executor.execute(planned(), known)
    assert (found["evaluation"]["passed"], found["policy_snapshot_id"]) == (True, known.snapshot_id)
    assert found["metadata"]["memory"]["read"] == ["open-the-amber-vault"]


def test_a_callable_that_raises_is_a_rollout_that_failed() -> None:
    def breaks(trial: Attempt) -> Outcome:
        raise KeyError(trial.options["seed"])

    with pytest.raises(RolloutFailed, match="KeyError: 7"):
        LocalExecutor(breaks, {}).execute(planned(), PolicySet("x"))


class Once(Silent):
    """Ends the run after the first epoch."""

    def epoch_ended(self, epoch: int, report: object) -> bool:
        return False


def test_a_hook_may_end_the_run(runs: Runs) -> None:
    report, _ = train(runs.setup({"epochs": 5, "eval_split": "none"}, hooks=Once(), commit=False))
    assert (len(report["epochs"]), report["status"]) == (1, "completed")


def test_a_snapshot_is_the_same_wherever_it_is_taken_and_can_be_restored(client: Client) -> None:
    client.put_memory("experiences/a.md", "# A\n\none\n")
    client.put_memory("experiences/b.md", "# B\n\ntwo\n")
    here, there = MemorySnapshotter(client), MemorySnapshotter(client.acting_for("bob"))
    taken = here.take()
    client.put_memory("experiences/a.md", "# A\n\nthree\n")
    client.put_memory("experiences/c.md", "# C\n\nfour\n")
    assert here.take().snapshot_id != taken.snapshot_id
    here.restore(taken)
    there.restore(taken)
    assert here.take().snapshot_id == there.take().snapshot_id == taken.snapshot_id
    assert [memory["path"] for memory in client.memories()] == ["experiences/a.md", "experiences/b.md"]


def test_what_somebody_else_has_changed_is_not_overwritten(client: Client) -> None:
    client.put_memory("experiences/a.md", "# A\n\none\n")
    client.put_memory("experiences/b.md", "# B\n\ntwo\n")
    current = MemorySnapshotter(client).take()
    promoted = PolicySet.of(
        current.root_uri, [Policy(name, "", f"# {name}\n\nnew\n") for name in ("a", "b", "c")]
    )
    client.put_memory("experiences/b.md", "# B\n\nmine\n")
    told = {row["name"]: row["change"] for row in MemoryUpdater(client).publish(current, promoted)}
    assert told == {"a": "updated", "b": "conflict", "c": "added"}
    assert client.memory("experiences/b.md")["content"] == "# B\n\nmine\n"
    again = {row["name"]: row["change"] for row in MemoryUpdater(client).publish(current, promoted)}
    assert again == {"a": "unchanged", "b": "conflict", "c": "unchanged"}
    assert {row["change"] for row in DryRun().publish(current, promoted)} == {"dry run"}
