"""Health and the API's own description."""

import json
from typing import Any

from aws_lambda_powertools.event_handler import Response

from strandline import __version__
from strandline.entry.routes.asking import new_router

router = new_router()


@router.get("/health")
def health() -> dict[str, Any]:
    """Whether the service answers; reads nothing."""
    return {"status": "ok", "version": __version__}


@router.get("/openapi.json", include_in_schema=False)
def openapi() -> Response[str]:
    """The OpenAPI 3.1 description of every route."""
    from strandline.entry.api import app

    schema = app.get_openapi_json_schema(title="Strandline", version=__version__)
    return Response(200, "application/json", json.dumps(json.loads(schema)))
