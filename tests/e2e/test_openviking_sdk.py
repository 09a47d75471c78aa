"""The published `openviking-sdk`, as installed and unchanged, against the local run: both its clients."""

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from openviking_sdk import (
    AsyncHTTPClient,
    ContextPart,
    ImagePart,
    SyncHTTPClient,
    TextPart,
    ToolPart,
    use_actor_peer,
)
from openviking_sdk import errors as ov

from tests.e2e.conftest import KEY, ROOT, LocalRun

pytestmark = pytest.mark.e2e

AT = "2023-05-08T10:00:00.000Z"
SAID = "My name is Zoe and I live in Lisbon. On 7 May 2023 I went to the regatta in Cascais."
MEMORIES = "viking://user/zoe/memories"
ENDED = ("completed", "failed", "cancelled")


@pytest.fixture(scope="module", autouse=True)
def settings_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The package reads a file of the user's and the environment; neither is anything to these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENVIKING_CLI_CONFIG_FILE", str(empty_file(tmp_path_factory.mktemp("ov"))))
        for name in ("URL", "API_KEY", "ACCOUNT", "USER", "ACTOR_PEER_ID", "TIMEOUT"):
            patch.delenv(f"OPENVIKING_{name}", raising=False)
        yield


def empty_file(directory: Path) -> Path:
    (directory / "ovcli.conf").write_text("{}")
    return directory / "ovcli.conf"


def connect(run: LocalRun, user: str = "zoe", **more: Any) -> SyncHTTPClient:
    made = SyncHTTPClient(url=run.url, api_key=KEY, account="sdk", user=user, timeout=40, **more)
    made.initialize()
    return made


@pytest.fixture(scope="module")
def client(local_run: LocalRun) -> Iterator[SyncHTTPClient]:
    made = connect(local_run)
    yield made
    made.close()


def waited(look: Callable[[], Any], seconds: float = 60) -> Any:
    """The task, once it has ended."""
    deadline = time.monotonic() + seconds
    while (task := look())["status"] not in ENDED:
        assert time.monotonic() < deadline, task
        time.sleep(0.2)
    return task


@pytest.fixture(scope="module")
def committed(client: SyncHTTPClient) -> dict[str, Any]:
    """A session with one archive, one memory of a peer, and its ended task."""
    client.create_session("tour", options={"auto_commit_policy": {}})
    session = client.session("tour")
    session.add_message("user", SAID, options={"created_at": AT})
    session.add_message("user", "I love sailing.", peer_id="Bob", options={"created_at": AT})
    session.add_message("user", "I love the bassoon.", peer_id="Eve", options={"created_at": AT})
    done = session.commit()
    return {**done, "task": waited(lambda: client.get_task(done["task_id"]))}


# ---- sessions


def test_it_is_healthy(client: SyncHTTPClient) -> None:
    assert client.health() is True


def test_a_session_is_created_found_and_deleted(client: SyncHTTPClient) -> None:
    made = client.create_session("short", options={"auto_commit_policy": None})
    assert (made["session_id"], made["uri"]) == ("short", "viking://user/zoe/sessions/short")
    assert (made["user"], made["auto_commit_policy"]) == ({"account_id": "sdk", "user_id": "zoe"}, None)
    with pytest.raises(ov.AlreadyExistsError, match="Session already exists: short"):
        client.create_session("short")
    assert "short" in [row["session_id"] for row in client.list_sessions()]
    assert client.session_exists("short") is True
    client.session("short").delete()
    assert client.session_exists("short") is False
    with pytest.raises(ov.NotFoundError, match="Session not found: short"):
        client.get_session("short")


def test_a_session_gets_an_id_and_a_policy_with_defaults(client: SyncHTTPClient) -> None:  # B-A1
    made = client.create_session(options={"auto_commit_policy": {"message_count_threshold": 25}})
    assert made["auto_commit_policy"]["message_count_threshold"] == 25
    assert made["auto_commit_policy"]["pending_token_threshold"] == 10_000
    assert client.get_session(made["session_id"])["message_count"] == 0


def test_a_session_is_created_by_looking(client: SyncHTTPClient) -> None:
    assert client.get_session("looked at", auto_create=True)["session_id"] == "looked at"
    assert client.session("looked at").load()["total_message_count"] == 0


@pytest.mark.parametrize("name", ["你好 💾", "50% off", "a+b&c=d#e", "x" * 128])
def test_odd_ids(client: SyncHTTPClient, name: str) -> None:
    assert client.session(name).add_message("user", name)["session_id"] == name
    assert client.session(name).get_session_context()["messages"][0]["content"] == name
    assert f"viking://user/zoe/sessions/{name}" in [row["uri"] for row in client.list_sessions()]


# ---- messages

TOOL = ToolPart(
    tool_id="c1",
    tool_name="search",
    tool_input={"q": "x"},
    tool_output="ok",
    tool_status="completed",
    duration_ms=3.5,
    tool_output_ref="tr_1",
    tool_output_truncated=True,
    tool_output_mime_type="application/json",
)
PARTS = [
    TextPart("Hi 👋"),
    TOOL,
    ContextPart(uri="viking://~/memories/profile.md", abstract="who"),
    ImagePart(url="https://example.com/x.png", detail="low"),
]


def test_parts_come_back_as_they_were_sent(client: SyncHTTPClient) -> None:
    session = client.session("parts")
    first = session.add_message("assistant", parts=PARTS, peer_id="helper", options={"turn_id": "t1"})
    assert first["message_count"] == 1 and first["pending_tokens"] > 0
    (message,) = session.get_session_context(4096)["messages"]
    assert (message["role"], message["peer_id"], message["turn_id"]) == ("assistant", "helper", "t1")
    text, tool, context, image = message["parts"]
    assert text == {"type": "text", "text": "Hi 👋"}
    assert tool == {
        "type": "tool",
        "tool_id": "c1",
        "tool_name": "search",
        "tool_input": {"q": "x"},
        "tool_output": "ok",
        "tool_status": "completed",
        "duration_ms": 3.5,
        "tool_output_ref": "tr_1",
        "tool_output_truncated": True,
        "tool_output_mime_type": "application/json",
    }
    assert (context["uri"], context["abstract"]) == ("viking://~/memories/profile.md", "who")
    assert image["image_url"] == {"url": "https://example.com/x.png", "detail": "low"}


def test_a_batch_is_stored_whole_or_not_at_all(client: SyncHTTPClient) -> None:  # B-A3
    session = client.session("batch")
    done = session.batch_add_messages(
        [{"role": "user", "content": "one"}, {"role": "assistant", "parts": [TextPart("two")]}]
    )
    assert (done["added"], done["message_count"]) == (2, 2)
    with pytest.raises(ov.InvalidArgumentError) as refused:
        session.batch_add_messages([{"role": "user", "content": "x"}, {"role": "robot", "content": "y"}])
    assert refused.value.details["validation_errors"][0]["field"] == "messages.1.role"
    assert session.load()["message_count"] == 2


def test_two_tool_results_of_a_user_are_two_messages(client: SyncHTTPClient) -> None:  # B-A5
    parts = [ToolPart(tool_id=f"c{n}", tool_name="x", tool_output="ok") for n in range(2)]
    assert client.session("tools").add_message("user", parts=parts)["message_count"] == 2


# ---- commit, tasks, context, archives


def test_a_commit_is_accepted_and_its_task_ends(client: SyncHTTPClient, committed: dict[str, Any]) -> None:
    assert (committed["status"], committed["archived"]) == ("accepted", True)
    assert committed["archive_uri"].endswith("/sessions/tour/archives/archive_001")
    task = committed["task"]
    assert (task["status"], task["task_type"], task["resource_id"]) == ("completed", "session_commit", "tour")
    assert task["result"]["memories_extracted"]["total"] > 0
    assert task["result"]["memory_diff_uri"].endswith("archive_001/memory_diff.json")
    listed = client.list_tasks(task_type="session_commit", status="completed", resource_id="tour")
    assert [row["task_id"] for row in listed] == [committed["task_id"]]
    assert client.get_task("no-such-task") is None
    with pytest.raises(ov.FailedPreconditionError):
        client.cancel_task(committed["task_id"])


def test_what_is_to_be_kept_is_kept(client: SyncHTTPClient) -> None:  # B-B1 B-B5
    session = client.session("kept")
    assert session.batch_add_messages([{"role": "user", "content": str(n)} for n in range(3)])["added"] == 3
    skipped = session.commit(keep_recent_count=3)
    assert (skipped["status"], skipped["task_id"]) == ("skipped", None)
    assert skipped["reason"] == "all_within_keep_window"
    assert session.commit(keep_recent_count=1)["archived"] is True
    assert session.load()["message_count"] == 1


def test_a_context_is_the_overview_and_what_is_live(
    client: SyncHTTPClient, committed: dict[str, Any]
) -> None:
    found = client.session("tour").get_session_context()
    assert "Zoe" in found["latest_archive_overview"]
    assert (found["messages"], found["pre_archive_abstracts"]) == ([], [])
    assert found["stats"] == {
        "totalArchives": 1,
        "includedArchives": 1,
        "droppedArchives": 0,
        "failedArchives": 0,
        "activeTokens": 0,
        "archiveTokens": found["estimatedTokens"],
    }
    with pytest.raises(ov.InvalidArgumentError) as refused:
        client.session("tour").get_session_context(-1)
    assert refused.value.details == {"field": "token_budget", "value": -1}


def test_an_archive_is_read(client: SyncHTTPClient, committed: dict[str, Any]) -> None:
    archive = client.session("tour").get_archive("archive_001")
    assert (archive["archive_id"], archive["status"]) == ("archive_001", "completed")
    assert archive["abstract"] and "Zoe" in archive["overview"]
    assert [m.get("peer_id") for m in archive["messages"]] == [None, "Bob", "Eve"]
    assert archive["messages"][0]["created_at"] == AT
    with pytest.raises(ov.NotFoundError, match="Archive not found: archive_002"):
        client.session("tour").get_archive("archive_002")


# ---- search


def test_memories_are_found(client: SyncHTTPClient, committed: dict[str, Any]) -> None:
    for found in (client.find("regatta"), client.search("regatta", session_id="tour")):
        assert (found["resources"], found["skills"]) == ([], [])
        assert found["total"] == len(found["memories"]) > 0
        best = found["memories"][0]
        assert (best["context_type"], best["level"], best["category"]) == ("memory", 2, "events")
        assert "regatta" in best["abstract"] and best["score"] > 0
        assert best["sources"][0]["session_id"] == "tour"
        assert "regatta" in client.read(best["uri"])


def test_options_of_a_search(client: SyncHTTPClient, committed: dict[str, Any]) -> None:
    options = {"context_type": ["memory"], "since": "9999d", "level": [2], "read_content": True}
    found = client.find("regatta", [f"{MEMORIES}/events", "/user/zoe/sessions"], 5, options=options)
    assert "regatta" in found["memories"][0]["content"]
    assert client.find("regatta", f"{MEMORIES}/preferences")["total"] == 0
    assert client.find("regatta", options={"context_type": "resource"})["total"] == 0
    messages = client.search("regatta", options={"extra": {}, "context_type": "message"})["memories"]
    assert messages[0]["message_id"].startswith("msg_")


def test_an_acting_peer_sees_no_other_peer(
    local_run: LocalRun, client: SyncHTTPClient, committed: dict[str, Any]
) -> None:
    bassoon = client.find("bassoon")["memories"][0]["uri"]
    assert bassoon.startswith(f"{MEMORIES}/peers/Eve/")
    bob = connect(local_run, actor_peer_id="Bob")
    assert bob.find("bassoon")["total"] == 0
    assert bob.find("sailing")["total"] == 1
    assert bob.ls(f"{MEMORIES}/peers", simple=True) == ["Bob"]
    with pytest.raises(ov.NotFoundError):
        bob.read(bassoon)
    with use_actor_peer("Eve"):
        assert client.find("sailing")["total"] == 0
        assert client.read(bassoon)
    bob.close()


# ---- files


def test_directories_are_listed(client: SyncHTTPClient, committed: dict[str, Any]) -> None:
    assert [node["uri"] for node in client.ls("/")] == ["viking://user"]
    assert client.ls("viking://~", simple=True) == ["memories", "sessions"]
    whole = client.ls(MEMORIES, recursive=True, simple=True)
    assert "profile.md" in whole and "peers/Bob" in whole
    page = client.ls_page(MEMORIES, output="agent", limit=1)
    assert page["has_more"] is True and page["result"][0]["abstract"]
    tree = client.tree(MEMORIES, level_limit=1)
    assert [node["rel_path"] for node in tree] == client.ls(MEMORIES, simple=True)
    assert {node["isDir"] for node in client.tree(MEMORIES, directories_only=True)} == {True}
    assert client.tree_page(MEMORIES, limit=2)["has_more"] is True
    assert "tour" in client.ls("viking://~/sessions", simple=True)
    assert client.ls("viking://session/tour", simple=True) == ["archives"]


def test_files_are_looked_at_and_read(client: SyncHTTPClient, committed: dict[str, Any]) -> None:
    stat = client.stat(f"{MEMORIES}/profile.md")
    assert (stat["name"], stat["isDir"], stat["uri"]) == ("profile.md", False, f"{MEMORIES}/profile.md")
    assert client.stat(MEMORIES)["count"] >= 4
    whole = client.read(f"{MEMORIES}/profile.md")
    assert whole == client.read_raw("user/zoe/memories/profile.md")
    assert whole.encode() == client.download_bytes("viking://~/memories/profile.md")
    assert client.read(f"{MEMORIES}/profile.md", offset=1, limit=2).split("\n") == whole.split("\n")[1:3]
    assert "Zoe" in client.abstract(f"{MEMORIES}/profile.md")
    assert "<!--" not in client.overview(f"{MEMORIES}/profile.md")
    assert client.abstract(MEMORIES).startswith(f"{client.stat(MEMORIES)['count']} memories")
    assert "- profile.md: Profile" in client.overview(MEMORIES)
    archive = client.session("tour").get_archive("archive_001")
    assert client.abstract(committed["archive_uri"]) == archive["abstract"]
    assert client.overview("viking://session/tour") == archive["overview"]
    assert '"total_adds"' in client.read(committed["task"]["result"]["memory_diff_uri"])


# ---- refusals


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda c: c.read("viking://~/memories/nowhere.md"), ov.NotFoundError),
        (lambda c: c.read("viking://resources/x.md"), ov.NotFoundError),
        (lambda c: c.read("viking://user/other/memories/profile.md"), ov.NotFoundError),
        (lambda c: c.download_bytes("viking://~/memories/nowhere.md"), ov.NotFoundError),
        (lambda c: c.read("viking://user/memories/profile.md"), ov.InvalidURIError),
        (lambda c: c.ls("viking://~/../x"), ov.InvalidURIError),
        (lambda c: c.stat("0" * 32), ov.InvalidURIError),
        (lambda c: c.read("viking://~/memories"), ov.InvalidArgumentError),
        (lambda c: c.session("x").add_message("user", "x", peer_id="a/b"), ov.InvalidArgumentError),
        (lambda c: c.find(""), ov.InvalidArgumentError),
        (lambda c: c.create_session("bad", options={"auto_commit_policy": 42}), ov.InvalidArgumentError),
        (lambda c: c.find(image=b"not searched"), ov.UnimplementedError),
        (lambda c: c.search_context("x"), ov.UnimplementedError),
        (lambda c: c.grep("viking://~", "x"), ov.UnimplementedError),
        (lambda c: c.glob("*.md"), ov.UnimplementedError),
        (lambda c: c.add_resource("https://example.com/x"), ov.UnimplementedError),
        (lambda c: c.list_skills(), ov.UnimplementedError),
        (lambda c: c.write("viking://~/memories/topics/x.md", "x"), ov.UnimplementedError),
        (lambda c: c.rm("viking://~/memories/profile.md"), ov.UnimplementedError),
        (
            lambda c: c.update_session_config("tour", options={"auto_commit_policy": None}),
            ov.UnimplementedError,
        ),
        (
            lambda c: c.session("tour").commit(options={"retention_mode": "turn_budget"}),
            ov.UnimplementedError,
        ),
        (lambda c: c.wait_processed(), ov.UnimplementedError),
        (lambda c: c.get_status(), ov.UnimplementedError),
    ],
)
def test_a_refusal_is_the_exception_it_should_be(
    client: SyncHTTPClient,
    committed: dict[str, Any],
    call: Callable[[SyncHTTPClient], Any],
    error: type[Exception],
) -> None:
    with pytest.raises(ov.OpenVikingError) as refused:
        call(client)
    assert type(refused.value) is error


def test_who_has_no_key_and_who_is_somebody_else(
    local_run: LocalRun, client: SyncHTTPClient, committed: dict[str, Any]
) -> None:  # B-A14
    nobody = SyncHTTPClient(url=local_run.url, api_key="wrong")
    nobody.initialize()
    with pytest.raises(ov.UnauthenticatedError):
        nobody.list_sessions()
    nobody.close()
    other = connect(local_run, user="yan")
    assert other.session_exists("tour") is False
    assert other.get_task(committed["task_id"]) is None
    assert other.find("regatta")["total"] == 0
    assert other.ls("viking://~/memories") == []
    other.close()


def test_the_example_of_the_readme(
    local_run: LocalRun, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    section = (ROOT / "README.md").read_text().partition("## Works with openviking-sdk")[2]
    code = section.partition("```python\n")[2].partition("```")[0]
    monkeypatch.setenv("STRANDLINE_KEY", KEY)
    exec(code.replace("http://127.0.0.1:8787", local_run.url), {})
    assert "Oslo" in capsys.readouterr().out


# ---- the async client


async def _a_day(run: LocalRun) -> dict[str, Any]:
    client = AsyncHTTPClient(url=run.url, api_key=KEY, account="sdk", user="ada", timeout=40)
    await client.initialize()
    try:
        session = client.session((await client.create_session())["session_id"])
        await asyncio.gather(*(session.add_message("user", f"I love cello number {n}.") for n in range(8)))
        done = await session.commit()
        while (task := await client.get_task(done["task_id"])) and task["status"] not in ENDED:
            await asyncio.sleep(0.2)
        nodes = await client.ls("viking://~/memories", recursive=True)
        return {
            "meta": await session.load(),
            "task": task,
            "context": await session.get_session_context(),
            "archive": await session.get_archive("archive_001"),
            "found": await client.find("cello", limit=50),
            "texts": [await client.read(node["uri"]) for node in nodes if not node["isDir"]],
            "tasks": await client.list_tasks(resource_id=session.session_id),
        }
    finally:
        await client.close()


def test_the_async_client_side_by_side(local_run: LocalRun) -> None:
    day = asyncio.run(asyncio.wait_for(_a_day(local_run), 120))
    assert (day["meta"]["message_count"], day["meta"]["total_message_count"]) == (0, 8)
    assert day["task"]["status"] == "completed" and len(day["tasks"]) == 1
    assert day["context"]["latest_archive_overview"] == day["archive"]["overview"]
    assert sorted(m["seq"] for m in day["archive"]["messages"]) == list(range(1, 9))
    assert day["found"]["total"] > 0
    assert sum(text.count("cello number") for text in day["texts"]) >= 8
