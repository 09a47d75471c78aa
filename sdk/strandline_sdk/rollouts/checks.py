"""Whether what came over the wire has the shapes of the protocol. Faults are ValueErrors that name the field."""

from collections.abc import Mapping
from typing import Any, cast

from strandline_sdk.rollouts.model import (
    Case,
    CasePage,
    CasesQuery,
    ExecuteRequest,
    Execution,
    Health,
    Rollout,
)

MAX_PAGE = 1_000
_MOST = 1e15
_STATUSES = ("running", "completed", "failed")


def execute_request(document: object) -> ExecuteRequest:
    """A request to try a case. Raises ValueError."""
    body = _object(document, "the body")
    tried = case(body.get("case"))
    policies = _given(body.get("policy_set"), "policy_set", "metadata")
    _object(policies.get("metadata", {}), "policy_set.metadata")
    for policy in _list(policies.get("policies", []), "policy_set.policies"):
        _text(_object(policy, "a policy"), "name", "policy_set.policies")
    context = _object(body.get("execution_context"), "execution_context")
    _text(context, "policy_snapshot_id", "execution_context")
    _object(body.get("options", {}), "options")
    defaults = {"options": {}, **body, "case": tried, "execution_context": {"metadata": {}, **context}}
    defaults["policy_set"] = {"root_uri": "", "policies": [], "metadata": {}, **policies}
    return cast(ExecuteRequest, defaults)


def cases_query(document: object) -> CasesQuery:
    """A request for cases, with `limit` and `filters` filled in. Raises ValueError."""
    body = _object(document, "the body")
    for name in ("dataset", "domain", "split"):
        _text(body, name, "the body")
    limit = body.get("limit", 100)
    if not isinstance(limit, int) or isinstance(limit, bool) or not 0 < limit <= MAX_PAGE:
        raise ValueError(f"limit: a number from 1 to {MAX_PAGE}")
    if not isinstance(body.get("cursor"), str | None):
        raise ValueError("cursor: a text, or null")
    _object(body.get("filters", {}), "filters")
    return cast(CasesQuery, {"cursor": None, "filters": {}, **body, "limit": limit})


def health(document: object) -> Health:
    """How a service is. Raises ValueError."""
    found = _object(document, "health")
    _text(found, "service", "health")
    most = found.get("max_rollout_concurrency")
    if not isinstance(most, int) or isinstance(most, bool) or most < 1:
        raise ValueError("health.max_rollout_concurrency: a number from 1")
    return cast(Health, found)


def case_page(document: object) -> CasePage:
    """A page of cases. Raises ValueError."""
    page = _object(document, "the page")
    cases = [case(found) for found in _list(page.get("cases"), "cases")]
    if not isinstance(page.get("next_cursor"), str | None):
        raise ValueError("next_cursor: a text, or null")
    return cast(CasePage, {"next_cursor": None, **page, "cases": cases})


def case(document: object) -> Case:
    """A case. Raises ValueError."""
    found = _given(document, "case", "rubric", "metadata")
    _text(found, "name", "case")
    _text(found, "task_signature", "case")
    if "input" not in found:
        raise ValueError("case.input: missing")
    rubric = _given(found.get("rubric", {}), "case.rubric", "criteria")
    for criterion in _list(rubric.get("criteria", []), "case.rubric.criteria"):
        _object(criterion, "a criterion")
    _object(found.get("metadata", {}), "case.metadata")
    return cast(Case, {**found, **({"rubric": rubric} if "rubric" in found else {})})


def execution(document: object) -> Execution:
    """An execution; one that has completed has its rollout. Raises ValueError."""
    found = _object(document, "execution")
    _text(found, "execution_id", "execution")
    _text(found, "case_name", "execution")
    if found.get("status") not in _STATUSES:
        raise ValueError(f"execution.status: one of {', '.join(_STATUSES)}")
    if not isinstance(found.get("error"), str | None):
        raise ValueError("execution.error: a text, or null")
    if found["status"] == "completed" and "rollout" in found:
        found = {**found, "rollout": rollout(found["rollout"])}
    return cast(Execution, {"error": None, **found})


def rollout(document: object) -> Rollout:
    """A rollout, whose score is a number from 0 to 1. Raises ValueError."""
    found = _given(document, "rollout", "metadata")
    _text(found, "policy_snapshot_id", "rollout")
    checked = {
        "case": case(found.get("case")),
        "messages": [_message(each) for each in _list(found.get("messages"), "rollout.messages")],
        "evaluation": _evaluation(found.get("evaluation")),
    }
    told = {"metadata": _metadata(found["metadata"])} if "metadata" in found else {}
    return cast(Rollout, {"metadata": {}, **found, **checked, **told})


def _message(document: object) -> Mapping[str, Any]:
    """A message as far as it is looked at here; the API says the rest."""
    found = _given(document, "a message", "metadata", "parts", "content")
    _text(found, "role", "rollout.messages")
    _object(found.get("metadata", {}), "rollout.messages.metadata")
    for part in _list(found.get("parts", []), "rollout.messages.parts"):
        _text(_object(part, "a part"), "type", "rollout.messages.parts")
    return found


def _evaluation(document: object) -> Mapping[str, Any]:
    name = "rollout.evaluation"
    found = _given(document, name, "criterion_results", "feedback")
    if not isinstance(found.get("passed"), bool):
        raise ValueError(f"{name}.passed: true or false")
    _score(found.get("score"))
    _texts(found.get("feedback", []), f"{name}.feedback")
    name = f"{name}.criterion_results"
    results = [_result(each, name) for each in _list(found.get("criterion_results", []), name)]
    return {**found, **({"criterion_results": results} if results else {})}


def _result(document: object, name: str) -> Mapping[str, Any]:
    found = _given(document, "a criterion's result", "feedback")
    _text(found, "name", name)
    if not isinstance(found.get("passed"), bool):
        raise ValueError(f"{name}.passed: true or false")
    if not isinstance(found.get("feedback", ""), str):
        raise ValueError(f"{name}.feedback: a text")
    return found


def _metadata(document: object) -> Mapping[str, Any]:
    found = _given(document, "rollout.metadata", "usage", "memory")
    memory = _given(found.get("memory", {}), "rollout.metadata.memory", "context", "read", "tool_calls")
    if not isinstance(memory.get("context", ""), str):
        raise ValueError("rollout.metadata.memory.context: a text")
    _texts(memory.get("read", []), "rollout.metadata.memory.read")
    if not _is_number(memory.get("tool_calls", 0)):
        raise ValueError("rollout.metadata.memory.tool_calls: a number")
    costs = ("prompt_tokens", "completion_tokens", "cost_usd")
    usage = _given(found.get("usage", {}), "rollout.metadata.usage", *costs)
    if not all(_is_number(usage.get(cost, 0)) for cost in costs):
        raise ValueError(f"rollout.metadata.usage: numbers from 0 to {_MOST:g}")
    told = {"memory": memory, "usage": usage}
    return {**found, **{part: value for part, value in told.items() if part in found}}


def _score(value: object) -> None:
    if not _is_number(value) or not 0 <= cast(float, value) <= 1:
        raise ValueError("rollout.evaluation.score: a number from 0 to 1")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _MOST


def _given(value: object, name: str, *optional: str) -> Mapping[str, Any]:
    """The object without optional fields that are null: other languages write what is absent so."""
    return {k: v for k, v in _object(value, name).items() if v is not None or k not in optional}


def _texts(value: object, name: str) -> None:
    if not all(isinstance(text, str) for text in _list(value, name)):
        raise ValueError(f"{name}: a list of texts is needed")


def _object(value: object, name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{name}: an object is needed")
    return value


def _list(value: object, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{name}: a list is needed")
    return value


def _text(owner: Mapping[str, Any], field: str, name: str) -> str:
    value = owner.get(field)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name}.{field}: a text is needed")
    if not value.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in value):
        raise ValueError(f"{name}.{field}: not valid Unicode")
    return value
