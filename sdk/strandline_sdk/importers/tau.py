"""Logged runs of tau-bench and tau2-bench: what was said and done, the task that it was, and how it was judged.

    tau-bench   [{"task_id", "trial", "reward", "info", "traj": [OpenAI messages]}, …]
    tau2-bench  {"simulations": [{"id", "task_id", "trial", "reward_info": {"reward"}, "messages": […]}, …]}
        -> session <file name>-task-<task id>-<trial>; the first user message names the case `<domain> task <task id>`,
           and a last message, of the system, says how the run was judged (`metadata.evaluation`)

A domain is airline, retail or telecom where the file's name has one of these, else the file's name.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from strandline_sdk.importers import chat
from strandline_sdk.importers.imported import Bad, Entry, ImportedSession, InputError, Place, attempts
from strandline_sdk.importers.openai import SHAPE
from strandline_sdk.model import Message

_DOMAINS = ("airline", "retail", "telecom")
_PASSED = 1.0 - 1e-6


def recognises(sample: Sequence[Entry]) -> bool:
    """Whether a file begins with a run that was judged."""
    return bool(sample) and any(True for _ in _runs(sample[0]))


def sessions(entries: Iterable[Entry], bad: Bad) -> Iterator[ImportedSession]:
    """One session per run."""
    runs = (run for entry in entries for run in _all_runs(entry, bad))
    for run in runs:
        for session in chat.sessions(SHAPE, [run], bad):
            yield _judged(session, run)


def _all_runs(entry: Entry, bad: Bad) -> Iterator[Entry]:
    found = list(_runs(entry))
    if not found:
        bad(InputError(entry.place, "no run: a task_id with a reward, and its messages"))
    yield from (run for each in found for run in attempts(_named, [each], bad))


def _runs(entry: Entry) -> Iterator[Entry]:
    """The runs in a value, each in the form of tau-bench."""
    value = entry.value
    if not isinstance(value, dict):
        return
    if isinstance(value.get("simulations"), list):
        for number, each in enumerate(value["simulations"], start=1):
            yield from _runs(Entry(each, entry.place.at(f"simulation {number}")))
    elif "task_id" in value and isinstance(value.get("traj"), list) and "reward" in value:
        yield entry
    elif "task_id" in value and isinstance(value.get("messages"), list) and "reward_info" in value:
        judged = value["reward_info"] if isinstance(value["reward_info"], dict) else {}
        told = {"reward": judged.get("reward"), "traj": [_plain(each) for each in value["messages"]]}
        yield Entry({**value, "messages": None, "info": {"reward_info": judged}, **told}, entry.place)


def _plain(message: Any) -> Any:
    """A message of tau2-bench as OpenAI has it."""
    if not isinstance(message, dict):
        return message
    if message.get("role") == "tool":
        return {"role": "tool", "tool_call_id": message.get("id"), "content": message.get("content") or ""}
    calls = [
        {"id": call.get("id"), "function": {"name": call.get("name"), "arguments": call.get("arguments")}}
        for call in message.get("tool_calls") or ()
        if isinstance(call, dict)
    ]
    made = {"role": message.get("role"), "content": message.get("content"), "tool_calls": calls or None}
    return {**made, "created_at": message.get("timestamp")}


def _named(run: Entry) -> Entry:
    """The run with the id of its session. Raises InputError for a reward that is no number."""
    reward = run.value["reward"]
    if isinstance(reward, bool) or not isinstance(reward, int | float):
        raise InputError(run.place.at("reward"), "must be a number")
    own = f"{run.place.stem}-task-{run.value['task_id']}-{run.value.get('trial', 0)}"
    return Entry({**run.value, "id": own}, run.place)


def _judged(session: ImportedSession, run: Entry) -> ImportedSession:
    messages = list(session.messages)
    asked = next((n for n, message in enumerate(messages) if message["role"] == "user"), None)
    if asked is not None:
        case = {"name": f"{_domain(run.place)} task {run.value['task_id']}"}
        messages[asked] = cast(Message, {**messages[asked], "metadata": {"case": case}})
    reward = float(run.value["reward"])
    verdict = {
        "id": chat.message_id(session.session_id, len(messages) + 1, reward),
        "role": "system",
        "message_kind": "evaluation",
        "content": f"Evaluation: reward {reward:g}.",
        "metadata": {"evaluation": _evaluation(run.value, reward)},
    }
    last = [session.places[-1]] if session.places else []
    return replace(session, messages=[*messages, cast(Message, verdict)], places=[*session.places, *last])


def _domain(place: Place) -> str:
    return next((name for name in _DOMAINS if name in place.stem.lower()), place.stem)


def _evaluation(run: Mapping[str, Any], reward: float) -> dict[str, Any]:
    """What was judged: the reward, and what it is made of."""
    info = run.get("info")
    told = info.get("reward_info") if isinstance(info, dict) else None
    parts = told.get("info") or told.get("reward_breakdown") if isinstance(told, dict) else None
    criteria = [
        {"name": str(name).removeprefix("r_"), "passed": value >= _PASSED}
        for name, value in (parts.items() if isinstance(parts, dict) else ())
        if isinstance(value, int | float)
    ]
    score = min(max(reward, 0.0), 1.0)
    return {"passed": reward >= _PASSED, "score": score, **({"criteria": criteria} if criteria else {})}
