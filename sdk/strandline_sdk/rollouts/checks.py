"""Whether what came over the wire has the shapes of the protocol. Faults are ValueErrors that name the field."""

import math
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
_STATUSES = ("running", "completed", "failed")


def execute_request(document: object) -> ExecuteRequest:
    """A request to try a case. Raises ValueError."""
    body = _object(document, "the body")
    case(body.get("case"))
    policies = _object(body.get("policy_set"), "policy_set")
    for policy in _list(policies.get("policies", []), "policy_set.policies"):
        _text(_object(policy, "a policy"), "name", "policy_set.policies")
    context = _object(body.get("execution_context"), "execution_context")
    _text(context, "policy_snapshot_id", "execution_context")
    _object(body.get("options", {}), "options")
    defaults = {"options": {}, **body, "execution_context": {"metadata": {}, **context}}
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
    for found in _list(page.get("cases"), "cases"):
        case(found)
    if not isinstance(page.get("next_cursor"), str | None):
        raise ValueError("next_cursor: a text, or null")
    return cast(CasePage, {"next_cursor": None, **page})


def case(document: object) -> Case:
    """A case. Raises ValueError."""
    found = _object(document, "case")
    _text(found, "name", "case")
    _text(found, "task_signature", "case")
    if "input" not in found:
        raise ValueError("case.input: missing")
    return cast(Case, found)


def execution(document: object) -> Execution:
    """An execution; one that has completed has its rollout. Raises ValueError."""
    found = _object(document, "execution")
    _text(found, "execution_id", "execution")
    if found.get("status") not in _STATUSES:
        raise ValueError(f"execution.status: one of {', '.join(_STATUSES)}")
    if found["status"] == "completed" and "rollout" in found:
        rollout(found["rollout"])
    return cast(Execution, {"error": None, **found})


def rollout(document: object) -> Rollout:
    """A rollout, whose score is a number from 0 to 1. Raises ValueError."""
    found = _object(document, "rollout")
    case(found.get("case"))
    for message in _list(found.get("messages"), "rollout.messages"):
        _text(_object(message, "a message"), "role", "rollout.messages")
    _text(found, "policy_snapshot_id", "rollout")
    evaluation = _object(found.get("evaluation"), "rollout.evaluation")
    if not isinstance(evaluation.get("passed"), bool):
        raise ValueError("rollout.evaluation.passed: true or false")
    _score(evaluation.get("score"))
    for result in _list(evaluation.get("criterion_results", []), "rollout.evaluation.criterion_results"):
        _text(_object(result, "a criterion's result"), "name", "rollout.evaluation.criterion_results")
    return cast(Rollout, {"metadata": {}, **found})


def _score(value: object) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(cast(float, value)) or not 0 <= cast(float, value) <= 1:
        raise ValueError("rollout.evaluation.score: a number from 0 to 1")


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
    return value
