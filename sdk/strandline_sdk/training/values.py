"""What the parts of training hand to each other."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from strandline_sdk.errors import ApiError
from strandline_sdk.importers.session_ids import short_hash
from strandline_sdk.rollouts.model import Case, Evaluation, Rollout
from strandline_sdk.rollouts.policies import PolicySet

Options = Mapping[str, Any]
_PLAIN = re.compile(r"[^\w.-]+")
_LONGEST_NAME = 60


class RolloutFailed(Exception):
    """A rollout without a result: the service says that it has failed."""

    how = "failed"


class RolloutLate(RolloutFailed):
    """It took too long. It may have ended since: it is the one to ask for again."""

    how = "late"


class OutsideProtocol(RolloutFailed):
    """The service refuses it, or answers what is not of the protocol."""

    how = "protocol"


class ServiceBroken(ApiError):
    """So many rollouts have failed that more of them would be no use."""


@dataclass(frozen=True)
class TrainOptions:
    """What a run is to do. Two runs with the same options, over the same service, report the same.

    `options` go to the service with every rollout. `*_index` choose cases of a split by their place, from 0.
    """

    dataset: str
    domain: str
    epochs: int = 1
    trials: int = 1
    train_trials: int = 1
    train_split: str = "train"
    eval_split: str = "test"
    eval_each_epoch: bool = False
    seed: int = 0
    batch: int = 16
    learn: str = "local"
    dry_run: bool = False
    options: Options = field(default_factory=dict)
    filters: Options = field(default_factory=dict)
    train_index: tuple[int, ...] = ()
    eval_index: tuple[int, ...] = ()

    @property
    def evaluates(self) -> bool:
        """Whether anything is evaluated."""
        return self.eval_split != "none"

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {n: list(v) if isinstance(v, tuple) else v for n, v in asdict(self).items()}


@dataclass(frozen=True)
class Planned:
    """A rollout to be made: one trial of a case, in a group of rollouts (`baseline`, `epoch-1-train`, …). `number` is
    the case's place in its split, `order` the rollout's in its group, `attempt` how often it has failed before."""

    group: str
    number: int
    trial: int
    case: Case
    seed: int
    order: int = 0
    attempt: int = 0

    @property
    def name(self) -> str:
        """Its name within the group, and its directory's."""
        return f"{self.number:04d}-t{self.trial}-{slug(self.case['name'])}"

    @property
    def place(self) -> str:
        """Its directory, from that of the run."""
        return f"rollouts/{self.group}/{self.name}"


@dataclass(frozen=True)
class Finished:
    """What came of it: a rollout, or the reason why there is none."""

    planned: Planned
    rollout: Rollout | None = None
    error: str | None = None
    committed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def evaluation(self) -> Evaluation | None:
        return self.rollout["evaluation"] if self.rollout else None


@dataclass(frozen=True)
class Trajectory:
    """What was done in a rollout, and how it ended: success, failure, partial, unfinished or unknown."""

    rollout: str
    case: Case
    outcome: str
    steps: tuple[str, ...]
    evaluation: Evaluation
    read: tuple[str, ...]


@dataclass(frozen=True)
class Point:
    """A point of an approach. Of several with one slot only one can stand; a point without is a slot of its own."""

    slot: str
    text: str

    @property
    def key(self) -> str:
        return self.slot or " ".join(self.text.lower().split())


@dataclass(frozen=True)
class Gradient:
    """What one trajectory would change in one experience, how sure it is, and the case that shows it."""

    rollout: str
    target: str
    situation: str
    points: tuple[Point, ...]
    reflect: str
    confidence: float
    case: str


@dataclass(frozen=True)
class Change:
    """An experience that is to be written, with the rollouts that wanted it."""

    name: str
    before: str | None
    after: str
    rollouts: tuple[str, ...]


@dataclass(frozen=True)
class Share:
    """What a batch made of one rollout's gradient, told to nobody else: its points that stand now, and its others.
    `diff`: what the service changed for it, where it is the service that learns."""

    rollout: str
    experience: str | None = None
    taken: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    diff: Mapping[str, Any] | None = None

    def document(self) -> dict[str, Any]:
        """As JSON."""
        told = {"experience": self.experience, "taken": list(self.taken), "left": list(self.left)}
        return {**told, **({"diff": self.diff} if self.diff else {})}


@dataclass(frozen=True)
class Plan:
    """What a batch of gradients comes to."""

    changes: tuple[Change, ...]
    shares: Mapping[str, Share]


@dataclass(frozen=True)
class Evaluated:
    """The rollouts of cases under one snapshot, and what they come to."""

    policies: PolicySet
    summary: Mapping[str, Any]
    scores: Mapping[str, tuple[float, ...]]
    wanted: int


def slug(text: str) -> str:
    """The text as a name of a file and of a memory: itself where it is one, otherwise with a hash of it."""
    plain = _PLAIN.sub("-", text).strip("-.")[:_LONGEST_NAME]
    return plain if plain == text else f"{plain or 'x'}-{short_hash(text)}"
