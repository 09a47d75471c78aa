"""The OpenAPI 3.1 description, made from the code when somebody asks for it.

Paths, parameters and bodies come from Powertools, results and errors from what is declared beside the routes
(entry/answers.py), words from the docstrings. What Powertools says of answers is not true here (its own 422, its own
error shapes, no envelope), so it is replaced. `infra/openapi.json` is the committed snapshot.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from inspect import getdoc
from typing import Any, get_args, get_type_hints

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from pydantic import BaseModel, TypeAdapter

from strandline import __version__
from strandline.domain.errors import StrandlineError
from strandline.entry.answers import JSON, Answers, Errors, declared, errors_of
from strandline.entry.results.envelope import Error, Telemetry

Schema = dict[str, Any]

PREFIX = "/api/v1/"
COMPONENTS = "#/components/schemas/"
POWERTOOLS_OWN = ("HTTPValidationError", "ValidationError", "ResponseValidationError")
SECURITY = {
    "ApiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    "Bearer": {"type": "http", "scheme": "bearer"},
}
PARAMETERS = {
    "ActorPeer": {
        "name": "X-Strandline-Actor-Peer",
        "in": "header",
        "description": "The peer that the user acts as: memories of its other peers are out of view. Sessions are the "
        "user's as ever. Alias: X-OpenViking-Actor-Peer.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 128},
    },
    "Account": {
        "name": "X-Strandline-Account",
        "in": "header",
        "description": "The account to act in: any for a root key, its own for an admin key; a user key's own always "
        "wins. Alias: X-OpenViking-Account.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 128},
    },
    "User": {
        "name": "X-Strandline-User",
        "in": "header",
        "description": "The user to act as, for admin and root keys. Alias: X-OpenViking-User.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 128},
    },
}
TELEMETRY = {
    "Telemetry": {
        "name": "telemetry",
        "in": "query",
        "description": 'Whether the envelope tells what the answer took. In a body: `"telemetry": true`.',
        "schema": {"type": "boolean", "default": False},
    },
}
KEYED = {
    "IdempotencyKey": {
        "name": "Idempotency-Key",
        "in": "header",
        "description": "New for each request, the same when it is sent again: within 24 hours that answers what the "
        "first attempt did, with `Idempotent-Replay: true`, and does nothing. With another body it is 409.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255},
    },
}
ABOUT = """Agent memory in the user's own bucket.

Every good answer is `{"status": "ok", "result": …, "time": …}`, every refusal `{"status": "error", "error": {"code",
"message", "details", "retryable", "request_id"}}`. What is `retryable` carries `Retry-After`. A body is JSON whatever
its Content-Type says. What is another tenant's is 404, and so is a path or method that is no route. The gateway in
front answers by itself, `{"message": …}`, what never reaches us: more than 10 MB (413), too many requests (429), a
function that cannot start or does not end (500, 503)."""


@dataclass(frozen=True)
class Route:
    """One route of the router: where it is, and the function behind it."""

    path: str
    method: str
    function: Callable[..., Any]

    @property
    def answers(self) -> Answers:
        return declared[self.function]

    @property
    def errors(self) -> Errors:
        return errors_of(self.function, self.path, self.method)

    @property
    def keyed(self) -> bool:
        """Whether it takes an `Idempotency-Key`."""
        return self.method in ("post", "put")

    @property
    def group(self) -> str:
        """What it is about: `sessions`; `service` for what stands outside of the API itself."""
        inside = self.path.removeprefix(PREFIX)
        return "service" if inside == self.path else inside.split("/")[0]

    @property
    def identity(self) -> str:
        """Stays as it is when functions move from file to file, for generated clients call methods by it."""
        return f"{self.group}_{self.function.__name__.removesuffix(f'_{self.group}')}"


@cache
def text(app: APIGatewayHttpResolver) -> str:
    """The description as JSON, made once per warm environment."""
    return json.dumps(describe(app), ensure_ascii=False, separators=(",", ":"))


def describe(app: APIGatewayHttpResolver) -> Schema:
    """The description of every route that declares its answers; a test finds those that do not."""
    given = _tidy(json.loads(app.get_openapi_json_schema(title="Strandline", version=__version__)))
    routes = [route for route in routes_of(app) if route.function in declared]
    results, definitions = _results(routes)
    paths: Schema = {}
    for route in sorted(routes, key=lambda r: (r.path, r.method)):
        operation = _with_body(given["paths"][route.path][route.method], given["components"]["schemas"])
        paths.setdefault(route.path, {})[route.method] = _operation(route, operation, results[route])
    held = {model.__name__ for route in routes for model in _query_models(route)}
    inputs = {k: v for k, v in given["components"]["schemas"].items() if k not in {*POWERTOOLS_OWN, *held}}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Strandline",
            "version": __version__,
            "description": ABOUT.replace("\n", " ").replace("  ", "\n\n"),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{name: []} for name in SECURITY],
        "tags": _tags(routes),
        "paths": paths,
        "components": {
            "schemas": dict(sorted(_together(inputs, definitions).items())),
            "responses": dict(sorted(_refusals(routes).items())),
            "parameters": {**PARAMETERS, **TELEMETRY, **KEYED},
            "securitySchemes": SECURITY,
        },
    }


def _together(inputs: Schema, definitions: Schema) -> Schema:
    """The schemas of bodies and those of results. Raises ValueError when two have one name."""
    for name in set(inputs) & set(definitions):
        if inputs[name] != definitions[name]:
            raise ValueError(f"a body and a result are called {name}: rename one of them")
    return {**inputs, **definitions}


def routes_of(app: APIGatewayHttpResolver) -> list[Route]:
    """The routes that belong into the description. Powertools has no public way to them."""
    known = (*app._static_routes, *app._dynamic_routes)
    return [Route(r.openapi_path, r.method.lower(), r.func) for r in known if r.include_in_schema]


def _results(routes: Iterable[Route]) -> tuple[Mapping[Route, Schema], Schema]:
    """The schema of each route's result, and the components they refer to."""
    inputs = [(route, "validation", TypeAdapter(route.answers.result)) for route in routes]
    around = [(kind, "validation", TypeAdapter(kind)) for kind in (Error, Telemetry)]
    wanted: Any = [*inputs, *around]
    found, rest = TypeAdapter.json_schemas(wanted, ref_template=COMPONENTS + "{model}")
    results: Any = {key: _tidy(schema) for (key, _), schema in found.items()}
    return results, _tidy(rest.get("$defs", {}))


def _operation(route: Route, given: Schema, result: Schema) -> Schema:
    summary, about = _words(route.function)
    names = [] if route.answers.bare else [*PARAMETERS, *TELEMETRY, *(KEYED if route.keyed else ())]
    shared = [{"$ref": f"#/components/parameters/{name}"} for name in names]
    made: Schema = {
        "operationId": route.identity,
        "tags": [route.group],
        "summary": summary,
        "description": about,
        "parameters": [*_parameters(route, given), *shared],
        "requestBody": given.get("requestBody"),
        "responses": {"200": _good(route, result), **_refused(route.errors)},
        "security": [] if route.answers.bare else None,
    }
    return {name: value for name, value in made.items() if value is not None}


def _with_body(given: Schema, schemas: Schema) -> Schema:
    """The operation, its body required when a field of it is: no body is an empty object."""
    body = given.get("requestBody")
    if body is None:
        return given
    schema = body["content"][JSON]["schema"]
    known = schemas.get(schema.get("$ref", "").removeprefix(COMPONENTS), {})
    return {**given, "requestBody": {"content": body["content"], "required": bool(known.get("required"))}}


def _parameters(route: Route, given: Schema) -> list[Schema]:
    """Its parameters; of those that a model holds, Powertools leaves out what the model says of them."""
    said = {name: schema for model in _query_models(route) for name, schema in _properties(model).items()}
    return [
        {**parameter, "schema": said.get(parameter["name"], parameter["schema"])}
        for parameter in given.get("parameters", ())
    ]


def _query_models(route: Route) -> list[type[BaseModel]]:
    hints = get_type_hints(route.function, include_extras=True).values()
    marked = [get_args(hint) for hint in hints if hasattr(hint, "__metadata__")]
    return [of for of, *_ in marked if isinstance(of, type) and issubclass(of, BaseModel)]


def _properties(model: type[BaseModel]) -> Schema:
    properties: Schema = _tidy(model.model_json_schema())["properties"]
    return properties


def _words(function: Callable[..., Any]) -> tuple[str, str]:
    """The first sentence of its docstring, and all of it."""
    about = " ".join((getdoc(function) or "").split())
    first = about.partition(". ")[0].rstrip(".")
    return first, about


def _good(route: Route, result: Schema) -> Schema:
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


def _refused(errors: Errors) -> Schema:
    by_status = _by_status(errors).items()
    return {str(status): {"$ref": f"#/components/responses/{_name(same)}"} for status, same in by_status}


def _refusals(routes: Iterable[Route]) -> Schema:
    """Every set of errors that share a status somewhere, as a response."""
    groups = [same for route in routes for same in _by_status(route.errors).values()]
    return {_name(same): _refusal(same) for same in groups}


def _refusal(errors: list[type[StrandlineError]]) -> Schema:
    codes = [error.code for error in errors]
    narrowed = {"properties": {"error": {"properties": {"code": {"enum": codes}}}}}
    answer: Schema = {
        "description": " or ".join(f"`{code}`" for code in codes) + ".",
        "content": {"application/json": {"schema": {"allOf": [{"$ref": f"{COMPONENTS}Error"}, narrowed]}}},
    }
    if any(error.retryable for error in errors):
        retry = {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 0}}
        answer["headers"] = {"Retry-After": {**retry, "required": all(error.retryable for error in errors)}}
    return answer


def _tags(routes: Iterable[Route]) -> list[Schema]:
    return [{"name": name} for name in sorted({route.group for route in routes})]


def _tidy(value: Any) -> Any:
    """Without the titles that say a name once more, without line breaks, and with whole numbers as such."""
    if isinstance(value, dict):
        return {k: _tidy(v) for k, v in value.items() if not _says_nothing(k, v)}
    if isinstance(value, list):
        return [_tidy(each) for each in value]
    if isinstance(value, str):
        return " ".join(value.split())
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _says_nothing(name: str, value: Any) -> bool:
    return (name == "title" and isinstance(value, str)) or (name == "default" and value is None)
