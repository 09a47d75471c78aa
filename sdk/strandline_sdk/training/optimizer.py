"""What a batch of gradients comes to: votes for the points of each experience.

Points of one slot are in conflict unless they say the same. Each gradient gives its point its confidence; what stands
already has half a vote. Per slot the most votes win, the point that stands before another, then the alphabet. Of more
than eight slots those with the most votes stay.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from strandline_sdk.rollouts.policies import PolicySet
from strandline_sdk.training.experience import MOST_POINTS, Experience, parse
from strandline_sdk.training.values import Change, Gradient, Plan, Point, Share

_STANDING = 0.5
_MOST_CASES = 10


class VotingOptimizer:
    """The default."""

    def plan(self, gradients: Sequence[Gradient], policies: PolicySet) -> Plan:
        """Changes of experiences, and every rollout's own share in them."""
        by_target: dict[str, list[Gradient]] = defaultdict(list)
        for gradient in gradients:
            by_target[gradient.target].append(gradient)
        merged = [_merged(target, own, policies) for target, own in sorted(by_target.items())]
        shares = {share.rollout: share for one in merged for share in one.shares()}
        return Plan(tuple(change for one in merged for change in one.change()), shares)


@dataclass(frozen=True)
class _Merged:
    """An experience, what stands in it after the vote, and who voted."""

    target: str
    before: str | None
    after: Experience
    gradients: Sequence[Gradient]

    def change(self) -> Iterator[Change]:
        """What is to be written; nothing where it stands there already."""
        text = self.after.render()
        if text != self.before:
            rollouts = tuple(gradient.rollout for gradient in self.gradients)
            yield Change(self.target, self.before, text, rollouts)

    def shares(self) -> Iterator[Share]:
        """For each rollout what became of its own points."""
        for gradient in self.gradients:
            taken = [p.text for p in gradient.points if p in self.after.approach]
            left = [p.text for p in gradient.points if p not in self.after.approach]
            yield Share(gradient.rollout, self.target, tuple(taken), tuple(left))


def _merged(target: str, gradients: Sequence[Gradient], policies: PolicySet) -> _Merged:
    known = policies.policies.get(target)
    situation = gradients[0].situation
    old = parse(target, known.content) if known else Experience(situation, situation)
    points = _elected(old.approach, gradients)
    if known and points == old.approach:
        return _Merged(target, old.render(), old, gradients)  # nothing new: it stays as its owner wrote it
    reflect = _reflected(old.reflect, (gradient.reflect for gradient in gradients))
    after = replace(old, approach=points, reflect=reflect)
    return _Merged(target, known.content if known else None, after, gradients)


def _elected(standing: Sequence[Point], gradients: Sequence[Gradient]) -> tuple[Point, ...]:
    votes: dict[Point, float] = dict.fromkeys(standing, _STANDING)
    for gradient in gradients:
        for point in gradient.points:
            votes[point] = votes.get(point, 0.0) + gradient.confidence
    rivals: dict[str, list[Point]] = defaultdict(list)
    for point in votes:
        rivals[point.key].append(point)
    firsts = [max(same, key=lambda p: (votes[p], p in standing, p.text)) for same in rivals.values()]
    strongest = sorted(range(len(firsts)), key=lambda n: (-votes[firsts[n]], n))[:MOST_POINTS]
    return tuple(firsts[n] for n in sorted(strongest))


def _reflected(old: Iterable[str], new: Iterable[str]) -> tuple[str, ...]:
    """The newest cases that have shown it."""
    return tuple(dict.fromkeys([*old, *new]))[-_MOST_CASES:]
