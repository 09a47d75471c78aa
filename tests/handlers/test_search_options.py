"""Where and what to look for: targets, kinds, levels, times, and what a client may ask that is not there."""

from typing import Any

import pytest

from tests.handlers.service import Client, Service

CELLOS = {
    "preferences/music.md": "one",
    "preferences/music-old.md": "two",
    "topics/music.md": "three",
    "peers/Bob/profile.md": "four",
    "peers/Eve/profile.md": "five",
}


@pytest.fixture
def cellist(alice: Client) -> Client:
    for path, word in CELLOS.items():
        alice.put(f"/memories/{path}", {"content": f"# X\n\ncello {word}\n"})
    alice.append("s", "A cello, they say.")
    alice.commit("s")
    alice.service.pump()
    alice.append("t", "Another cello, they say.")
    return alice


def words(hits: list[Any]) -> set[str]:
    """Which of the written memories were found; the one that was extracted is not counted."""
    return {hit["abstract"].removeprefix("cello ") for hit in hits} & set(CELLOS.values())


@pytest.mark.parametrize(
    ("target", "found"),
    [
        (None, "one two three four five"),
        ("", "one two three four five"),
        ([], "one two three four five"),
        ([""], "one two three four five"),
        ("viking://", "one two three four five"),
        ("viking://user/alice", "one two three four five"),
        ("viking://~/memories", "one two three four five"),
        ("viking://user/alice/memories/preferences", "one two"),
        ("viking://user/alice/memories/preferences/", "one two"),
        ("viking://~/memories/preferences/music.md", "one"),
        ("viking://~/memories/preferences/music", ""),
        (["viking://~/memories/topics", "viking://~/memories/preferences/music.md"], "one three"),
        ("viking://~/peers/Bob", "four"),
        ("viking://~/sessions/s", ""),
        (["viking://~/sessions/s", "viking://~/memories/topics"], "three"),
        (["viking://~/sessions/s", "viking://~"], "one two three four five"),
    ],
)
def test_a_target_bounds_what_is_found(cellist: Client, target: Any, found: str) -> None:
    assert words(cellist.find("cello", target_uri=target, limit=50)) == set(found.split())


@pytest.mark.parametrize(
    ("target", "sessions"),
    [(None, "st"), ("viking://~", "st"), ("viking://~/sessions", "st"), ("viking://session/s", "s")],
)
def test_a_target_bounds_the_messages_that_are_found(cellist: Client, target: Any, sessions: str) -> None:
    hits = cellist.find("cello", context_type="message", session_id="t", target_uri=target)
    assert {hit["session_id"] for hit in hits} == set(sessions)


def test_no_message_is_in_a_directory_of_memories(cellist: Client) -> None:
    assert cellist.find("cello", context_type="message", target_uri="viking://~/memories") == []


def test_an_acting_peer_finds_no_other_peer_s(cellist: Client) -> None:
    bob = cellist.acting(x_openviking_actor_peer="Bob")
    assert words(bob.find("cello", limit=50)) == {"one", "two", "three", "four"}
    assert bob.find("cello", target_uri="viking://~/peers/Eve") == []


@pytest.mark.parametrize(
    ("kinds", "found"),
    [
        (None, {"memory"}),
        ("memory", {"memory"}),
        ([], {"memory"}),
        (["memory", "message"], {"memory", "message"}),
        ("message", {"message"}),
        ("resource", set()),
        (["skill", "resource"], set()),
        (["resource", "memory"], {"memory"}),
    ],
)
def test_kinds_of_hits(cellist: Client, kinds: Any, found: set[str]) -> None:
    result = cellist.post("/search/find", {"query": "cello", "context_type": kinds}).result
    assert {hit["context_type"] for hit in result["memories"]} == found
    assert (result["resources"], result["skills"]) == ([], [])
    assert result["total"] == len(result["memories"])


@pytest.mark.parametrize(
    ("level", "some"), [(2, True), ("2", True), ([0, 1, 2], True), (0, False), ([0, "1"], False)]
)
def test_every_hit_is_a_detail(cellist: Client, level: Any, some: bool) -> None:
    hits = cellist.find("cello", level=level)
    assert bool(hits) == some
    assert {(hit["level"], hit["overview"]) for hit in hits} <= {(2, None)}


def test_a_time_may_be_so_long_ago(service: Service, alice: Client) -> None:
    alice.append("s", "the first cello")
    service.world.clock.advance(3 * 3600)
    alice.append("s", "the second cello")
    service.world.clock.advance(60)

    def found(**fields: Any) -> set[str]:
        hits = alice.find("cello", context_type="message", session_id="s", **fields)
        return {hit["abstract"].split()[1] for hit in hits}

    assert found(since="2h") == {"second"}
    assert found(until="30m") == {"first"}
    assert found(since="7d", until="1m") == {"first", "second"}
    assert found(since="999999d") == {"first", "second"}
    assert found(until="999999d") == set()


@pytest.mark.parametrize("bad", ["", "d", "-7d", "7w", "1.5h", "1234567d", "٧d"])
def test_a_time_that_is_none(alice: Client, bad: str) -> None:
    answer = alice.post("/search/find", {"query": "x", "since": bad})
    assert answer.refusal == (400, "INVALID_ARGUMENT")
    assert {problem["field"] for problem in answer.error["details"]["validation_errors"]} == {"since"}


def test_whole_memories_beside_their_lines(alice: Client) -> None:
    alice.put("/memories/topics/a.md", {"content": "# A\n\na cello\n\nand more\n"})
    assert "content" not in alice.find("cello")[0]
    (hit,) = alice.find("cello", read_content=True)
    assert hit["content"] == "# A\n\na cello\n\nand more\n"


def test_whole_memories_while_they_fit(alice: Client) -> None:
    for n in range(4):
        alice.put(f"/memories/topics/a{n}.md", {"content": "# A\n\na cello\n\n" + "x" * 900_000})
    hits = alice.find("cello", read_content=True)
    assert [("content" in hit) for hit in hits] == [True, True, False, False]


def test_the_node_limit_goes_before_the_limit(cellist: Client) -> None:
    assert len(cellist.find("cello", limit=1, node_limit=3)) == 3


@pytest.mark.parametrize(
    "fields",
    [
        {"image_url": "data:image/png;base64,AA=="},
        {"query": "", "image_url": "viking://resources/x.png"},
        {"tags": ["a=b"]},
        {"mode": "context"},
    ],
)
def test_what_search_does_not_do(alice: Client, fields: Any) -> None:
    for route in ("find", "search"):
        answer = alice.post(f"/search/{route}", {"query": "x", **fields})
        assert answer.refusal == (501, "UNIMPLEMENTED")


def test_options_of_the_published_client_that_change_nothing(cellist: Client) -> None:
    more = {"time_field": "created_at", "include_provenance": True, "telemetry": False, "tags": []}
    assert cellist.find("cello", **more) == cellist.find("cello") != []


@pytest.mark.parametrize(
    "odd", [{"since": 0}, {"until": 1767225600}, {"score_threshold": "NaN"}, {"score_threshold": "Infinity"}]
)
def test_neither_a_time_nor_a_threshold(alice: Client, odd: dict[str, Any]) -> None:
    answer = alice.post("/search/find", {"query": "x", **odd})
    assert answer.refusal == (400, "INVALID_ARGUMENT")
    assert answer.error["details"]["validation_errors"][0]["field"].split(".")[0] == next(iter(odd))


def test_nothing_of_the_past_is_looked_for_among_no_kinds(alice: Client) -> None:  # B-C14
    body = {"query": "tea", "as_of": "2000-01-01T00:00:00Z", "context_type": []}
    found = alice.post("/search/search", body).result
    assert (found["memories"], found["not_kept"]) == ([], 0)
