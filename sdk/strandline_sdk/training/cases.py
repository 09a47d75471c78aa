"""Which cases there are, and which of them a run takes."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from strandline_sdk.rollouts.client import RolloutClient
from strandline_sdk.rollouts.model import Case
from strandline_sdk.training.values import Planned, TrainOptions


@dataclass(frozen=True)
class ServiceCases:
    """Those of a rollout service."""

    client: RolloutClient
    options: TrainOptions

    def load(self, split: str) -> Sequence[Case]:
        """All cases of the split, in the service's order."""
        options = self.options
        return list(self.client.cases(options.dataset, options.domain, split, options.filters))


def chosen(cases: Sequence[Case], places: Sequence[int], split: str) -> list[Case]:
    """The cases at these places, or all. Raises ValueError for places that are not there, and for cases of one name."""
    if wrong := [place for place in places if not 0 <= place < len(cases)]:
        raise ValueError(f"the split {split} has {len(cases)} cases, counted from 0: there is no {wrong[0]}")
    found = [cases[place] for place in dict.fromkeys(places)] if places else list(cases)
    if not found:
        raise ValueError(f"the split {split} has no cases")
    if len({case["name"] for case in found}) < len(found):
        raise ValueError(f"the split {split} has several cases of one name")
    return found


def planned(group: str, cases: Sequence[Case], trials: int, seed: str) -> list[Planned]:
    """So many trials of each case. The seed of a trial follows from `seed`, case and number, not from the group: two
    evaluations of a case differ in their policies alone."""
    return [
        Planned(
            group, number, trial, case, _seed(seed, case["name"], trial), (trial - 1) * len(cases) + number
        )
        for trial in range(1, trials + 1)
        for number, case in enumerate(cases)
    ]


def _seed(seed: str, case: str, trial: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}/{case}/{trial}".encode()).digest()[:4], "big")
