"""Swagger UI as one page. Script and style are those that Powertools ships; they stand in the page itself, so it works
without any other network than this API, and its policy lets it reach nothing else."""

from functools import cache
from importlib.resources import files

POLICY = (
    "default-src 'none'; connect-src 'self'; img-src 'self' data:;"
    " script-src 'unsafe-inline'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
)
_BUNDLE = files("aws_lambda_powertools.event_handler.openapi.swagger_ui")
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Strandline</title><style>%s</style></head>
<body><div id="docs"></div><script>%s</script>
<script>
SwaggerUIBundle({dom_id: "#docs", url: "openapi.json", deepLinking: true, filter: true, validatorUrl: null})
</script></body>
</html>
"""


@cache
def page() -> str:
    """The page, read once per warm environment."""
    return _PAGE % (_file("swagger-ui.min.css"), _file("swagger-ui-bundle.min.js"))


def _file(name: str) -> str:
    return _BUNDLE.joinpath(name).read_text(encoding="utf-8")
