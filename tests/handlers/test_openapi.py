"""The description of the API: whole, valid, and made from the code."""

import json
import re
from typing import Any

import pytest
from openapi_spec_validator import validate

from strandline import __version__
from strandline.entry import openapi
from strandline.entry.api import app
from strandline.entry.openapi.document import together
from tests.handlers.service import Service


@pytest.fixture(scope="module")
def described() -> Any:
    return openapi.describe(app)


def operations(described: Any) -> list[tuple[str, Any]]:
    return [
        (f"{method.upper()} {path}", operation)
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    ]


def test_it_is_valid(described: Any) -> None:
    validate(described)


def test_nothing_of_the_router_s_own_answers_is_left(described: Any) -> None:
    assert "ValidationError" not in json.dumps(described)
    assert [name for name, operation in operations(described) if "422" in operation["responses"]] == []


def test_every_operation_says_what_it_does(described: Any) -> None:
    for name, operation in operations(described):
        assert operation["summary"] and operation["description"].endswith("."), name


def test_operation_ids_are_unique_and_plain(described: Any) -> None:
    ids = [operation["operationId"] for _, operation in operations(described)]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z]+_[a-z_]+", name) for name in ids)


def test_components_have_plain_names_and_are_used(described: Any) -> None:
    used = set(re.findall(r"#/components/\w+/[\w.]+", json.dumps(described)))
    made = {
        f"#/components/{kind}/{name}"
        for kind, named in described["components"].items()
        if kind != "securitySchemes"
        for name in named
    }
    assert made == used
    assert not [name for name in made if "__" in name]


def test_every_route_of_the_api_may_refuse(described: Any) -> None:
    for name, operation in operations(described):
        if "/api/" in name:
            assert {"200", "400", "401", "403", "500", "503"} <= set(operation["responses"]), name


def test_only_health_needs_no_key(described: Any) -> None:
    open_to_all = [name for name, operation in operations(described) if operation.get("security") == []]
    assert open_to_all == ["GET /health"]
    assert described["security"] == [{"ApiKey": []}, {"Bearer": []}]


def test_it_has_the_version_of_the_package(described: Any) -> None:
    assert described["info"]["version"] == __version__


def test_it_is_answered_without_a_key(service: Service, described: Any) -> None:
    answer = service.request("GET", "/openapi.json", {}, b"")
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert answer.json == described


def test_the_page_loads_nothing_from_elsewhere(service: Service) -> None:
    page = service.request("GET", "/docs", {}, b"")
    assert (page.status, page.headers["content-type"]) == (200, "text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert not re.search(
        r"<(script|link|img)[^>]*(src|href)=", page.text.replace("<script>", "", 2)[:200_000]
    )
    assert "SwaggerUIBundle({" in page.text


def test_two_schemas_never_share_a_name() -> None:
    with pytest.raises(ValueError, match="called Settings"):
        together({"Settings": {"type": "object"}}, {"Settings": {"type": "string"}})


def test_a_body_is_required_when_a_field_of_it_is(described: Any) -> None:
    bodies = {
        name: operation["requestBody"]["required"]
        for name, operation in operations(described)
        if "requestBody" in operation
    }
    assert bodies["POST /api/v1/sessions"] is False
    assert bodies["POST /api/v1/sessions/{session_id}/commit"] is False
    assert bodies["POST /api/v1/sessions/{session_id}/messages"] is True
    assert bodies["PUT /api/v1/memories/{path}"] is True
