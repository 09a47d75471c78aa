"""Every AWS call that a function makes in a whole life of a session is allowed by its own policy in template.yaml.

The real handlers and adapters run on moto, which checks no policies; each call is recorded with the function that made
it and held against that function's statements.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import boto3
import moto
import pytest
from moto.core import DEFAULT_ACCOUNT_ID

from infra.local import provision
from infra.local.template import Template, resolve
from strandline.adapters import sqs
from strandline.domain import layers
from strandline.domain.contracts import SessionRef
from strandline.domain.link import Link
from strandline.domain.memory import Memory
from strandline.domain.times import stamp
from strandline.entry import wiring
from strandline.pipeline import reading
from strandline.storage.document import Change
from strandline.storage.due import Due
from strandline.storage.layout import Life, User
from strandline.storage.log import ref
from tests.fakes.chat_server import ChatServer, listens, remembers
from tests.infra.deployment import HEAL_SECONDS, KEY_HASH, ROOT, Deployment, allowed, forget, listed

PARAMETERS = {
    "RootKeySha256": KEY_HASH,
    "HealSeconds": str(HEAL_SECONDS),
    "AutoCommitIdleEnabled": "true",
}


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    template = Template(ROOT / "template.yaml", PARAMETERS)
    with moto.mock_aws(), pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(provision, "ACCOUNT", DEFAULT_ACCOUNT_ID)
        monkeypatch.setattr(layers, "HEAD_WEIGHT", 100)  # each merge makes layers, and some put them together
        monkeypatch.setattr(sqs, "PATIENCE", 0)
        made = Deployment(template)
        functions = template.functions().values()
        for name, value in resolve(next(iter(functions)).environment, made.names).items():
            monkeypatch.setenv(name, value)
        forget()
        with made.recording():
            live(made)
        yield made
    forget()


TALK = [{"role": "user", "content": "I am Ann. I like sailing. On 7 May 2023 I met Caroline in Lisbon."}] * 3


def live(made: Deployment) -> None:
    """Sessions from their first message to their end, with everything that can be asked about them."""
    write(made)
    read(made)
    change(made)
    remember(made)
    learn(made)
    heal(made)
    fail(made)
    mend(made)
    repeat(made)
    commit_by_itself(made)
    keep_it_short(made)
    read_in_parts(made)
    refuse(made)
    scrub(made)
    erase(made)


def refuse(made: Deployment) -> None:
    """What cannot be read holds nobody up on a queue that keeps an order."""
    for queue in ("IngestQueue", "MergeQueue", "LearnQueue"):
        made.refuse(queue, "{")


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
        assert made.ask("GET", f"/tasks/{task}")["result"]["tokens"]["calls"] == len(server.requests) == 7
    forget()


def scrub(made: Deployment) -> None:
    """A secret that was stored while nothing was redacted, in everything that may hold one."""
    secret = "it is gh" + "p_" + "a1B2" * 9
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("STRANDLINE_REDACTION", "off")
        forget()
        made.ask("PUT", "/memory-types/recipes", {"content": f"{RECIPES}# {secret}\n"})
        made.ask("POST", "/sessions/leaks/messages", {**TALK[0], "content": f"I like sailing. {secret}"})
        made.ask("POST", "/sessions/leaks/messages", {"role": "tool", "content": f"{secret}\n{'x' * 20_001}"})
        made.ask("POST", "/sessions/leaks/commit", {})
        made.deliver()
        made.ask("PUT", "/memories/notes/leak.md", {"content": secret + "x" * 20_000}, key="leak")
        rebuild = made.ask("POST", "/rebuilds", {"session_id": "leaks"})["rebuild_id"]
        made.ask("POST", f"/rebuilds/{rebuild}/continue", {})
        made.ask("POST", "/sessions/leaks/messages", {**TALK[0], "content": secret})
    forget()
    begun = made.ask("POST", "/scrubs", {})["scrub_id"]
    for rounds in (1, 2, 3):
        made.deliver()
        made.sweep(rounds * (HEAL_SECONDS + 1))
        made.deliver(after=rounds * (HEAL_SECONDS + 1))
    done = made.ask("GET", f"/scrubs/{begun}")
    assert (done["status"], done["unreadable"]) == ("completed", {})
    assert {"sessions", "memories", "rebuilds", "types"} <= done["changed"].keys()


def erase(made: Deployment) -> None:
    """A user, and then the whole account; among the dead letters one of theirs."""
    for number, letter in enumerate(('{"account_id": "acme", "user_id": "ann"}', "{")):
        boto3.client("sqs").send_message(
            QueueUrl=made.names["IngestDeadLetterQueue"],
            MessageBody=letter,
            MessageGroupId=str(number),
            MessageDeduplicationId=str(number),
        )
    for path in ("/users/ann", "/accounts/acme"):
        task = made.ask("DELETE", path, role="admin")["task_id"]
        for rounds in (1, 2, 3):
            made.deliver()
            made.sweep(rounds * (HEAL_SECONDS + 1))
            made.deliver(after=rounds * (HEAL_SECONDS + 1))
        done = made.ask("GET", f"/tasks/{task}", role="admin")
        assert done["status"] == "completed"
        assert done["result"]["dead_letters"] == {"removed": int(path == "/users/ann"), "unreadable": 1}


RECIPES = """\
{mode: upsert, fields: [{name: content}], file: recipes.md, title: Recipes, instruction: Dishes., enabled: false}
"""


def write(made: Deployment) -> None:
    made.ask("PUT", "/memory-types/cakes", {"content": RECIPES.replace("recipes", "cakes")})
    made.ask("DELETE", "/memory-types/cakes")
    made.ask("PUT", "/memory-types/recipes", {"content": RECIPES})
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


def commit_by_itself(made: Deployment) -> None:
    """A write over a threshold, whose commit is called off and asked for again; and a session that falls silent."""
    policy = {"message_count_threshold": 1, "keep_recent_count": 0, "idle_timeout_seconds": 60}
    made.ask("POST", "/sessions", {"session_id": "busy", "auto_commit_policy": policy})
    asked = made.ask("POST", "/sessions/busy/messages/batch", {"messages": TALK})
    task = asked["auto_commit"]["task_id"]
    made.ask("POST", f"/tasks/{task}/cancel")
    made.deliver()
    assert made.ask("GET", "/sessions/busy")["commit_count"] == 0
    made.ask("POST", f"/tasks/{task}/retry")
    made.deliver()
    assert made.ask("GET", f"/tasks/{task}")["status"] == "completed"
    made.ask("POST", "/sessions/busy/messages", TALK[0])
    made.sweep(61)
    made.deliver(after=61)
    assert made.ask("GET", "/sessions/busy")["commit_count"] == 2


def keep_it_short(made: Deployment) -> None:
    """An agent asks for a context that fits; what is old in it is archived ahead of time. Then an archive fails, and is
    tried again for the context's sake."""
    said = [{**TALK[0], "content": "The boat is green. " * 40}] * 3
    window = {"model_context_window_tokens": 700, "compaction": {"auto_compact": {"cool_down_seconds": 1}}}
    made.ask("POST", "/sessions/agent/messages/batch", {"messages": said})
    assert made.ask("POST", "/sessions/agent/context", window)["compaction"]["status"] == "scheduled"
    made.deliver()
    assert made.ask("POST", "/sessions/agent/context", window)["summary"]["covered_through_seq"] > 0
    made.ask("POST", "/sessions/agent/messages/batch", {"messages": said})
    made.ask("POST", "/sessions/agent/context", window)
    boto3.client("sqs").purge_queue(QueueUrl=made.names["CommitQueue"])
    made.sweep(HEAL_SECONDS + 1)
    made.deliver(after=HEAL_SECONDS + 1)
    assert made.ask("GET", "/sessions/agent")["commit_count"] == 2


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
    before = made.ask("GET", f"/memories/{path}/history")["versions"][-1]["at"]
    made.ask("DELETE", f"/memories/{path}")
    assert made.ask("GET", f"/memories/{path}?as_of={before}")["version"] == 1
    assert made.ask("GET", f"/memories?as_of={before}")
    assert made.ask("POST", f"/memories/{path}/rollback", {"version": 1})["change"] == "added"
    made.ask("POST", "/sessions/s/rollback", {"dry_run": True})
    rebuild = made.ask("POST", "/rebuilds", {"again": True})["rebuild_id"]
    while made.ask("POST", f"/rebuilds/{rebuild}/continue", {})["status"] != "ready":
        made.deliver()
    made.ask("POST", f"/rebuilds/{rebuild}/promote", {})
    made.ask("DELETE", "/sessions/s")


def remember(made: Deployment) -> None:
    """An agent with its tools, in an account with a limit of requests."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("STRANDLINE_REQUESTS_PER_MINUTE", "100")
        forget()
        told = made.tool("remember", name="A boat", content="The boat is green.")
        path = told.removeprefix("Remembered as ")
        assert "green" in made.tool("recall", query="boat")
        assert "green" in made.tool("read", path=path)
        made.tool("str_replace", path=path, old_str="green", new_str="blue")
        made.tool("rename", old_path=path, new_path="/memories/boat.md")
        made.tool("forget", path="/memories/boat.md")
    forget()


def repeat(made: Deployment) -> None:
    """Requests with a key, refused, repeated, and one with an answer that is kept as an object."""
    long = [{"role": "user", "content": "hi", "id": f"{n:0256}"} for n in range(100)]
    for _ in range(2):
        made.ask("POST", "/sessions/keyed/messages/batch", {"messages": long}, key="k")
        made.ask("PUT", "/memories/notes/long.md", {"content": "x" * 20_000}, key="k")
        made.ask("POST", "/sessions/keyed/messages", {"role": "user"}, expected=400, key="bad")
        made.ask("POST", "/sessions/none/commit", {}, expected=404, key="bad")


JUDGED = [
    {"role": "user", "content": "Cancel my trip.", "metadata": {"case": {"name": "cancel"}}},
    {
        "role": "system",
        "content": "Evaluation.",
        "metadata": {"evaluation": {"passed": True}},
    },
]


def learn(made: Deployment) -> None:
    """Runs of a task that are learnt from; one that cannot be until somebody has mended what was in its way."""
    made.ask("POST", "/sessions/judged/messages/batch", {"messages": JUDGED})
    commit = made.ask("POST", "/sessions/judged/commit", {})["task_id"]
    life = wiring.library().heads.read(User("acme", "ann").head("judged"))
    assert life is not None
    key = Life(ref(life.value)).archive_file(1, "learned.json")
    boto3.client("s3").put_object(Bucket=made.names["MemoryBucket"], Key=key, Body=b"{")
    made.deliver()
    lesson = made.ask("GET", f"/tasks/{commit}")["result"]["learn_task_id"]
    assert made.ask("GET", f"/tasks/{lesson}")["status"] == "failed"
    boto3.client("s3").delete_object(Bucket=made.names["MemoryBucket"], Key=key)
    made.ask("POST", f"/tasks/{lesson}/retry")
    boto3.client("sqs").purge_queue(QueueUrl=made.names["LearnQueue"])
    made.sweep(HEAL_SECONDS + 1)
    made.deliver(after=HEAL_SECONDS + 1)
    assert made.ask("GET", f"/tasks/{lesson}")["status"] == "completed"


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
    for stored in s3.list_objects_v2(Bucket=bucket, Prefix="v1/acme/ann/sessions/lost/")["Contents"]:
        if "/archives/" in stored["Key"]:
            s3.delete_object(Bucket=bucket, Key=stored["Key"])
    made.deliver()
    assert made.ask("GET", f"/tasks/{task}")["status"] == "failed"
    made.ask("POST", "/sessions/standing/messages", TALK[0])
    task = made.ask("POST", "/sessions/standing/commit", {})["task_id"]
    for rounds in range(1, 8):
        made.sweep(rounds * (HEAL_SECONDS + 1))
    assert made.ask("GET", f"/tasks/{task}")["status"] == "failed"
    made.deliver()


def mend(made: Deployment) -> None:
    """An index that is behind its file, a link to what was deleted, and the gravestone of a session deleted a day
    ago."""
    services = wiring.library()
    link, when = Link(False, "mentions", "notes/none.md"), stamp(services.clock.now())
    there = Memory("notes/a.md", "note", "A", None, "# A\n", when, when, links=(link,))
    grave = replace(there, path="notes/none.md", links=(link.other_end("notes/a.md"),), deleted_at=when)
    for memory in (there, grave):
        key = User("acme", "ann").memory(memory.path)
        services.memories.update(key, lambda _, memory=memory: Change(memory, None))  # type: ignore[misc]
    owner = SessionRef(account_id="acme", user_id="ann", session_id="")
    services.due.put(Due(stamp(services.clock.now()), "reindex", owner, path="notes/none.md"))
    made.ask("PUT", "/memories/notes/soon.md", {"content": "Gone soon.", "ttl_seconds": 1})
    made.sweep(2)
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
