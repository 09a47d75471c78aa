"""The description put together."""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from pydantic import TypeAdapter

from strandline import __version__
from strandline.entry.answers import JSON, declared
from strandline.entry.openapi.parts import ABOUT, KEYED, NAMED, PARAMETERS, SECURITY, SHARED, Schema
from strandline.entry.openapi.responses import COMPONENTS, good, refusals, refused
from strandline.entry.openapi.routes import Route, routes_of
from strandline.entry.results.envelope import Error, Telemetry

POWERTOOLS_OWN = ("HTTPValidationError", "ValidationError", "ResponseValidationError")
TITLE = "Strandline"
_INFO = {
    "title": TITLE,
    "version": __version__,
    "description": ABOUT,
    "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
}


@cache
def text(app: APIGatewayHttpResolver) -> str:
    """The description as JSON, made once per warm environment."""
    return json.dumps(describe(app), ensure_ascii=False, separators=(",", ":"))


def describe(app: APIGatewayHttpResolver) -> Schema:
    """The description of every route that declares its answers; a test finds those that do not."""
    given = tidy(json.loads(app.get_openapi_json_schema(title=TITLE, version=__version__)))
    routes = sorted(
        (route for route in routes_of(app) if route.function in declared), key=lambda r: (r.path, r.method)
    )
    results, definitions = _results(routes)
    bodies = given["components"]["schemas"]
    spread = {model.__name__ for route in routes for model in route.query_models}
    inputs = {name: bodies[name] for name in set(bodies) - {*POWERTOOLS_OWN, *spread}}
    return {
        "openapi": "3.1.0",
        "info": _INFO,
        "servers": [{"url": "/"}],
        "security": [{name: []} for name in SECURITY],
        "tags": [{"name": name} for name in sorted({route.group for route in routes})],
        "paths": _paths(routes, given, results),
        "components": {
            "schemas": dict(sorted(together(inputs, definitions).items())),
            "responses": dict(sorted(refusals(routes).items())),
            "parameters": PARAMETERS,
            "securitySchemes": SECURITY,
        },
    }


def _paths(routes: Iterable[Route], given: Schema, results: Mapping[Route, Schema]) -> Schema:
    paths: Schema = {}
    for route in routes:
        operation = _operation(route, given["paths"][route.path][route.method], results[route])
        paths.setdefault(route.path, {})[route.method] = _with_body(operation, given["components"]["schemas"])
    return paths


def together(inputs: Schema, definitions: Schema) -> Schema:
    """The schemas of bodies and those of results. Raises ValueError when two have one name."""
    for name in set(inputs) & set(definitions):
        if inputs[name] != definitions[name]:
            raise ValueError(f"a body and a result are called {name}: rename one of them")
    return {**inputs, **definitions}


def _results(routes: Iterable[Route]) -> tuple[Mapping[Route, Schema], Schema]:
    """The schema of each route's result, and the components they refer to."""
    inputs = [(route, "validation", TypeAdapter(route.answers.result)) for route in routes]
    around = [(kind, "validation", TypeAdapter(kind)) for kind in (Error, Telemetry)]
    wanted: Any = [*inputs, *around]
    found, rest = TypeAdapter.json_schemas(wanted, ref_template=COMPONENTS + "{model}")
    results: Any = {key: tidy(schema) for (key, _), schema in found.items()}
    return results, tidy(rest.get("$defs", {}))


def _operation(route: Route, given: Schema, result: Schema) -> Schema:
    made: Schema = {
        "operationId": route.identity,
        "tags": [route.group],
        "summary": route.about.partition(". ")[0].rstrip("."),
        "description": route.about,
        "parameters": [*_parameters(route, given), *_headers(route)],
        "requestBody": given.get("requestBody"),
        "responses": {"200": good(route, result), **refused(route.errors)},
        "security": [] if route.answers.bare else None,
    }
    return {name: value for name, value in made.items() if value is not None}


def _with_body(operation: Schema, schemas: Schema) -> Schema:
    """The operation, its body required when a field of it is: no body is an empty object."""
    body = operation.get("requestBody")
    if body is None:
        return operation
    schema = body["content"][JSON]["schema"]
    known = schemas.get(schema.get("$ref", "").removeprefix(COMPONENTS), {})
    return {**operation, "requestBody": {"content": body["content"], "required": bool(known.get("required"))}}


def _parameters(route: Route, given: Schema) -> list[Schema]:
    """Those of path and query. Of what a model holds, Powertools leaves out what the model says; of a name that is
    only text, it is said what it names."""
    said = {
        name: schema
        for model in route.query_models
        for name, schema in tidy(model.model_json_schema())["properties"].items()
    }
    return [
        _parameter({**parameter, "schema": said.get(parameter["name"], parameter["schema"])})
        for parameter in given.get("parameters", ())
    ]


def _parameter(given: Schema) -> Schema:
    schema = dict(_sendable(given["schema"]))
    about = schema.pop("description", None)
    named = NAMED.get(given["name"], {})
    bare = {name: value for name, value in named.items() if name != "description"}
    if named and schema in ({"type": "string"}, bare):
        schema, about = bare, named["description"]
    return {**given, "schema": schema, **({"description": about} if about else {})}


def _sendable(schema: Schema) -> Schema:
    """Without null: a parameter is sent or not."""
    values = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    rest = {name: value for name, value in schema.items() if name != "anyOf"}
    return {**values[0], **rest} if len(values) == 1 else schema


def _headers(route: Route) -> list[Schema]:
    if route.answers.bare:
        return []
    names = (*route.answers.headers, *SHARED, *(KEYED if route.keyed else ()))
    return [{"$ref": f"#/components/parameters/{name}"} for name in names]


def tidy(value: Any) -> Any:
    """Without the titles that say a name once more, descriptions in one line, whole numbers as such."""
    if isinstance(value, dict):
        return {k: _tidied(k, v) for k, v in value.items() if not _says_nothing(k, v)}
    if isinstance(value, list):
        return [tidy(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _tidied(name: str, value: Any) -> Any:
    return " ".join(value.split()) if name == "description" and isinstance(value, str) else tidy(value)


def _says_nothing(name: str, value: Any) -> bool:
    return (name == "title" and isinstance(value, str)) or (name == "default" and value is None)
