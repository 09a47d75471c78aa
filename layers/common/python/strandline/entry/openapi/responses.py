"""Answers and refusals as responses."""

from collections.abc import Iterable

from strandline.domain.errors import StrandlineError
from strandline.entry.answers import JSON, Answers, Errors
from strandline.entry.openapi.parts import Schema
from strandline.entry.openapi.routes import Route

COMPONENTS = "#/components/schemas/"


def good(route: Route, result: Schema) -> Schema:
    """What stands under 200."""
    answers = route.answers
    schema = result if answers.bare or answers.media != JSON else _envelope(answers, result)
    answer: Schema = {"description": "Done.", "content": {answers.media: {"schema": schema}}}
    headers: Schema = {}
    if answers.etag:
        headers["ETag"] = {"description": "The SHA-256 of the content.", **_needed("string")}
    if route.keyed:
        about = "The answer of an earlier attempt with this Idempotency-Key."
        headers["Idempotent-Replay"] = {"description": about, "required": False, "schema": {"const": "true"}}
    return {**answer, "headers": headers} if headers else answer


def _envelope(answers: Answers, result: Schema) -> Schema:
    properties: Schema = {
        "status": {"const": "ok"},
        "result": result,
        "time": {"type": "string", "format": "date-time"},
    }
    if answers.paged:
        properties["next_cursor"] = {
            "type": ["string", "null"],
            "description": "What `cursor` goes on with; null: this was the last page.",
        }
    if answers.listed:
        properties["has_more"] = {"type": "boolean", "description": "Whether the list was cut here."}
    needed = list(properties)
    if answers.dated:
        properties["not_kept"] = {
            "type": "integer",
            "description": "With as_of: of how many memories it is not known any more what they were then.",
        }
    properties["telemetry"] = {"$ref": f"{COMPONENTS}Telemetry"}
    return {"type": "object", "properties": properties, "required": needed}


def _needed(kind: str) -> Schema:
    return {"required": True, "schema": {"type": kind}}


def _by_status(errors: Errors) -> dict[int, list[type[StrandlineError]]]:
    found: dict[int, list[type[StrandlineError]]] = {}
    for error in sorted(errors, key=lambda e: (e.status, e.code)):
        found.setdefault(error.status, []).append(error)
    return found


def _name(errors: Iterable[type[StrandlineError]]) -> str:
    return ".".join(error.code for error in errors)


def refused(errors: Errors) -> Schema:
    """What stands under every other status: one component for the errors that share it."""
    by_status = _by_status(errors).items()
    return {str(status): {"$ref": f"#/components/responses/{_name(same)}"} for status, same in by_status}


def refusals(routes: Iterable[Route]) -> Schema:
    """Every set of errors that share a status somewhere, as a response."""
    groups = [same for route in routes for same in _by_status(route.errors).values()]
    return {_name(same): _refusal(same) for same in groups}


def _refusal(errors: list[type[StrandlineError]]) -> Schema:
    codes = [error.code for error in errors]
    narrowed = {"properties": {"error": {"properties": {"code": {"enum": codes}}}}}
    answer: Schema = {
        "description": " or ".join(f"`{code}`" for code in codes) + ".",
        "content": {JSON: {"schema": {"allOf": [{"$ref": f"{COMPONENTS}Error"}, narrowed]}}},
    }
    if any(error.retryable for error in errors):
        retry = {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 0}}
        answer["headers"] = {"Retry-After": {**retry, "required": all(error.retryable for error in errors)}}
    return answer
