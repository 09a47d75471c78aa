"""A task that tau2 simulates, as a rollout: its messages as the API takes them, its reward as an evaluation."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from tau2.data_model.simulation import RewardInfo, SimulationRun
from tau2.data_model.tasks import Task
from tau2.evaluator.evaluator import EvaluationType, evaluate_simulation
from tau2.orchestrator.orchestrator import Orchestrator
from tau2.registry import registry
from tau2.user.user_simulator import UserSimulator

from strandline_sdk.model import Message
from strandline_sdk.rollouts.model import CriterionResult, Evaluation, Usage
from strandline_sdk.rollouts.service import Attempt, Outcome
from strandline_sdk.tau2.agent import DisclosingAgent, Disclosure, InlineAgent
from strandline_sdk.tau2.tasks import changes, task_of

MAX_STEPS = 100
_MOST_ASSERTIONS = 5


@dataclass(frozen=True)
class Models:
    """Which models play agent and user, at which OpenAI-compatible endpoint."""

    url: str
    agent: str
    user: str
    key: str = field(default="", repr=False)

    def arguments(self) -> dict[str, Any]:
        """What litellm is given beside the model's name."""
        return {"api_base": self.url, "api_key": self.key or "none", "temperature": 0.0}


@dataclass(frozen=True)
class Simulator:
    """Tries cases; of the options `max_steps` bounds a simulation, and `disclosure` goes before the one given here."""

    models: Models
    disclosure: Disclosure = "tools"

    def __call__(self, trial: Attempt) -> Outcome:
        """One simulation. Raises whatever tau2 and the endpoint raise."""
        task = task_of(trial.case)
        domain = trial.case["metadata"]["domain"]
        orchestrator = self._orchestrator(trial, task, domain)
        run: SimulationRun = orchestrator.run()
        reward = evaluate_simulation(
            simulation=run, task=task, evaluation_type=EvaluationType.ALL, solo_mode=False, domain=domain
        )
        said = sorted([*run.messages, *orchestrator.agent.asides], key=lambda message: message.timestamp)
        return Outcome(list(messages(said)), evaluation(task, run, reward), usage(said))

    def _orchestrator(self, trial: Attempt, task: Task, domain: str) -> Orchestrator:
        environment = registry.get_env_constructor(domain)()
        models = self.models
        agent = self._agent(trial)(
            experiences=trial.experiences,
            tools=environment.get_tools(),
            domain_policy=environment.get_policy(),
            llm=f"openai/{models.agent}",
            llm_args=models.arguments(),
        )
        user = UserSimulator(
            tools=_user_tools(environment),
            instructions=str(task.user_scenario),
            llm=f"openai/{models.user}",
            llm_args=models.arguments(),
        )
        options = trial.options
        return Orchestrator(
            domain=domain,
            agent=agent,
            user=user,
            environment=environment,
            task=task,
            max_steps=int(options.get("max_steps", MAX_STEPS)),
            seed=options.get("seed"),
        )

    def _agent(self, trial: Attempt) -> type[InlineAgent] | type[DisclosingAgent]:
        """Raises ValueError."""
        wanted = trial.options.get("disclosure", self.disclosure)
        if wanted not in ("tools", "inline"):
            raise ValueError(f"options.disclosure: tools or inline, not {wanted!r}")
        return InlineAgent if wanted == "inline" or trial.experiences.empty else DisclosingAgent


def _user_tools(environment: Any) -> Any:
    """The user's own tools; only some domains have them."""
    try:
        return environment.get_user_tools()
    except ValueError:
        return None


# ---- messages ------------------------------------------------------------------------------------------------


def messages(found: Sequence[Any]) -> Iterator[Message]:
    """What was said, each call with its result."""
    outputs = {one.id: one for message in found for one in _results(message)}
    for message in found:
        if message.role in ("user", "assistant"):
            parts = [
                *_text(message),
                *(_call(call, outputs.get(call.id)) for call in message.tool_calls or ()),
            ]
            if parts:
                yield cast(Message, {"role": message.role, "parts": parts})


def _results(message: Any) -> Sequence[Any]:
    if message.role != "tool":
        return ()
    return getattr(message, "tool_messages", None) or (message,)


def _text(message: Any) -> Iterator[dict[str, Any]]:
    if message.content and message.content.strip():
        yield {"type": "text", "text": message.content}


def _call(call: Any, output: Any) -> dict[str, Any]:
    part = {"type": "tool", "tool_id": call.id, "tool_name": call.name, "tool_input": call.arguments}
    if output is None:
        return {**part, "tool_status": "pending"}
    status = "error" if output.error else "completed"
    return {**part, "tool_output": output.content or "", "tool_status": status}


def usage(found: Sequence[Any]) -> Usage:
    """Tokens of all calls of models, and what litellm knows of their price."""
    spoken = [message for message in found if message.role in ("user", "assistant")]
    used = [message.usage or {} for message in spoken]
    return {
        "prompt_tokens": sum(one.get("prompt_tokens", 0) for one in used),
        "completion_tokens": sum(one.get("completion_tokens", 0) for one in used),
        "cost_usd": round(sum(message.cost or 0.0 for message in spoken), 6),
    }


# ---- evaluation ----------------------------------------------------------------------------------------------


def evaluation(task: Task, run: SimulationRun, reward: RewardInfo) -> Evaluation:
    """The reward; passed is a reward of 1. What is said of a failure names calls, no values of this one case."""
    passed = reward.reward >= 1
    found: Evaluation = {"passed": passed, "score": round(min(1.0, max(0.0, reward.reward)), 6)}
    if passed:
        return found
    return {
        **found,
        "criterion_results": list(_criteria(task, run, reward)),
        "feedback": list(_expected(task)),
    }


def _criteria(task: Task, run: SimulationRun, reward: RewardInfo) -> Iterator[CriterionResult]:
    if reward.reward_basis is None:
        ended = f"the conversation did not come to an end: {run.termination_reason.value}"
        yield {"name": "ending", "passed": False, "feedback": ended}
    if reward.db_check is not None:
        wanted = changes(task)
        needed = f"what has to be changed: {', '.join(wanted)}" if wanted else "nothing may be changed"
        yield {"name": "changes", "passed": reward.db_check.db_match, "feedback": needed}
    told = [check.met for check in reward.communicate_checks or ()]
    if told:
        yield {"name": "answer", "passed": all(told), "feedback": "tell the user in full what was asked for"}


def _expected(task: Task) -> Sequence[str]:
    """What the task's authors say of a good conversation; nobody has judged it."""
    criteria = task.evaluation_criteria
    return list((criteria.nl_assertions if criteria else None) or ())[:_MOST_ASSERTIONS]
