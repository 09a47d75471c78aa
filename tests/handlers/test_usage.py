"""What sessions say they used, over HTTP, and memories in full."""

import json
from typing import Any

import pytest

from tests.handlers.service import Client, Service

TEA = "/memories/topics/tea.md"
TEA_URI = "viking://user/alice/memories/topics/tea.md"
SKILL_URI = "viking://user/alice/memories/skills/make-tea.md"
UNUSED = {"count": 0, "last_used_at": None}


@pytest.fixture
def ann(alice: Client) -> Client:
    alice.put(TEA, {"content": "# Tea\n\nGreen tea only.\n"})
    alice.put("/memories/skills/make-tea.md", {"content": "# Make tea\n\nBoil water.\n"})
    alice.append("s", "hello")
    return alice


def use(client: Client, *uris: str, **fields: Any) -> Any:
    return client.post("/sessions/s/used", {"contexts": list(uris), **fields})


def test_a_use_shows_at_the_memory(service: Service, ann: Client) -> None:
    assert ann.get(TEA).result["used"] == UNUSED
    etag = ann.get(TEA).headers["etag"]
    now = ann.get(TEA).json["time"]

    result = use(ann, TEA_URI).result

    used = {"count": 1, "last_used_at": now}
    assert result == {
        "session_id": "s",
        "contexts_used": 1,
        "skills_used": 0,
        "memories": [{"uri": TEA_URI, "used": used}],
        "unknown": [],
    }
    read = ann.get(TEA)
    assert (read.result["used"], read.headers["etag"], read.result["version"]) == (used, etag, 1)
    full = {row["uri"]: row["used"] for row in ann.get("/memories", view="full").result}
    assert full == {TEA_URI: used, SKILL_URI: UNUSED}
    service.cold()
    assert ann.get(TEA).result["used"] == used


def test_a_report_that_comes_again_has_the_same_answer(ann: Client) -> None:
    first = use(ann, TEA_URI).result
    assert use(ann, TEA_URI).result == first
    ann.append("s", "more")
    assert use(ann, TEA_URI).result["memories"][0]["used"]["count"] == 2


def test_an_idempotency_key_holds_beyond_the_turn(ann: Client) -> None:  # B-A8
    keyed = ann.acting(idempotency_key="k1")
    first = use(keyed, TEA_URI).result
    ann.append("s", "more")
    assert use(keyed, TEA_URI).result == first
    for row in ann.service.world.items.rows():  # also when nothing is left of what was answered
        if not row["pk"].startswith("KEY#"):
            ann.service.world.items.delete(row["pk"], row["sk"])
    assert use(keyed, TEA_URI).result == first
    assert ann.get(TEA).result["used"]["count"] == 1


def test_what_is_unknown_is_told_and_not_counted(service: Service, ann: Client) -> None:
    service.client("bob").put("/memories/topics/x.md", {"content": "Bob's own.\n"})
    unknown = [
        "viking://user/alice/memories/topics/none.md",
        "viking://user/alice/memories/topics",
        "viking://user/alice/memories",
        "viking://user/bob/memories/topics/x.md",
        "viking://resources/docs/x.md",
        "viking://user/alice/sessions/s",
        "viking://",
    ]
    result = use(ann, *unknown, TEA_URI, TEA_URI).result
    assert (result["contexts_used"], result["unknown"]) == (1, unknown)
    assert service.client("bob").get("/memories/topics/x.md").result["used"] == UNUSED


@pytest.mark.parametrize(
    "skill", ["make tea", SKILL_URI, {"uri": "Make Tea", "success": True, "output": "secret"}]
)
def test_a_skill_is_a_memory_too(service: Service, ann: Client, skill: Any) -> None:
    result = use(ann, TEA_URI, skill=skill).result
    assert (result["contexts_used"], result["skills_used"], result["unknown"]) == (1, 1, [])
    assert ann.get("/memories/skills/make-tea.md").result["used"]["count"] == 1
    (kept,) = [json.loads(body) for body in service.world.bodies("/used.json").values() if b'"uses"' in body]
    (said,) = kept["uses"]
    assert said["skill"] == "skills/make-tea.md"
    assert said["succeeded"] == (True if isinstance(skill, dict) else None)
    assert "secret" not in str(kept)


def test_a_skill_that_is_unknown(ann: Client) -> None:
    for skill in ("pottery", "viking://~/skills/pottery", {"uri": "pottery"}):
        result = use(ann, skill=skill).result
        assert (result["skills_used"], len(result["unknown"])) == (0, 1)


@pytest.mark.parametrize("body", [{}, {"contexts": []}, {"contexts": [], "skill": None}])
def test_nothing_was_used(service: Service, ann: Client, body: Any) -> None:
    assert ann.post("/sessions/s/used", body).result["contexts_used"] == 0
    assert service.world.stored("used.json") == []


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"contexts": ["topics/tea.md"]}, "INVALID_URI"),
        ({"contexts": ["viking://user/memories/topics/tea.md"]}, "INVALID_URI"),
        ({"contexts": [""]}, "INVALID_ARGUMENT"),
        ({"contexts": "viking://x"}, "INVALID_ARGUMENT"),
        ({"contexts": [TEA_URI] * 101}, "INVALID_ARGUMENT"),
        ({"contexts": [7]}, "INVALID_ARGUMENT"),
        ({"skill": {"name": "x"}}, "INVALID_ARGUMENT"),
        ({"skill": {"uri": "x", "success": "perhaps"}}, "INVALID_ARGUMENT"),
        ([], "INVALID_ARGUMENT"),
    ],
)
def test_a_report_that_is_none(ann: Client, body: Any, code: str) -> None:
    assert ann.post("/sessions/s/used", body).refusal == (400, code)


def test_a_session_that_is_not_there(service: Service, ann: Client) -> None:  # B-A14
    assert ann.post("/sessions/t/used", {"contexts": [TEA_URI]}).refusal == (404, "NOT_FOUND")
    bob = service.client("bob")
    assert use(bob, "viking://user/bob/memories/x.md").refusal == (404, "NOT_FOUND")
    assert use(service.nobody, TEA_URI).refusal == (401, "UNAUTHENTICATED")


def test_an_acting_peer_uses_no_other_peer_s(ann: Client) -> None:
    for peer in ("Bob", "Eve"):
        ann.put(f"/memories/peers/{peer}/profile.md", {"content": f"# {peer}\n"})
    uris = [f"viking://~/peers/{peer}/memories/profile.md" for peer in ("Bob", "Eve")]
    result = use(ann.acting(x_openviking_actor_peer="Bob"), *uris).result
    assert (result["contexts_used"], result["unknown"]) == (1, [uris[1]])


# ---- memories in full


def test_a_memory_in_full_is_what_it_is_alone(ann: Client) -> None:
    for row in ann.get("/memories", view="full").result:
        assert {name: row[name] for name in row if name not in ("lines", "size")} == ann.memory(
            row["path"]
        ).result
        assert (row["lines"], row["size"]) == (0, len(row["content"]))
    basic = ann.get("/memories").result
    assert ann.get("/memories", view="basic").result == basic
    assert all("content" not in row and "used" not in row for row in basic)
    assert ann.get("/memories", view="other").refusal == (400, "INVALID_ARGUMENT")


def pages(client: Client, **query: Any) -> list[list[str]]:
    found, cursor = [], None
    while True:
        answer = client.get("/memories", **query, **({"cursor": cursor} if cursor else {}))
        found.append([row["path"] for row in answer.result])
        cursor = answer.json["next_cursor"]
        if cursor is None:
            return found


@pytest.mark.parametrize("view", ["basic", "full"])
def test_pages_of_one_type(alice: Client, view: str) -> None:
    for n in range(5):
        alice.put(f"/memories/topics/{n}.md", {"content": "x\n"})
        alice.put(f"/memories/notes/{n}.md", {"content": "x\n"})
    topics = [f"topics/{n}.md" for n in range(5)]
    assert pages(alice, type="topics", limit=2, view=view) == [topics[:2], topics[2:4], topics[4:]]
    assert pages(alice, type="topics", limit=5, view=view) == [topics]
    assert pages(alice, prefix="topics/3", limit=1, view=view) == [["topics/3.md"]]
    assert pages(alice, type="none", view=view) == [[]]
    everything = [path for page in pages(alice, limit=3, view=view) for path in page]
    assert everything == [f"notes/{n}.md" for n in range(5)] + topics


def test_a_page_in_full_ends_where_an_answer_is_full(alice: Client) -> None:
    for n in range(5):
        alice.put(f"/memories/topics/{n}.md", {"content": "x" * 900_000})
    assert [len(page) for page in pages(alice, view="full")] == [2, 2, 1]
    assert [len(page) for page in pages(alice, view="basic")] == [5]


@pytest.mark.parametrize("method", ["get", "put", "delete"])
def test_an_acting_peer_has_no_other_peer_s_memories(alice: Client, method: str) -> None:
    for peer in ("Bob", "Eve"):
        alice.put(f"/memories/peers/{peer}/profile.md", {"content": f"# {peer}\n"})
    bob = alice.acting(x_openviking_actor_peer="Bob")
    assert [row["path"] for row in bob.get("/memories").result] == ["peers/Bob/profile.md"]
    body = [{"content": "x"}] if method == "put" else []
    assert getattr(bob, method)("/memories/peers/Eve/profile.md", *body).refusal == (404, "NOT_FOUND")
    assert getattr(bob, method)("/memories/peers/Bob/profile.md", *body).status == 200
    assert alice.memory("peers/Eve/profile.md").result["content"] == "# Eve\n"
