"""Health and the API's own description."""

from typing import Any

from aws_lambda_powertools.event_handler import Response

from strandline import __version__
from strandline.entry.answers import answers
from strandline.entry.results.system import Health
from strandline.entry.routes.asking import new_router

router = new_router()


@router.get("/health")
@answers(Health, bare=True)
def health() -> dict[str, Any]:
    """Whether the service answers; reads nothing."""
    return {"status": "ok", "version": __version__}


@router.get("/openapi.json", include_in_schema=False)
def openapi() -> Response[str]:
    """The OpenAPI 3.1 description of every route."""
    from strandline.entry import openapi
    from strandline.entry.api import app

    return Response(200, "application/json", openapi.text(app))


@router.get("/docs", include_in_schema=False)
def docs() -> Response[str]:
    """Swagger UI for that description, in one page that loads nothing from other hosts."""
    from strandline.entry import swagger

    return Response(200, "text/html", swagger.page(), {"Content-Security-Policy": swagger.POLICY})
