"""The functions as deployed, on moto: every call of a client is noted with the function that made it."""

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
from botocore.client import BaseClient

from infra.local import gateway, provision
from infra.local.template import Template, resolve
from infra.local.triggers import batch_event, failed_ids
from strandline.adapters.clock import SystemClock
from strandline.entry import settings, wiring

ROOT = Path(__file__).parents[2]
KEY_HASH = "0e2d44cd4ea95a6ca7b20d8a1a2e4a09ae9a6d8ff10c0f7a1c1a8b3c5c0f1a2b"
HEAL_SECONDS = 900
HEADERS = [("x-api-key", "unused"), ("content-type", "application/json")]

# Operations whose IAM action has another name.
ACTIONS = {
    "ListObjectsV2": "ListBucket",
    "ListObjectVersions": "ListBucketVersions",
    "HeadObject": "GetObject",
    "DeleteMessageBatch": "DeleteMessage",
    "ChangeMessageVisibilityBatch": "ChangeMessageVisibility",
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
                rewritten = self._function == "EraseFunction" and "IfMatch" in request
                if operation == "PutObject" and "IfNoneMatch" not in request and not rewritten:
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
        """One request to the API, authorizer first; the result of its answer."""
        headers = (("idempotency-key", key),) if key else ()
        return self._ask(method, f"/api/v1{path}", body, expected, headers=headers, role=role).get("result")

    def tool(self, name: str, /, **arguments: Any) -> str:
        """One call of a tool over MCP; what it tells the agent."""
        params = {"name": name, "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        accept = (("accept", "application/json"),)
        result = self._ask("POST", "/mcp", body, 200, headers=accept, role="user")["result"]
        assert not result.get("isError"), result
        return str(result["content"][0]["text"])

    def _ask(
        self,
        method: str,
        path: str,
        body: Any,
        expected: int,
        *,
        headers: tuple[tuple[str, str], ...],
        role: str,
    ) -> Any:
        text = b"" if body is None else json.dumps(body).encode()
        asked = gateway.Request(method, path, [*HEADERS, *headers], text, "127.0.0.1")
        found = gateway.match(self._routes, method, asked.path)
        assert found is not None
        event = gateway.request_event(asked, *found)
        self.invoke("AuthorizerFunction", gateway.authorizer_event(event))
        context = {"account_id": "acme", "user_id": "ann", "role": role}
        event["requestContext"]["authorizer"] = {"lambda": context}
        answer = gateway.response(self.invoke(found[0].function, event))
        assert answer.status == expected, answer.body
        return json.loads(answer.body)

    def sweep(self, seconds: float) -> None:
        """A sweep that many seconds from now."""
        with later(seconds):
            self.invoke("SweepFunction", {})

    def deliver(self, after: float = 0) -> None:
        """Hands every waiting message to its consumer, until all queues are empty."""
        with later(after):
            self._deliver()

    def refuse(self, queue: str, body: str) -> None:
        """Hands a message to a FIFO queue's consumer, which cannot read it; it is there again at once, and removed."""
        sqs, url = boto3.client("sqs"), self.names[queue]
        sqs.send_message(
            QueueUrl=url, MessageBody=body, MessageGroupId="g", MessageDeduplicationId=f"refused {queue}"
        )
        trigger = next(trigger for trigger in self.template.queue_triggers() if trigger.queue == queue)
        received = sqs.receive_message(QueueUrl=url, MessageSystemAttributeNames=["All"])["Messages"]
        names = [each["MessageId"] for each in received]
        assert failed_ids(self.invoke(trigger.function, batch_event(queue, received)), names) == set(names)
        (again,) = sqs.receive_message(QueueUrl=url)["Messages"]
        sqs.delete_message(QueueUrl=url, ReceiptHandle=again["ReceiptHandle"])

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


def forget() -> None:
    """What warm functions remember."""
    for remembered in (settings.settings, wiring.services, wiring.library, wiring.quotas):
        remembered.cache_clear()


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
