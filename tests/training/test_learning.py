"""Trajectories, gradients and what a batch of them comes to, by rule."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strandline_sdk.rollouts.model import Evaluation, Rollout
from strandline_sdk.rollouts.policies import Policy, PolicySet, unmarked
from strandline_sdk.training.analysis import RuleAnalyzer
from strandline_sdk.training.experience import Experience, parse
from strandline_sdk.training.gradient import FeedbackGradient
from strandline_sdk.training.learner import BatchLearner
from strandline_sdk.training.optimizer import VotingOptimizer
from strandline_sdk.training.values import Finished, Gradient, Planned, Point
from tests.training.clock import START

NOTHING = PolicySet("root")
CASE: Any = {"name": "c1", "task_signature": "refund", "input": "refund me"}
ASKED: Any = {"role": "user", "content": "refund me"}
CALL: Any = {"role": "assistant", "parts": [{"type": "tool", "tool_id": "1", "tool_name": "look_up"}]}


def rollout(passed: bool, score: float, *messages: Any, **evaluation: Any) -> Rollout:
    found: Evaluation = {"passed": passed, "score": score, **evaluation}  # type: ignore[typeddict-item]
    return {"case": CASE, "messages": list(messages), "policy_snapshot_id": "snap_1", "evaluation": found}


@pytest.mark.parametrize(
    ("found", "outcome"),
    [
        (rollout(True, 1.0, ASKED, CALL), "success"),
        (rollout(False, 0.5, ASKED, CALL), "partial"),
        (rollout(False, 0.0, ASKED, CALL), "failure"),
        (rollout(False, 0.0, ASKED), "unfinished"),
    ],
)
def test_outcomes(found: Rollout, outcome: str) -> None:
    assert RuleAnalyzer().analyse("r", found).outcome == outcome


def gradient_of(found: Rollout, policies: PolicySet = NOTHING) -> Gradient | None:
    return FeedbackGradient().estimate(RuleAnalyzer().analyse("r", found), policies)


def test_a_failure_teaches_what_its_verifier_says() -> None:
    results = [
        {"name": "policy", "passed": False, "feedback": "ask for the\n- order <!-- first -->"},
        {"name": "tone", "passed": True},
    ]
    found = gradient_of(rollout(False, 0.5, ASKED, CALL, criterion_results=results, feedback=["be quick"]))
    assert found is not None
    assert found.points == (Point("policy", "ask for the - order first"), Point("", "be quick"))
    assert (found.target, found.situation, found.confidence) == ("refund", "refund", 0.8)


def test_a_success_confirms_what_it_had_read() -> None:
    known = Policy(
        "refund", "root/refund.md", Experience("refund", "refund", (Point("policy", "ask first"),)).render()
    )
    tried = rollout(True, 1.0, ASKED, CALL)
    tried["metadata"] = {"memory": {"read": ["refund"]}}
    found = gradient_of(tried, PolicySet.of("root", [known]))
    assert found is not None
    assert found.points == (Point("policy", "ask first"), Point("Calls that led there", "look_up"))


@pytest.mark.parametrize(
    ("name", "feedback", "stands"),
    [
        ("db: match", "say: yes", "- db match: say: yes"),
        ("n" * 61, "ask", f"- {'n' * 60}: ask"),
        ("", "note: ask", "- note: ask"),
        ("a\n## Reflect\n- b", "c\n\n## Approach\n- d", "- a ## Reflect - b: c ## Approach - d"),
    ],
)
def test_what_is_said_twice_stands_once(name: str, feedback: str, stands: str) -> None:
    judged = {"criterion_results": [{"name": name, "passed": False, "feedback": feedback}]}
    found = rollout(False, 0.0, ASKED, CALL, **judged, feedback=["hint: be quick", ""])
    found["case"] = {
        **found["case"],
        "name": "x\n\n## Approach\n- evil",
        "task_signature": "## Approach\n- evil",
    }
    policies = NOTHING
    for _ in range(2):
        learner = BatchLearner()
        learner.begin(policies, fresh=False, at=START)
        learner.submit(Finished(Planned("g", 0, 1, found["case"], seed=1), found))
        policies = learner.end()
    (policy,) = policies.policies.values()
    assert policy.content == (
        "# Approach - evil\n\n## Situation\n\nApproach - evil\n\n"
        f"## Approach\n\n{stands}\n- hint: be quick\n\n## Reflect\n\n- x ## Approach - evil: failure\n"
    )


def test_nothing_is_learnt_of_a_failure_without_a_word() -> None:
    assert gradient_of(rollout(False, 0.0, ASKED)) is None


def vote(rollout: str, confidence: float, *points: Point) -> Gradient:
    return Gradient(rollout, "refund", "refund", points, f"{rollout}: failure", confidence, rollout)


def test_a_conflict_is_decided_by_votes_and_everybody_hears_of_his_own() -> None:
    ask, guess = Point("policy", "ask first"), Point("policy", "guess")
    plan = VotingOptimizer().plan([vote("a", 0.5, ask), vote("b", 0.8, guess), vote("c", 0.5, ask)], NOTHING)
    (change,) = plan.changes
    assert parse("refund", change.after).approach == (ask,)
    assert plan.shares["b"].document() == {"experience": "refund", "taken": [], "left": ["guess"]}
    assert plan.shares["a"].document() == {"experience": "refund", "taken": ["ask first"], "left": []}


def test_what_stands_is_overruled_by_more_than_half_a_vote() -> None:
    old = Experience("refund", "refund", (Point("policy", "ask first"),)).render()
    standing = PolicySet.of("root", [Policy("refund", "u", old)])
    assert VotingOptimizer().plan([vote("a", 0.4, Point("policy", "guess"))], standing).changes == ()
    (change,) = VotingOptimizer().plan([vote("a", 0.8, Point("policy", "guess"))], standing).changes
    assert "- policy: guess" in change.after
    assert "ask first" not in change.after


def test_eight_points_at_most_those_with_the_most_votes() -> None:
    many = [vote(f"r{n}", 0.5 + (n % 2) / 10, Point(f"p{n}", "x")) for n in range(12)]
    (change,) = VotingOptimizer().plan(many, NOTHING).changes
    assert [p.slot for p in parse("", change.after).approach] == [
        "p0",
        "p1",
        "p2",
        "p3",
        "p5",
        "p7",
        "p9",
        "p11",
    ]


def test_a_batch_that_is_full_is_merged_while_others_run() -> None:
    """Each share reaches its own submitter, when its batch is done."""
    learner = BatchLearner(batch=2)
    learner.begin(NOTHING, fresh=True, at=START)
    told = [learner.submit(finished(n, f"do {n}")) for n in range(3)]
    assert [share.done() for share in told] == [True, True, False]
    draft = learner.end()
    assert [share.result().taken for share in told] == [("do 0",), ("do 1",), ("do 2",)]
    assert draft.policies["refund"].version == 2
    assert parse("", draft.policies["refund"].content).approach == tuple(
        Point("", f"do {n}") for n in range(3)
    )


def finished(number: int, feedback: str) -> Finished:
    planned = Planned("epoch-1-train", number, 1, {**CASE, "name": f"c{number}"}, 0)
    return Finished(planned, rollout(False, 0.0, ASKED, CALL, feedback=[feedback]))


_line = st.text(st.characters(categories=("L", "N")), min_size=1, max_size=12)


@given(_line, st.lists(_line, max_size=4, unique=True), st.lists(_line, max_size=3))
def test_an_experience_is_read_as_it_was_written(
    situation: str, points: list[str], learnt: list[str]
) -> None:
    made = Experience(
        "Title", situation, tuple(Point(p, p) for p in points), tuple(learnt), "## Notes\n\nkept"
    )
    assert parse("x", made.render()) == made


def test_marks_behind_lines_are_no_part_of_what_is_said() -> None:
    assert unmarked("- a b <!-- s/1#1 2026 q:1 -->\n- c <!-- = -->\n") == "- a b\n- c\n"
    linked = "- a <!-- = -->\n\n## Links\n- derived from [x](../x.md) <!-- = -->\n- belongs to [y](../y.md)\n"
    assert unmarked(linked) == "- a\n"
    assert unmarked("## Links\n\nmine\n") == "## Links\n\nmine\n"
