"""No number of any body is taken for a switch, no switch or text for a number: asked of every route, field by field."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.handlers.service import Service

DOCUMENT = json.loads(Path("infra/openapi.json").read_text())
WRONG: Mapping[str, tuple[Any, ...]] = {
    "integer": (True, "1"),
    "number": (True, "1"),
    "boolean": (1, "true"),
}
Put = Callable[[Any], Any]
FREE = {"filter"}  # values of any kind


def inside(schema: Any) -> Iterator[tuple[str, Any, Put]]:
    """The fields, values and items of an object or list: the name of each, its schema, and what puts a value there."""
    fields = schema.get("properties", {})
    fixed = {name: field["const"] for name, field in fields.items() if "const" in field}
    for name in (each for each in fields if each not in FREE):
        yield name, fields[name], lambda value, n=name: {**fixed, n: value}
    if isinstance(more := schema.get("additionalProperties"), dict):
        yield "x", more, lambda value: {"x": value}
    if items := schema.get("items"):
        yield "0", items, lambda value: [value]
    for n, item in enumerate(pair := schema.get("prefixItems", ())):
        yield str(n), item, lambda value, at=n: [value if each == at else 1 for each in range(len(pair))]


def leaves(schema: Any, seen: frozenset[str] = frozenset()) -> Iterator[tuple[str, str, Put]]:
    """Every number and switch of a body: its name, its type, and what makes a body of a value for it."""
    if name := schema.get("$ref", "").rpartition("/")[2]:
        schema, seen = ({} if name in seen else DOCUMENT["components"]["schemas"][name]), seen | {name}
    if schema.get("type") in WRONG:
        yield "", schema["type"], lambda value: value
    for option in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from leaves(option, seen)
    for name, part, put in inside(schema):
        for rest, kind, further in leaves(part, seen):
            yield rest or name, kind, lambda value, p=put, f=further: p(f(value))


BODIES = [
    (method.upper(), path, media["schema"])
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
    for media in operation.get("requestBody", {}).get("content", {}).values()
]


def wrong(schema: Any) -> Iterator[tuple[str, Any]]:
    return ((name, put(value)) for name, kind, put in leaves(schema) for value in WRONG[kind])


@pytest.mark.parametrize(("method", "path", "schema"), BODIES, ids=[" ".join(row[:2]) for row in BODIES])
def test_it_is_refused_by_name(service: Service, method: str, path: str, schema: Any) -> None:
    root = service.root
    place = path.removeprefix("/api/v1").replace("{path}", "profile.md").replace("{", "").replace("}", "")
    for name, body in wrong(schema):
        answer = root.send(method, place, json.dumps(body).encode())
        assert answer.refusal == (400, "INVALID_ARGUMENT"), (name, body, answer.text)
        told = json.dumps(answer.error)
        assert name in told, (name, body, told)
        assert "should be a valid" in told or "must be true or false" in told, (name, body, told)


def test_many_fields_are_asked() -> None:
    assert sum(len(list(wrong(schema))) for *_, schema in BODIES) > 150
