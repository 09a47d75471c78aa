"""The run: a baseline, then epochs of rollouts, learning and evaluation; what proves better is promoted.

    baseline   the served policies on held-out cases (or what the cache has of them)
    epoch      rollouts of the training cases under the draft → recorded → learnt → snapshot
               → evaluation on held-out cases → gate: promoted, or still a draft, with the reason

A draft that is better without proof is learnt on from; one that is worse is dropped, and the next epoch begins from
what is served. Everything that happened is in the run's directory: a run that was killed is run again with it, finds
what is finished there, and comes to the same.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from strandline_sdk.rollouts.model import Case, PolicySetDocument
from strandline_sdk.rollouts.policies import PolicySet
from strandline_sdk.rollouts.spool import write_json
from strandline_sdk.training.cases import chosen, planned
from strandline_sdk.training.evaluation import Where, evaluated, summary
from strandline_sdk.training.gate import Verdict, judge
from strandline_sdk.training.hooks import Silent
from strandline_sdk.training.protocols import CaseLoader, Hooks, Learner, PolicySnapshotter, PolicyUpdater
from strandline_sdk.training.results import Results, RunDirectory
from strandline_sdk.training.stage import Stage
from strandline_sdk.training.values import Evaluated, Finished, Planned, Share, TrainOptions

Report = dict[str, Any]


@dataclass(frozen=True)
class Parts:
    """What a run is made of."""

    loader: CaseLoader
    stage: Stage
    learner: Learner
    snapshotter: PolicySnapshotter
    updater: PolicyUpdater
    results: Results
    service: str = "local"
    hooks: Hooks = field(default_factory=Silent)
    fresh_baseline: bool = False


@dataclass
class _State:
    """What is served, what it comes to, and the draft: `fresh` while nothing has been learnt into it."""

    current: PolicySet
    draft: PolicySet
    fresh: bool = True
    best: Evaluated | None = None


class Trainer:
    """One run in its directory."""

    def __init__(self, options: TrainOptions, parts: Parts) -> None:
        self._options = options
        self._parts = parts
        self._directory: RunDirectory = parts.stage.directory
        self._finished: list[Finished] = []

    def run(self) -> Report:
        """Does what is not done yet; the report. Raises ApiError for a service that stays away, ServiceBroken for one
        that is no use, ValueError for cases that are not there."""
        options = self._options
        train, held_out = self._cases()
        self._parts.results.point_at(self._directory.path)
        begun = self._begun()
        state = _State(begun, begun)
        report: Report = {"status": "running", "options": options.document(), "service": self._parts.service}
        report |= {"start_snapshot_id": begun.snapshot_id, "baseline": None, "epochs": []}
        self._write(report)
        if options.evaluates:
            state.best = self._baseline(held_out, begun)
            report["baseline"] = state.best.summary
            self._parts.hooks.evaluated(0, state.best.summary)
        self._write(report)
        for epoch in range(1, options.epochs + 1):
            report["epochs"].append(self._epoch(epoch, state, train, held_out))
            self._write(report)
            if not self._parts.hooks.epoch_ended(epoch, report["epochs"][-1]):
                break
        return self._ended(report, state)

    def _cases(self) -> tuple[list[Case], list[Case]]:
        options, load = self._options, self._parts.loader.load
        train, held_out = [], []
        if options.epochs:
            train = chosen(load(options.train_split), options.train_index, options.train_split)
        if options.evaluates:
            held_out = chosen(load(options.eval_split), options.eval_index, options.eval_split)
        return train, held_out

    def _begun(self) -> PolicySet:
        """What was served when the run began."""
        if known := self._directory.events("run_started"):
            return self._directory.policies(known[0]["snapshot_id"])
        policies = self._parts.snapshotter.take()
        self._directory.keep_policies(policies)
        self._directory.event("run_started", snapshot_id=policies.snapshot_id)
        return policies

    # ---- an epoch ----------------------------------------------------------------------------------------

    def _epoch(self, epoch: int, state: _State, train: Sequence[Case], held_out: Sequence[Case]) -> Report:
        self._parts.hooks.epoch_started(epoch)
        trained, state.draft = self._trained(epoch, state, train)
        state.fresh = False
        report: Report = {"epoch": epoch, "train": trained, "draft_snapshot_id": state.draft.snapshot_id}
        last = epoch == self._options.epochs
        if state.best and (last or self._options.eval_each_epoch):
            return {**report, **self._judged(epoch, state, state.best, held_out)}
        reason = (
            "only the last epoch is evaluated, without --eval-each-epoch"
            if self._options.evaluates
            else "there is no evaluation on held-out cases"
        )
        return {**report, "evaluation": None, "gate": Verdict(False, reason).document(), "published": []}

    def _trained(self, epoch: int, state: _State, train: Sequence[Case]) -> tuple[Report, PolicySet]:
        """Rollouts under the draft, and the draft that is learnt from them."""
        draft = state.draft
        group = f"epoch-{epoch}-train"
        wanted = planned(group, train, self._options.train_trials, f"{self._options.seed}/{group}")
        learner = self._parts.learner
        learner.begin(draft, fresh=state.fresh, at=self._began(epoch))
        done: list[Finished] = []
        shares: list[Future[Share]] = []
        for finished in self._parts.stage.run(wanted, draft, commit=True):
            self._parts.hooks.rollout_ended(finished)
            done.append(finished)
            shares.append(learner.submit(finished))
        after = self._learnt(epoch, learner.end())
        for finished, share in zip(done, shares, strict=True):
            self._directory.note(finished.planned, "memory_diff.json", share.result().document())
        self._finished += done
        told = summary(Where(group, epoch, self._options.train_split), draft, done)
        learnt = sum(bool(share.result().taken) for share in shares)
        return {**told, "learnt_from": learnt, "policies_after": len(after.policies)}, after

    def _began(self, epoch: int) -> datetime:
        """When the epoch began, if it was before this process."""
        self._once("epoch_began", epoch)
        return datetime.fromisoformat(self._directory.events("epoch_began", epoch=epoch)[0]["at"])

    def _learnt(self, epoch: int, draft: PolicySet) -> PolicySet:
        """The epoch's draft; where the epoch was over before, the one of then."""
        if known := self._directory.events("epoch_learnt", epoch=epoch):
            return self._directory.policies(known[0]["snapshot_id"])
        self._directory.event("epoch_learnt", epoch=epoch, snapshot_id=self._directory.keep_policies(draft))
        return draft

    def _judged(self, epoch: int, state: _State, best: Evaluated, held_out: Sequence[Case]) -> Report:
        """The draft on held-out cases, against the best so far, and what follows from it."""
        found = self._evaluation(f"epoch-{epoch}-eval", epoch, held_out, state.draft)
        self._parts.hooks.evaluated(epoch, found.summary)
        verdict = self._verdict(best, found)
        self._once("judged", epoch, promoted=verdict.promoted, reason=verdict.reason)
        published: list[Any] = []
        if verdict.promoted:
            published = self._published(epoch, state)
            state.current, state.best = state.draft, found
        elif verdict.delta < 0:
            state.draft, state.fresh = state.current, True
        return {"evaluation": found.summary, "gate": verdict.document(), "published": published}

    def _published(self, epoch: int, state: _State) -> list[Any]:
        """What was written of the draft, now or before the run was killed."""
        if known := self._directory.events("promoted", epoch=epoch):
            return list(known[0]["published"])
        published = list(self._parts.updater.publish(state.current, state.draft))
        snapshot = state.draft.snapshot_id
        self._directory.event("promoted", epoch=epoch, snapshot_id=snapshot, published=published)
        return published

    def _verdict(self, best: Evaluated, draft: Evaluated) -> Verdict:
        if self._options.eval_split == self._options.train_split:
            return Verdict(False, "evaluated on the cases that it was trained on, not on held-out ones")
        return judge(best, draft, self._options.seed)

    # ---- evaluation --------------------------------------------------------------------------------------

    def _evaluation(self, group: str, epoch: int, cases: Sequence[Case], policies: PolicySet) -> Evaluated:
        wanted = self._trials(group, cases)
        done = list(self._parts.stage.run(wanted, policies, commit=False))
        for finished in done:
            self._parts.hooks.rollout_ended(finished)
        self._finished += done
        found = evaluated(Where(group, epoch, self._options.eval_split), policies, done)
        told = ("accuracy_mean", "accuracy_std", "rollout_count", "errors", "snapshot_id")
        self._once("evaluated", epoch, **{name: found.summary[name] for name in told})
        return found

    def _once(self, event: str, epoch: int, **told: Any) -> None:
        """Says it, unless this run has said it before it was killed."""
        if not self._directory.events(event, epoch=epoch):
            self._directory.event(event, epoch=epoch, **told)

    def _trials(self, group: str, cases: Sequence[Case]) -> list[Planned]:
        return planned(group, cases, self._options.trials, f"{self._options.seed}/{self._options.eval_split}")

    def _baseline(self, cases: Sequence[Case], policies: PolicySet) -> Evaluated:
        """The evaluation of what is served; from the cache where the same was evaluated before."""
        cache = self._parts.results.cache(self._baseline_key(cases, policies))
        if cache.exists() and not self._parts.fresh_baseline and not self._directory.events("baseline_made"):
            kept = json.loads(cache.read_text("utf-8"))
            self._directory.event("baseline_cached", key=cache.stem, run=kept.get("run"))
            return _uncached(kept)
        self._directory.event("baseline_made", key=cache.stem)
        found = self._evaluation("baseline", 0, cases, policies)
        if not found.summary["errors"]:
            kept = {**_cached(found), "run": self._directory.name}
            write_json(cache, self._directory.scrubber.document(kept))
        return found

    def _baseline_key(self, cases: Sequence[Case], policies: PolicySet) -> str:
        options = self._options
        which = [options.dataset, options.domain, options.eval_split, options.trials, options.seed]
        told = [*which, dict(options.options), list(cases), policies.snapshot_id, self._parts.service]
        text = json.dumps(told, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    # ---- the end -----------------------------------------------------------------------------------------

    def _ended(self, report: Report, state: _State) -> Report:
        final = state.current.snapshot_id
        report |= {"status": "completed", "final_snapshot_id": final, **_delta(report, state.best)}
        report["promoted"] = final != report["start_snapshot_id"]
        report["draft_snapshot_id"] = state.draft.snapshot_id
        self._write(report)
        self._directory.event("run_ended", snapshot_id=final)
        self._parts.hooks.run_ended(report)
        return report

    def _write(self, report: Report) -> None:
        self._directory.report(report)
        self._directory.index(self._finished)


def _delta(report: Report, best: Evaluated | None) -> Report:
    """How much better what is served at the end is than what was at the beginning."""
    if best is None or report["baseline"] is None:
        return {"accuracy_delta": None}
    return {"accuracy_delta": round(best.summary["accuracy_mean"] - report["baseline"]["accuracy_mean"], 6)}


def _cached(found: Evaluated) -> dict[str, Any]:
    scores = {case: list(got) for case, got in found.scores.items()}
    policies = found.policies.document(content=True)
    return {"summary": found.summary, "scores": scores, "wanted": found.wanted, "policies": policies}


def _uncached(document: Mapping[str, Any]) -> Evaluated:
    scores = {case: tuple(got) for case, got in document["scores"].items()}
    policies = PolicySet.read(cast(PolicySetDocument, document["policies"]))
    return Evaluated(policies, document["summary"], scores, document["wanted"])
