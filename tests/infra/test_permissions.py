"""Every AWS call that a function makes in a whole life of a session is allowed by its own policy in template.yaml.

The real handlers and adapters run on moto, which checks no policies; each call is recorded with the function that made
it and held against that function's statements.
"""

import importlib
import json
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from unittest.mock import patch

import boto3
import moto
import pytest
from botocore.client import BaseClient
from moto.core import DEFAULT_ACCOUNT_ID

from infra.local import gateway, provision
from infra.local.template import Template, resolve
from infra.local.triggers import batch_event, failed_ids
from strandline.adapters.clock import SystemClock
from strandline.domain.contracts import SessionRef
from strandline.domain.times import stamp
from strandline.entry import settings, wiring
from strandline.pipeline import reading
from strandline.storage.records import Due
from tests.fakes.chat_server import ChatServer, listens, remembers

ROOT = Path(__file__).parents[2]
KEY_HASH = "0e2d44cd4ea95a6ca7b20d8a1a2e4a09ae9a6d8ff10c0f7a1c1a8b3c5c0f1a2b"
HEAL_SECONDS = 900
HEADERS = [("x-api-key", "unused"), ("content-type", "application/json")]

# Operations whose IAM action has another name.
ACTIONS = {
    "ListObjectsV2": "ListBucket",
    "ListObjectVersions": "ListBucketVersions",
    "HeadObject": "GetObject",
}


class Moto:
    """Stands for the emulators: clients of moto."""

    def client(self, service: Any) -> Any:
        return boto3.client(service)


def single(operation: str, request: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The call as what it is allowed by: DeleteObjects is a DeleteObject of each key."""
    if operation != "DeleteObjects":
        return [(operation, request)]
    return [("DeleteObject", {"Bucket": request["Bucket"], **each}) for each in request["Delete"]["Objects"]]


def needed(service: str, operation: str, request: dict[str, Any], names: dict[str, str]) -> tuple[str, str]:
    """The IAM action and resource of one call."""
    action = ACTIONS.get(operation, operation)
    if operation in ("GetObject", "DeleteObject") and "VersionId" in request:
        action = f"{operation}Version"
    if service == "s3":
        key = request.get("Key")
        return f"s3:{action}", f"arn:aws:s3:::{request['Bucket']}" + (f"/{key}" if key else "")
    if service == "dynamodb":
        index = request.get("IndexName")
        return f"dynamodb:{action}", names["StateTable.Arn"] + (f"/index/{index}" if index else "")
    if service == "events":
        (entry,) = request["Entries"]
        return f"events:{action}", names[f"{names_of(names, entry['EventBusName'])}.Arn"]
    return f"sqs:{action}", names[f"{names_of(names, request['QueueUrl'])}.Arn"]


def names_of(names: dict[str, str], value: str) -> str:
    """The resource that goes by this name."""
    (name,) = [name for name, known in names.items() if known == value and f"{name}.Arn" in names]
    return name


def allowed(function: Any, action: str, resource: str, names: dict[str, str]) -> bool:
    """Whether a statement of the function's policies names both."""
    for policy in function["Policies"]:
        for statement in resolve(policy["Statement"], names):
            actions, resources = listed(statement["Action"]), listed(statement["Resource"])
            if action in actions and any(fnmatchcase(resource, pattern) for pattern in resources):
                return True
    return False


@contextmanager
def later(seconds: float) -> Iterator[None]:
    """What happens that many seconds from now."""
    at = datetime.now(UTC) + timedelta(seconds=seconds)
    with patch.object(SystemClock, "now", lambda _: at) if seconds else nullcontext():
        yield


class Deployment:
    """The functions on moto, and what each of them called."""

    def __init__(self, template: Template) -> None:
        self.template = template
        self._routes = template.routes()
        self._function: str | None = None
        self.calls: set[tuple[str, str, str]] = set()
        self.written_over: set[str] = set()
        self.names = provision.names(template, "https://sqs.us-east-1.amazonaws.com")
        provision.create(template, self.names, Moto())  # type: ignore[arg-type]

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Notes every call of a client, and passes it on."""
        genuine = BaseClient._make_api_call  # type: ignore[attr-defined]

        def noted(client: Any, operation: str, request: dict[str, Any]) -> Any:
            if self._function is not None:
                service = client.meta.service_model.service_name
                for each in single(operation, request):
                    action, resource = needed(service, each[0], each[1], self.names)
                    self.calls.add((self._function, action, resource))
                if operation == "PutObject" and "IfNoneMatch" not in request:
                    self.written_over.add(resource)
                if "Tagging" in request:
                    self.calls.add((self._function, f"{action}Tagging", resource))
            return genuine(client, operation, request)

        with patch.object(BaseClient, "_make_api_call", noted):
            yield

    def invoke(self, function: str, event: Any) -> Any:
        """Calls a function's handler."""
        word = self.template.functions()[function].code.name
        self._function = function
        try:
            return importlib.import_module(f"functions.{word}.handler").handler(event, None)
        finally:
            self._function = None

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        expected: int = 200,
        *,
        key: str = "",
        role: str = "user",
    ) -> Any:
        """One request over HTTP, authorizer first; the result of its answer."""
        text = b"" if body is None else json.dumps(body).encode()
        headers = [*HEADERS, ("idempotency-key", key)] if key else HEADERS
        asked = gateway.Request(method, f"/api/v1{path}", headers, text, "127.0.0.1")
        found = gateway.match(self._routes, method, asked.path)
        assert found is not None
        event = gateway.request_event(asked, *found)
        self.invoke("AuthorizerFunction", gateway.authorizer_event(event))
        context = {"account_id": "acme", "user_id": "ann", "role": role}
        event["requestContext"]["authorizer"] = {"lambda": context}
        answer = gateway.response(self.invoke(found[0].function, event))
        assert answer.status == expected, answer.body
        return json.loads(answer.body).get("result")

    def sweep(self, seconds: float) -> None:
        """A sweep that many seconds from now."""
        with later(seconds):
            self.invoke("SweepFunction", {})

    def deliver(self, after: float = 0) -> None:
        """Hands every waiting message to its consumer, until all queues are empty."""
        with later(after):
            self._deliver()

    def _deliver(self) -> None:
        sqs = boto3.client("sqs")
        waiting = True
        while waiting:
            waiting = False
            for trigger in self.template.queue_triggers():
                received = sqs.receive_message(
                    QueueUrl=self.names[trigger.queue], MessageSystemAttributeNames=["All"]
                ).get("Messages", [])
                if received:
                    waiting = True
                    answer = self.invoke(trigger.function, batch_event(trigger.queue, received))
                    assert failed_ids(answer, [each["MessageId"] for each in received]) == set()
                    for each in received:
                        sqs.delete_message(
                            QueueUrl=self.names[trigger.queue], ReceiptHandle=each["ReceiptHandle"]
                        )


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    template = Template(ROOT / "template.yaml", {"RootKeySha256": KEY_HASH, "HealSeconds": str(HEAL_SECONDS)})
    with moto.mock_aws(), pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(provision, "ACCOUNT", DEFAULT_ACCOUNT_ID)
        made = Deployment(template)
        functions = template.functions().values()
        for name, value in resolve(next(iter(functions)).environment, made.names).items():
            monkeypatch.setenv(name, value)
        forget()
        with made.recording():
            live(made)
        yield made
    forget()


def forget() -> None:
    """What warm functions remember."""
    for remembered in (settings.settings, wiring.services, wiring.library, wiring.quotas):
        remembered.cache_clear()


TALK = [{"role": "user", "content": "I am Ann. I like sailing. On 7 May 2023 I met Caroline in Lisbon."}] * 3


def live(made: Deployment) -> None:
    """Sessions from their first message to their end, with everything that can be asked about them."""
    write(made)
    read(made)
    change(made)
    heal(made)
    fail(made)
    mend(made)
    repeat(made)
    read_in_parts(made)
    erase(made)


def read_in_parts(made: Deployment) -> None:
    """A language model takes so long for each part of an archive that the next one waits for another delivery."""
    with ChatServer(listens(remembers)) as server, pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("STRANDLINE_MODEL_PROVIDER", "openai")
        monkeypatch.setenv("STRANDLINE_MODEL_ID", "some-model")
        monkeypatch.setenv("STRANDLINE_MODEL_BASE_URL", server.url)
        monkeypatch.setenv("STRANDLINE_MODEL_PART_TOKENS", "100")
        monkeypatch.setattr(reading, "_time_for_another", lambda *_: False)
        forget()
        made.ask("POST", "/sessions/read/messages/batch", {"messages": TALK * 2})
        task = made.ask("POST", "/sessions/read/commit", {})["task_id"]
        made.deliver()
        assert made.ask("GET", f"/tasks/{task}")["result"]["tokens"]["calls"] == len(server.requests) == 6
    forget()


def erase(made: Deployment) -> None:
    """A user, and then the whole account."""
    for path in ("/users/ann", "/accounts/acme"):
        task = made.ask("DELETE", path, role="admin")["task_id"]
        for rounds in (1, 2, 3):
            made.deliver()
            made.sweep(rounds * (HEAL_SECONDS + 1))
            made.deliver(after=rounds * (HEAL_SECONDS + 1))
        assert made.ask("GET", f"/tasks/{task}", role="admin")["status"] == "completed"


def write(made: Deployment) -> None:
    made.ask("POST", "/sessions", {"session_id": "s"})
    made.ask("POST", "/sessions/s/messages", TALK[0])
    made.ask("POST", "/sessions/s/messages/batch", {"messages": TALK})
    made.ask(
        "POST", "/sessions/long/messages/batch", {"messages": [{**TALK[0], "content": "x" * 70_000}] * 3}
    )
    made.ask("POST", "/sessions/s/messages", {"role": "tool", "content": "x" * 20_001})
    task = made.ask("POST", "/sessions/s/commit", {})["task_id"]
    made.deliver()
    assert made.ask("GET", f"/tasks/{task}")["status"] == "completed"
    session = {"account_id": "acme", "user_id": "ann", "session_id": "long"}
    body = json.dumps({"type": "CommitRequested", "version": 1, "session": session})
    boto3.client("sqs").send_message(QueueUrl=made.names["CommitQueue"], MessageBody=body)
    made.deliver()


def read(made: Deployment) -> None:
    for path in ("/sessions", "/sessions/s", "/sessions/s/messages", "/sessions/s/context", "/memories"):
        made.ask("GET", path)
    made.ask("GET", "/sessions/s/archives/archive_001")
    (output,) = made.ask("GET", "/sessions/s/tool-results")
    assert made.ask("GET", f"/sessions/s/tool-results/{output['id']}")["total_chars"] == 20_001
    made.ask("GET", "/sessions/unknown", expected=404)
    for what in ({"query": "sailing"}, {"query": "sailing", "context_type": "message", "session_id": "s"}):
        assert made.ask("POST", "/search/find", what)["total"]
    look_around(made)


def look_around(made: Deployment) -> None:
    """The tree of addresses, and what a session used."""
    for uri in ("viking://", "viking://~/memories", "viking://~/sessions", "viking://session/s"):
        for route in ("fs/ls", "fs/tree", "fs/stat", "content/abstract", "content/overview"):
            made.ask("GET", f"/{route}?uri={uri}")
    row = made.ask("GET", "/memories?view=full")[0]
    made.ask("GET", f"/content/read?uri={row['uri']}")
    assert made.ask("POST", "/sessions/s/used", {"contexts": [row["uri"]]})["contexts_used"] == 1


def change(made: Deployment) -> None:
    path = made.ask("GET", "/memories")[0]["path"]
    made.ask("PUT", f"/memories/{path}", {"content": "# Mine\n\nI like rowing.\n"})
    made.ask("DELETE", f"/memories/{path}")
    made.ask("DELETE", "/sessions/s")


def repeat(made: Deployment) -> None:
    """Requests with a key, refused, repeated, and one with an answer that is kept as an object."""
    long = [{"role": "user", "content": "hi", "id": f"{n:0256}"} for n in range(100)]
    for _ in range(2):
        made.ask("POST", "/sessions/keyed/messages/batch", {"messages": long}, key="k")
        made.ask("PUT", "/memories/notes/long.md", {"content": "x" * 20_000}, key="k")
        made.ask("POST", "/sessions/keyed/messages", {"role": "user"}, expected=400, key="bad")
        made.ask("POST", "/sessions/none/commit", {}, expected=404, key="bad")


def heal(made: Deployment) -> None:
    """A request to extract is lost; the sweep finds the archive, and what a deleted session left."""
    made.ask("POST", "/sessions/stuck/messages", TALK[0])
    task = made.ask("POST", "/sessions/stuck/commit", {})["task_id"]
    boto3.client("sqs").purge_queue(QueueUrl=made.names["ExtractQueue"])
    made.sweep(HEAL_SECONDS + 1)
    made.deliver()
    assert made.ask("GET", f"/tasks/{task}")["status"] == "completed"


def fail(made: Deployment) -> None:
    """An archive that is lost, and one whose requests nobody takes; neither gives memories."""
    made.ask("POST", "/sessions/lost/messages", TALK[0])
    task = made.ask("POST", "/sessions/lost/commit", {})["task_id"]
    s3, bucket = boto3.client("s3"), made.names["MemoryBucket"]
    for listed in s3.list_objects_v2(Bucket=bucket, Prefix="v1/acme/ann/sessions/lost/")["Contents"]:
        if "/archives/" in listed["Key"]:
            s3.delete_object(Bucket=bucket, Key=listed["Key"])
    made.deliver()
    assert made.ask("GET", f"/tasks/{task}")["status"] == "failed"
    made.ask("POST", "/sessions/standing/messages", TALK[0])
    task = made.ask("POST", "/sessions/standing/commit", {})["task_id"]
    for rounds in range(1, 8):
        made.sweep(rounds * (HEAL_SECONDS + 1))
    assert made.ask("GET", f"/tasks/{task}")["status"] == "failed"
    made.deliver()


def mend(made: Deployment) -> None:
    """An index that is behind its file, and the gravestone of a session deleted a day ago."""
    services = wiring.library()
    owner = SessionRef(account_id="acme", user_id="ann", session_id="")
    services.due.put(Due(stamp(services.clock.now()), "reindex", owner, path="notes/none.md"))
    made.sweep(1)
    for hours in (1, 25, 26):
        made.sweep(hours * 3600)
        made.deliver(after=hours * 3600)


def test_every_call_is_allowed(deployment: Deployment, functions: dict[str, Any]) -> None:
    refused = {
        call
        for call in deployment.calls
        if not allowed(functions[call[0]], call[1], call[2], deployment.names)
    }
    assert refused == set()


def denied(deployment: Deployment, sid: str, resource: str) -> bool:
    """Whether a statement of the bucket's policy names the resource."""
    (policy,) = deployment.template.resources("AWS::S3::BucketPolicy").values()
    (found,) = [each for each in policy["PolicyDocument"]["Statement"] if each["Sid"] == sid]
    return any(fnmatchcase(resource, pattern) for pattern in resolve(found["Resource"], deployment.names))


def test_the_bucket_lets_only_the_erase_role_remove_what_was_said(deployment: Deployment) -> None:
    removing = ("s3:DeleteObject", "s3:DeleteObjectVersion")
    kept = {call for call in deployment.calls if denied(deployment, "SessionsStay", call[2])}
    assert {function for function, action, _ in kept if action in removing} == {"EraseFunction"}


def test_the_bucket_lets_archives_be_written_as_they_are_written(deployment: Deployment) -> None:
    written = {resource for _, action, resource in deployment.calls if action == "s3:PutObject"}
    once = {resource for resource in written if denied(deployment, "ArchivesAreWrittenOnce", resource)}
    assert {"messages", "candidates", "abstract", "overview", "memory_diff", "done"} <= {
        resource.rpartition("/")[2].partition(".")[0] for resource in once
    }
    assert once & deployment.written_over == set()


def test_every_function_called_something(deployment: Deployment, functions: dict[str, Any]) -> None:
    assert {function for function, _, _ in deployment.calls} == functions.keys()


def test_the_check_refuses(deployment: Deployment, functions: dict[str, Any]) -> None:
    bucket = deployment.names["MemoryBucket.Arn"]
    refused = [
        ("AuthorizerFunction", "dynamodb:PutItem", deployment.names["StateTable.Arn"]),
        ("AppendFunction", "s3:PutObject", f"{bucket}/v1/a/u/memories/profile.md"),
        ("AppendFunction", "s3:DeleteObject", f"{bucket}/v1/a/u/sessions/s/head.json"),
        ("ExtractFunction", "sqs:SendMessage", deployment.names["CommitQueue.Arn"]),
        ("ApiFunction", "s3:GetObject", f"{bucket}/elsewhere"),
    ]
    assert not any(
        allowed(functions[name], action, resource, deployment.names) for name, action, resource in refused
    )


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def granted(function: Any, names: dict[str, str]) -> set[tuple[str, str]]:
    """(action, resource pattern) of every statement of a function."""
    return {
        (action, pattern)
        for policy in function["Policies"]
        for statement in resolve(policy["Statement"], names)
        for action in listed(statement["Action"])
        for pattern in listed(statement["Resource"])
    }


def test_nothing_is_allowed_that_is_not_done(deployment: Deployment, functions: dict[str, Any]) -> None:
    unused = {
        (name, action, pattern)
        for name, function in functions.items()
        for action, pattern in granted(function, deployment.names)
        if not any(
            (caller, done) == (name, action) and fnmatchcase(resource, pattern)
            for caller, done, resource in deployment.calls
        )
    }
    assert {row for row in unused if row[1] != "s3:ListBucket"} == set()
