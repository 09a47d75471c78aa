"""The api function: every route, with OpenAPI and Swagger UI. Those that append or erase are served by the functions of
these names, of which the second is this code under another role."""

import logging
from typing import Any
from urllib.parse import quote

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError
from pydantic_core import from_json

from strandline.domain.errors import InvalidArgument, NotFound, StrandlineError
from strandline.entry.front import serve
from strandline.entry.http import Event, InvalidFields, answering, as_json, read_text, refused
from strandline.entry.routes import (
    admin,
    context,
    erasure,
    experiences,
    files,
    history,
    journal,
    memories,
    memory_tool,
    memory_types,
    rebuild,
    rollback,
    scrubs,
    search,
    sessions,
    system,
    tasks,
    tool_results,
    topics,
    usage,
)
from strandline.entry.routes.unserved import unserved
from strandline.entry.wiring import library

logging.getLogger("aws_lambda_powertools").setLevel(logging.INFO)  # at DEBUG it logs bodies

MEMORIES = "/api/v1/memories/"
VIEWS = ("blame", "history", "rollback")
ROUTERS = (
    system.router,
    admin.router,
    sessions.router,
    context.router,
    tasks.router,
    topics.router,
    memories.router,
    memory_types.router,
    history.router,
    rollback.router,
    rebuild.router,
    memory_tool.router,
    journal.router,
    files.router,
    search.router,
    tool_results.router,
    erasure.router,
    scrubs.router,
    usage.router,
    experiences.router,
)

app = APIGatewayHttpResolver(
    enable_validation=True, response_validation_error_http_code=500, serializer=as_json
)
for router in ROUTERS:
    app.include_router(router)


def handle(event: Event, context: Any) -> dict[str, Any]:
    """Answers one HTTP API event."""
    if str(event["rawPath"]).startswith("/api/"):
        return serve(event, library, lambda: _route(event, context))
    return answering(event, lambda: _route(event, context))


def _route(event: Event, context: Any) -> dict[str, Any]:
    answer: dict[str, Any] = app.resolve(_plain(event), context)
    return answer


def _plain(event: Event) -> dict[str, Any]:
    """The event as the router takes it: a body is JSON, whatever its header says, and none is an empty object."""
    return {
        **event,
        "rawPath": _routable(str(event["rawPath"])),
        "headers": {**(event.get("headers") or {}), "content-type": "application/json"},
        "body": _json(read_text(event) or "{}"),
        "isBase64Encoded": False,
    }


def _json(text: str) -> str:
    """The text, if it is an object that can be worked with: whole, valid Unicode, and not nested beyond reason."""
    try:
        found = from_json(text)
    except ValueError as error:
        raise InvalidArgument(f"body: {error}") from error
    if not isinstance(found, dict):  # where a body may be left out, the router would take a list for none
        raise InvalidArgument("body: must be a JSON object")
    return text


def _routable(path: str) -> str:
    """The path as the router can match it. An HTTP API hands it over decoded, and the router takes a parameter for
    one segment of plain characters: so it is encoded again, a memory's path into one segment, and what is wanted of the
    memory behind it. `asking` decodes it."""
    if not path.startswith(MEMORIES):
        return quote(path, safe="/")
    name, _, view = path[len(MEMORIES) :].rpartition("/")
    if view in VIEWS and name.endswith(".md"):
        return f"{MEMORIES}{quote(name, safe='')}/{view}"
    return MEMORIES + quote(path[len(MEMORIES) :], safe="")


@app.exception_handler(StrandlineError)  # type: ignore[untyped-decorator]
def _refused(error: StrandlineError) -> Response[Any]:
    return _response(error)


def _response(error: StrandlineError) -> Response[Any]:
    answer = refused(error, app.current_event.request_context.request_id)
    headers = dict(answer["headers"])
    return Response(answer["statusCode"], headers.pop("Content-Type"), answer["body"], headers)


@app.exception_handler(RequestValidationError)  # type: ignore[untyped-decorator]
def _invalid(error: RequestValidationError) -> Response[Any]:
    return _response(InvalidFields(error.errors()))


@app.not_found
def _no_route(_error: NotFoundError) -> Response[Any]:
    asked = f"{app.current_event.http_method} {app.current_event.path}"
    missing = NotFound(f"there is no route {asked}", type="route", resource=asked[:200])
    return _response(unserved(app.current_event.path) or missing)
