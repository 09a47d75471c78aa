"""What a route declares it answers, for holding real answers against it.

The published schemas let an answer have more fields, so that clients stay open for them. Here every object is closed:
a field that a handler answers and nobody declared is found, as is one that is declared and missing.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import jsonschema_rs

from strandline.entry import openapi
from strandline.entry.api import app

JSON = "application/json"
SPANS_SLASHES = "{path}"


@cache
def described() -> Any:
    """The API's description."""
    return openapi.describe(app)


@cache
def operation_of(method: str, path: str) -> tuple[str, Any] | None:
    """The operation a decoded path belongs to, as `get /api/v1/tasks/{task_id}` and described, or None."""
    found = [
        named
        for named, methods in described()["paths"].items()
        if method.lower() in methods and _pattern(named).fullmatch(path)
    ]
    if not found:
        return None
    named = min(found, key=lambda path: (SPANS_SLASHES in path, path.count("{"), -len(path)))
    return f"{method.lower()} {named}", described()["paths"][named][method.lower()]


@cache
def _pattern(path: str) -> re.Pattern[str]:
    parts = re.split(r"(\{\w+\})", path)
    kinds = {True: "[^/]+", False: ".+"}
    made = [kinds[p != SPANS_SLASHES] if p.startswith("{") else re.escape(p) for p in parts]
    return re.compile("".join(made), re.DOTALL)


def differences(method: str, path: str, status: int, headers: Mapping[str, str], text: str) -> list[str]:
    """What of an answer is not as declared; nothing to say of a path that is no described route."""
    found = operation_of(method, path)
    if found is None:
        return []
    name, operation = found
    if str(status) not in operation["responses"]:
        return [f"{name} answers {status}, which is not declared: {text[:300]}"]
    wanted = [
        header
        for header, about in _response(name, status).get("headers", {}).items()
        if about["required"] and header.lower() not in headers
    ]
    value = json.loads(text) if _media(name, status) == JSON else text
    wrong = [f"{e.message} at {e.instance_path}" for e in _validator(name, status).iter_errors(value)]
    return [
        *(f"{name} {status} lacks {header}" for header in wanted),
        *(f"{name} {status}: {e}" for e in wrong),
    ]


def _response(name: str, status: int) -> Any:
    method, _, path = name.partition(" ")
    response = described()["paths"][path][method]["responses"][str(status)]
    reference = response.get("$ref")
    return described()["components"]["responses"][reference.rpartition("/")[2]] if reference else response


def _media(name: str, status: int) -> str:
    (media,) = _response(name, status)["content"]
    return str(media)


@cache
def _validator(name: str, status: int) -> Any:
    schema = _response(name, status)["content"][_media(name, status)]["schema"]
    return jsonschema_rs.validator_for({**_closed(schema), "components": _closed_components()})


@cache
def _closed_components() -> Any:
    return _closed(described()["components"])


def _closed(value: Any) -> Any:
    if isinstance(value, list):
        return [_closed(each) for each in value]
    if not isinstance(value, dict):
        return value
    closed = {name: _closed(each) for name, each in value.items()}
    return {"additionalProperties": False, **closed} if _is_object(value) else closed


def _is_object(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") == "object" and isinstance(schema.get("properties"), dict)
