"""The sample events: one for every route, message version and schedule, and each is answered as it stands."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from strandline.domain.contracts import (
    AppendRequested,
    CommitRequested,
    EraseRequested,
    ExtractRequested,
    LearnRequested,
    MergeRequested,
    SummariseRequested,
)
from strandline.domain.events import Event
from strandline.entry.api import app
from tests.handlers.service import Client, Service

EVENTS = Path(__file__).parents[2] / "events"
MESSAGES: dict[str, type[BaseModel]] = {
    "append.v1": AppendRequested,
    "commit.v1": CommitRequested,
    "erase.v1": EraseRequested,
    "learn.v1": LearnRequested,
    "extract.v1": ExtractRequested,
    "extract_summarise.v1": SummariseRequested,
    "merge.v1": MergeRequested,
}
FUNCTIONS = {
    "api": "ApiFunction",
    "append": "AppendFunction",
    "authorizer": "AuthorizerFunction",
    "commit": "CommitFunction",
    "erase": "EraseFunction",
    "extract": "ExtractFunction",
    "learn": "LearnFunction",
    "mcp": "McpFunction",
    "merge": "MergeFunction",
    "sweep": "SweepFunction",
}
STATUS = dict.fromkeys(  # there is nothing of that id yet
    (
        *(
            "api_task_look",
            "api_task_retry",
            "api_task_cancel",
            "api_admin_key_revoke",
            "api_memory_type_delete",
        ),
        *("api_rebuild_look", "api_rebuild_continue", "api_rebuild_promote", "api_scrub_look"),
    ),
    404,
)
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # Powertools leaves the page's files open
OUT: dict[str, type[BaseModel]] = {f"bus.{model.__name__}.v1": model for model in get_args(Event)}
UNDESCRIBED = {"GET /openapi.json", "GET /docs"}


def event(name: str) -> Any:
    return json.loads((EVENTS / f"{name}.json").read_text())


def samples(*functions: str) -> list[str]:
    names = sorted(path.stem for path in EVENTS.glob("*.json"))
    return [name for name in names if _function(name) in functions and name not in MESSAGES]


def _function(name: str) -> str:
    return name.partition(".")[0].partition("_")[0]


@pytest.fixture
def mia(service: Service) -> Client:
    """What the samples speak of: a registered user with a session that was committed, memories, and new messages."""
    service.root.post("/admin/accounts", {"account_id": "demo", "admin_user_id": "mia"})
    client = service.client("mia", "demo")
    client.remember("tour", "I moved to Lisbon last week.", "I love the cello.")
    client.put("/memories/preferences/music.md", {"content": "# Preferences: music\n"})
    client.put("/memories/experiences/cancel-a-reservation.md", {"content": "# Cancel\n\nLook first.\n"})
    client.append("tour", "error: no such file\n" * 1_100, role="tool", id="build-log")
    return client


@pytest.mark.parametrize("name", samples("api", "append", "erase", "mcp"))
def test_an_http_sample_is_answered(service: Service, mia: Client, name: str) -> None:
    if name == "api_session_create":
        mia.delete("/sessions/tour")
    answer = service.answer(FUNCTIONS[_function(name)], event(name))
    assert answer.status == STATUS.get(name, 200), answer.text


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_sample_is_taken(service: Service, name: str) -> None:
    """That its session is not there (any more) is silence, not an error; append makes it."""
    assert service.invoke(FUNCTIONS[_function(name)], event(name)) == {"batchItemFailures": []}


@pytest.mark.parametrize(("name", "model"), MESSAGES.items())
def test_a_message_sample_is_what_the_contract_says(name: str, model: type[BaseModel]) -> None:
    (record,) = event(name)["Records"]
    read = model.model_validate_json(record["body"])
    assert json.loads(read.model_dump_json(exclude_unset=True)) == json.loads(record["body"])


@pytest.mark.parametrize(("name", "model"), MESSAGES.items())
def test_the_schema_of_a_message_is_the_one_that_is_published(name: str, model: type[BaseModel]) -> None:
    """A difference here breaks whoever is still sending or holding the old version: make a new version instead."""
    schema = event(f"schemas/{model.__name__}.{name.split('.')[1]}")
    assert model.model_json_schema() == schema


@pytest.mark.parametrize(("name", "model"), OUT.items())
def test_an_event_sample_is_what_a_rule_s_target_gets(name: str, model: type[BaseModel]) -> None:
    sample = event(name)
    assert (sample["source"], sample["detail-type"]) == ("strandline", model.__name__)
    assert model.model_validate(sample["detail"]).model_dump(exclude_none=True) == sample["detail"]


@pytest.mark.parametrize("model", OUT.values())
def test_the_schema_of_an_event_is_the_one_that_is_published(model: type[BaseModel]) -> None:
    assert model.model_json_schema() == event(f"schemas/{model.__name__}.v1")


def test_the_schedule_sample_is_swept(service: Service) -> None:
    counts = {"due": 0, "committed": 0, "moved": 0, "healed": 0, "failed": 0}
    assert service.invoke("SweepFunction", event("sweep")) == counts


def test_the_authorizer_sample_is_let_through_without_an_identity(service: Service) -> None:
    assert service.invoke("AuthorizerFunction", event("authorizer")) == {"isAuthorized": True, "context": {}}


def test_there_is_a_sample_for_every_route() -> None:
    described = json.loads(app.get_openapi_json_schema(title="Strandline", version="1"))["paths"]
    routes = {f"{method.upper()} {path}" for path, methods in described.items() for method in methods}
    sampled = [_described(event(name), list(described)) for name in samples("api", "append", "erase")]
    assert sorted(sampled) == sorted(routes | UNDESCRIBED)


def _described(sample: Any, paths: list[str]) -> str:
    """The described route a sample is for: of those that fit, the one with the fewest variables, and of those the
    longest."""
    asked = sample["requestContext"]["http"]
    fits = [path for path in paths if _fits(path, asked["path"])] or [asked["path"]]
    return f"{asked['method']} {min(fits, key=lambda path: (path.count('{'), -len(path)))}"


def _fits(path: str, asked: str) -> bool:
    if path.startswith("/api/v1/memories/{path}"):
        return asked.startswith("/api/v1/memories/") and asked.endswith(
            path.removeprefix("/api/v1/memories/{path}")
        )
    wanted, given = path.split("/"), asked.split("/")
    return len(wanted) == len(given) and all(
        w == g or w.startswith("{") for w, g in zip(wanted, given, strict=True)
    )


def test_health_says_ok_without_a_key(service: Service) -> None:
    answer = service.request("GET", "/health", {}, b"")
    assert (answer.status, answer.json["status"]) == (200, "ok")
    assert set(answer.json) == {"status", "version"}


def test_the_description_and_its_page_need_no_key(service: Service) -> None:
    schema = service.request("GET", "/openapi.json", {}, b"").json
    assert schema["openapi"].startswith("3.")
    page = service.request("GET", "/docs", {}, b"")
    assert (page.status, page.headers["content-type"]) == (200, "text/html")
