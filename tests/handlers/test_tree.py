"""The tree of addresses over HTTP: list, look, read, abstract and overview."""

from typing import Any

import pytest

from tests.handlers.service import Client, Service

ROOT = "viking://user/alice"
MEMORIES = f"{ROOT}/memories"


@pytest.fixture
def ann(alice: Client) -> Client:
    """Five memories, one of them of a peer, and a session with an archive."""
    alice.remember("s", "I love the cello.")
    (row,) = alice.get("/memories").result
    alice.delete(f"/memories/{row['path']}")
    for path, text in {
        "profile.md": "# Profile\n\nAnn, a biologist.\n",
        "topics/tea.md": "# Tea\n\nGreen tea only.\n",
        "topics/deep/down/coffee.md": "# Coffee\n\nNever.\n",
        "peers/Bob/profile.md": "# Profile\n\nBob is a baker.\n",
        "peers/Eve/profile.md": "# Profile\n\nEve is a pilot.\n",
    }.items():
        assert alice.put(f"/memories/{path}", {"content": text}).status == 200
    return alice


def paths(client: Client, route: str, uri: str, **query: Any) -> list[str]:
    return [node["rel_path"] for node in client.get(f"/fs/{route}", uri=uri, **query).result]


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("viking://", ["user"]),
        ("viking://user", ["alice"]),
        (ROOT, ["memories", "sessions"]),
        ("viking://~", ["memories", "sessions"]),
        (MEMORIES, ["peers", "profile.md", "topics"]),
        (f"{MEMORIES}/", ["peers", "profile.md", "topics"]),
        (f"{MEMORIES}/topics", ["deep", "tea.md"]),
        (f"{ROOT}/peers", ["Bob", "Eve"]),
        (f"{ROOT}/peers/Bob/memories", ["profile.md"]),
        (f"{ROOT}/sessions", ["s"]),
        (f"{ROOT}/sessions/s", ["archives"]),
        ("viking://session/s/archives", ["archive_001"]),
        (
            f"{ROOT}/sessions/s/archives/archive_001",
            ["abstract.md", "memory_diff.json", "overview.md"],
        ),
    ],
)
def test_a_directory_lists_what_is_in_it(ann: Client, uri: str, expected: list[str]) -> None:
    assert paths(ann, "ls", uri) == expected
    assert ann.get("/fs/ls", uri=uri, simple="true").result == expected
    stat = ann.get("/fs/stat", uri=uri).result
    assert (stat["isDir"], stat["mode"], stat["isLocked"]) == (True, 16877, False)


def test_every_listed_address_can_be_looked_at(ann: Client) -> None:
    for uri in ("viking://", f"{ROOT}/sessions", f"{ROOT}/sessions/s"):
        for node in ann.get("/fs/ls", uri=uri, recursive="true").result:
            stat = ann.get("/fs/stat", uri=node["uri"]).result
            assert (stat["uri"], stat["isDir"], stat["name"]) == (node["uri"], node["isDir"], node["name"])
            assert ann.get("/content/abstract", uri=node["uri"]).status == (
                200 if "/memories" in node["uri"] or node["isDir"] else 404
            )
            if not node["isDir"]:
                assert ann.get("/content/read", uri=node["uri"]).status == 200


def test_an_entry(ann: Client) -> None:
    written = ann.get("/memories/profile.md").result
    (entry,) = [n for n in ann.get("/fs/ls", uri=MEMORIES).result if n["name"] == "profile.md"]
    assert entry == {
        "name": "profile.md",
        "uri": f"{MEMORIES}/profile.md",
        "isDir": False,
        "size": len("# Profile\n\nAnn, a biologist.\n"),
        "mode": 33188,
        "modTime": written["updated_at"],
        "rel_path": "profile.md",
    }
    assert ann.get("/fs/stat", uri=f"{MEMORIES}/topics").result["count"] == 2


def test_the_abstract_of_an_entry_when_it_is_asked_for(ann: Client) -> None:
    def abstracts(**query: Any) -> dict[str, Any]:
        return {n["name"]: n.get("abstract") for n in ann.get("/fs/ls", uri=MEMORIES, **query).result}

    day = ann.get("/memories/profile.md").result["updated_at"][:10]
    counted = {
        "peers": f"2 memories: 2 profile. The newest is of {day}.",
        "topics": f"2 memories: 2 topics. The newest is of {day}.",
    }
    assert abstracts() == {"peers": None, "profile.md": None, "topics": None}
    assert abstracts(output="agent") == {**counted, "profile.md": "Ann, a biologist."}
    assert abstracts(include_abstract="true") == abstracts(output="agent")
    assert abstracts(output="agent", include_abstract="false") == abstracts()
    assert set(abstracts(output="agent", abs_limit=3).values()) == {"2 m", "Ann"}


def test_a_tree_has_levels(ann: Client) -> None:
    assert paths(ann, "tree", MEMORIES, level_limit=1) == ["peers", "profile.md", "topics"]
    assert paths(ann, "tree", f"{MEMORIES}/topics", level_limit=2) == ["deep", "deep/down", "tea.md"]
    assert paths(ann, "tree", f"{MEMORIES}/topics") == ["deep", "deep/down", "deep/down/coffee.md", "tea.md"]
    assert paths(ann, "tree", f"{MEMORIES}/topics", directories_only="true") == ["deep", "deep/down"]
    assert paths(ann, "ls", f"{MEMORIES}/topics", recursive="true") == paths(
        ann, "tree", f"{MEMORIES}/topics", level_limit=99
    )


def test_a_listing_has_pages(ann: Client) -> None:
    def page(**query: Any) -> tuple[list[str], bool]:
        answer = ann.get("/fs/ls", uri=MEMORIES, simple="true", **query)
        return answer.result, answer.json["has_more"]

    assert page(limit=2) == (["peers", "profile.md"], True)
    assert page(limit=2, offset=2) == (["topics"], False)
    assert page(limit=3) == (["peers", "profile.md", "topics"], False)
    assert page(node_limit=1) == (["peers"], True)
    assert page(node_limit=1, limit=2)[0] == ["peers", "profile.md"]
    assert page(offset=9) == ([], False)
    assert page(node_limit=10**9)[1] is False


def test_sessions_have_pages_too(alice: Client) -> None:
    for n in range(5):
        alice.create(f"s{n}")
    answer = alice.get("/fs/ls", uri=f"{ROOT}/sessions", simple="true", limit=2, offset=1)
    assert (answer.result, answer.json["has_more"]) == (["s3", "s2"], True)
    assert alice.get("/fs/ls", uri=f"{ROOT}/sessions", limit=5).json["has_more"] is False


def test_a_listing_can_be_sorted_directories_first(ann: Client) -> None:
    by_name = paths(ann, "ls", MEMORIES, sort_by="name", sort_order="desc")
    assert by_name == ["topics", "peers", "profile.md"]
    ann.service.world.clock.advance(60)
    ann.put("/memories/topics/tea.md", {"content": "Black tea.\n"})
    assert paths(ann, "ls", MEMORIES, sort_by="mtime") == ["peers", "topics", "profile.md"]
    assert paths(ann, "ls", MEMORIES, sort_by="mtime", sort_order="desc") == ["topics", "peers", "profile.md"]


def test_lines_of_a_file(ann: Client) -> None:
    uri = f"{MEMORIES}/topics/tea.md"
    whole = ann.get("/content/read", uri=uri).result
    lines = whole.split("\n")
    assert whole.endswith("\n# Tea\n\nGreen tea only.\n")
    assert ann.get("/content/read", uri=uri, offset=0, limit=-1, raw="true").result == whole
    assert ann.get("/content/read", uri=uri, offset=1, limit=2).result == "\n".join(lines[1:3])
    assert ann.get("/content/read", uri=uri, offset=len(lines) - 2).result == "Green tea only.\n"
    assert ann.get("/content/read", uri=uri, offset=10**6).result == ""
    assert ann.get("/content/read", uri=uri, limit=0).result == ""
    assert ann.get("/content/download", uri=uri).text == whole


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/content/read", {"offset": -1}),
        ("/content/read", {"limit": -2}),
        ("/content/read", {"limit": "x"}),
        ("/fs/ls", {"node_limit": 0}),
        ("/fs/ls", {"offset": -1}),
        ("/fs/ls", {"output": "xml"}),
        ("/fs/ls", {"sort_by": "size"}),
        ("/fs/tree", {"level_limit": 0}),
        ("/fs/tree", {"overview_limit": 10**9}),
    ],
)
def test_a_question_that_is_none(ann: Client, path: str, query: Any) -> None:
    assert ann.get(path, uri=MEMORIES, **query).refusal == (400, "INVALID_ARGUMENT")


@pytest.mark.parametrize(
    "path", ["/fs/ls", "/fs/tree", "/fs/stat", "/content/read", "/content/abstract", "/content/overview"]
)
def test_what_is_not_there(ann: Client, service: Service, path: str) -> None:  # B-A14
    service.client("bob").put("/memories/profile.md", {"content": "Bob's own.\n"})
    for uri in (
        "viking://user/bob",
        "viking://user/bob/memories/profile.md",
        "viking://resources",
        f"{MEMORIES}/nowhere",
        f"{MEMORIES}/nowhere.md",
        f"{MEMORIES}/topic",
        f"{ROOT}/sessions/other",
        f"{ROOT}/sessions/s/nowhere",
        f"{ROOT}/sessions/s/archives/archive_002",
        f"{ROOT}/sessions/s/archives/archive_001/head.json",
    ):
        answer = ann.get(path, uri=uri)
        assert answer.refusal == (404, "NOT_FOUND"), uri
    for uri in ("", "profile.md", "viking://user/memories", f"{MEMORIES}/../../bob/memories"):
        answer = ann.get(path, uri=uri)
        assert answer.refusal == (400, "INVALID_URI"), uri
        assert set(answer.error["details"]) == {"uri", "reason"}
    assert ann.get(path).refusal == (400, "INVALID_ARGUMENT")
    assert service.nobody.get(path, uri=MEMORIES).refusal == (401, "UNAUTHENTICATED")


def test_a_directory_is_no_file_and_a_file_no_directory(ann: Client) -> None:
    for uri in (MEMORIES, f"{MEMORIES}/topics", f"{ROOT}/sessions/s", "viking://"):
        answer = ann.get("/content/read", uri=uri)
        assert answer.refusal == (400, "INVALID_ARGUMENT")
        assert answer.error["details"] == {"expected": "file", "actual": "directory", "resource": uri}
    for uri in (f"{MEMORIES}/profile.md", f"{ROOT}/sessions/s/archives/archive_001/overview.md"):
        answer = ann.get("/fs/ls", uri=uri)
        assert answer.refusal == (400, "INVALID_ARGUMENT")
        assert answer.error["details"]["actual"] == "file"


def test_tags_are_not_there(ann: Client) -> None:
    assert ann.get("/fs/ls", uri=MEMORIES, tags="a=b").refusal == (501, "UNIMPLEMENTED")


def test_abstract_and_overview_of_a_memory(alice: Client) -> None:
    alice.remember("s", "I love the cello.", "I love the bassoon.")
    (row,) = alice.get("/memories").result
    assert "cello" in alice.get("/content/abstract", uri=row["uri"]).result
    overview = alice.get("/content/overview", uri=row["uri"]).result
    assert overview.count("\n- ") == 2 and "cello" in overview and "bassoon" in overview
    assert "<!--" not in overview and "---" not in overview


def test_abstract_and_overview_of_an_archive_and_its_session(alice: Client) -> None:
    alice.append("s", "I love the cello.")
    uri = f"{ROOT}/sessions/s"
    assert alice.get("/content/abstract", uri=uri).result == ""
    alice.commit("s")
    assert alice.get("/content/overview", uri=f"{uri}/archives/archive_001").result == ""
    alice.service.pump()
    archive = alice.get("/sessions/s/archives/archive_001").result
    assert archive["abstract"] and archive["overview"]
    for where in (uri, f"{uri}/archives/archive_001"):
        assert alice.get("/content/abstract", uri=where).result == archive["abstract"]
        assert alice.get("/content/overview", uri=where).result == archive["overview"]


def test_abstract_and_overview_of_a_directory_are_counted(ann: Client) -> None:
    day = ann.get("/memories/profile.md").result["updated_at"][:10]
    assert ann.get("/content/abstract", uri=f"{MEMORIES}/topics").result == (
        f"2 memories: 2 topics. The newest is of {day}."
    )
    assert ann.get("/content/overview", uri=f"{MEMORIES}/topics").result == (
        f"# memories/topics\n\n2 memories: 2 topics. The newest is of {day}.\n\n"
        f"- deep/down/coffee.md: Coffee ({day})\n- tea.md: Tea ({day})\n"
    )
    assert ann.get("/content/abstract", uri="viking://").result.startswith("5 memories: 3 profile, 2 topics.")


def test_nothing_yet(alice: Client) -> None:
    assert paths(alice, "ls", MEMORIES) == []
    assert paths(alice, "ls", "viking://", recursive="true") == [
        "user",
        "user/alice",
        "user/alice/memories",
        "user/alice/sessions",
    ]
    assert alice.get("/content/abstract", uri=MEMORIES).result == "No memories."


def test_an_expired_memory_is_in_no_listing(ann: Client) -> None:  # B-C13
    ann.put("/memories/topics/door.md", {"content": "---\nexpires_at: 2000-01-01T00:00:00Z\n---\n\n1234\n"})
    assert "door.md" not in paths(ann, "ls", f"{MEMORIES}/topics")
    assert ann.get("/fs/stat", uri=f"{MEMORIES}/topics/door.md").refusal == (404, "NOT_FOUND")
    assert ann.get("/content/abstract", uri=f"{MEMORIES}/topics/door.md").refusal == (404, "NOT_FOUND")


def test_a_directory_goes_with_its_last_memory(ann: Client) -> None:
    ann.delete("/memories/topics/deep/down/coffee.md")
    assert paths(ann, "ls", f"{MEMORIES}/topics") == ["tea.md"]


# ---- acting as a peer


@pytest.mark.parametrize("header", ["x_openviking_actor_peer", "x_strandline_actor_peer"])
def test_an_acting_peer_sees_no_other_peer(ann: Client, header: str) -> None:
    bob = ann.acting(**{header: "Bob"})
    assert paths(bob, "ls", f"{MEMORIES}/peers") == ["Bob"]
    assert "Eve" not in str(paths(bob, "ls", "viking://", recursive="true"))
    assert bob.get("/content/abstract", uri=MEMORIES).result.startswith("4 memories")
    assert "Eve" not in bob.get("/content/overview", uri=MEMORIES).result
    assert bob.get("/content/read", uri=f"{ROOT}/peers/Bob/memories/profile.md").status == 200
    assert bob.get("/content/read", uri=f"{MEMORIES}/profile.md").status == 200
    for path in ("/content/read", "/content/abstract", "/fs/stat"):
        for uri in (f"{MEMORIES}/peers/Eve/profile.md", f"{ROOT}/peers/Eve/memories/profile.md"):
            assert bob.get(path, uri=uri).refusal == (404, "NOT_FOUND")
    assert bob.get("/fs/ls", uri=f"{ROOT}/peers/Eve").refusal == (404, "NOT_FOUND")


@pytest.mark.parametrize("peer", ["a/b", "..", "%2e%2e", "x" * 129])
def test_an_acting_peer_that_is_none(ann: Client, peer: str) -> None:
    answer = ann.acting(x_openviking_actor_peer=peer).get("/fs/ls", uri=MEMORIES)
    assert answer.refusal == (400, "INVALID_ARGUMENT")
    assert "Actor-Peer" in answer.error["message"]


@pytest.mark.parametrize("name", ["%2e%2e", "%2F", "你好 💾", "a#b", "archives", "~"])
def test_any_session_is_where_it_is_listed(alice: Client, name: str) -> None:
    alice.append(name, "hello")
    (node,) = alice.get("/fs/ls", uri=f"{ROOT}/sessions").result
    assert node["name"] == name
    assert paths(alice, "ls", node["uri"]) == ["archives"]
    assert alice.get("/fs/stat", uri=node["uri"]).result["uri"] == node["uri"]


@pytest.mark.parametrize("route", ["/fs/ls", "/fs/tree", "/content/read"])
def test_an_address_that_is_missing_is_named_as_the_caller_knows_it(ann: Client, route: str) -> None:
    answer = ann.get(route)
    assert answer.refusal == (400, "INVALID_ARGUMENT")
    assert answer.error["message"] == "uri: Field required"
