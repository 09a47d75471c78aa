"""Where each line of a memory comes from, with the words that were said."""

from typing import Any

import pytest

from strandline.pipeline import blame
from strandline.storage.layout import User
from tests.handlers.service import Client, Service

ALICE = User("acme", "alice")


def one_path(client: Client) -> str:
    (row,) = client.get("/memories").result
    return str(row["path"])


def blamed(client: Client, path: str = "", **query: Any) -> Any:
    return client.get(f"/memories/{path or one_path(client)}/blame", **query).result


def sourced(client: Client, path: str = "") -> Any:
    return [row for row in blamed(client, path)["lines"] if row["source"]]


def test_each_line_with_its_source_and_what_was_said(service: Service, alice: Client) -> None:  # B-C1 B-C14
    alice.append("s", "Good morning!", created_at="2023-05-08T13:55:00Z")
    alice.append("s", "Well. I love the cello. How are you?", created_at="2023-05-08T13:56:00Z", id="m2")
    alice.commit("s")
    service.pump()
    path = one_path(alice)
    content = alice.memory(path).result["content"]
    alice.put(f"/memories/{path}", {"content": content.replace("\n\n", "\n\nmine\n\n", 1)})

    found = blamed(alice)

    assert (found["path"], found["version"]) == (path, 2)
    assert [row["line"] for row in found["lines"]] == list(range(1, len(found["lines"]) + 1))
    own = [row["text"] for row in found["lines"] if row["source"] is None and row["text"]]
    assert own == [content.split("\n")[0], "mine"]
    (row,) = sourced(alice)
    assert "cello" in row["text"] and "<!--" not in row["text"]
    assert row["source"] == {
        "session_id": "s",
        "archive": "archive_001",
        "seq_from": 2,
        "seq_to": 2,
        "at": "2023-05-08T13:56:00.000Z",
    }
    assert row["quote"]["status"] == "verified"
    assert row["quote"]["text"] == "I love the cello."
    assert row["quote"]["sha256"] in content
    assert row["quote"]["message"] == {
        "message_id": "m2",
        "seq": 2,
        "role": "user",
        "peer_id": None,
        "created_at": "2023-05-08T13:56:00.000Z",
    }


def test_the_source_was_erased_with_its_session(service: Service, alice: Client) -> None:  # B-C14
    alice.remember("s", "I love the cello.")
    alice.delete("/sessions/s")
    service.pump()
    (row,) = sourced(alice)
    assert (row["quote"]["status"], row["quote"]["text"], row["quote"]["message"]) == ("erased", None, None)
    alice.remember("s", "It is raining.")  # a successor with an archive of the same number
    (row,) = sourced(alice)
    assert row["quote"]["status"] == "erased"


def test_a_source_that_is_not_what_it_says(alice: Client) -> None:
    alice.remember("s", "I love the cello.")
    path = one_path(alice)
    content = alice.memory(path).result["content"]
    (row,) = sourced(alice)
    forged = content.replace(row["quote"]["sha256"], "0" * 12)
    alice.put(f"/memories/{path}", {"content": forged})
    (row,) = sourced(alice)
    assert (row["quote"]["status"], row["quote"]["sha256"]) == ("not_found", "0" * 12)


def test_a_line_that_was_moved_by_hand_is_still_verified(alice: Client) -> None:
    alice.remember("s", "I love the cello.")
    content = alice.memory(one_path(alice)).result["content"]
    alice.put("/memories/notes/moved.md", {"content": content})
    (row,) = sourced(alice, "notes/moved.md")
    assert row["quote"]["status"] == "verified"


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_a_blame_in_pages(alice: Client, limit: int) -> None:
    content = "# Five\n\none\ntwo\nthree\n"
    alice.put("/memories/notes/five.md", {"content": content})
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        answer = alice.get("/memories/notes/five.md/blame", limit=limit, **cursor)
        found += [row["text"] for row in answer.result["lines"]]
        if answer.json["next_cursor"] is None:
            break
        cursor = {"cursor": answer.json["next_cursor"]}
    assert found == content.split("\n")[:-1]


def test_a_page_ends_where_it_would_read_too_many_archives(
    alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(5):
        alice.remember(f"s{n}", f"I love the cello {n} times.")
    path = one_path(alice)
    monkeypatch.setattr(blame, "MAX_ARCHIVES", 2)
    found: list[Any] = []
    pages = 0
    cursor: dict[str, str] = {}
    while pages < 10:
        answer = alice.get(f"/memories/{path}/blame", **cursor)
        pages += 1
        found += [row for row in answer.result["lines"] if row["source"]]
        if answer.json["next_cursor"] is None:
            break
        cursor = {"cursor": answer.json["next_cursor"]}
    assert pages == 3
    assert [row["source"]["session_id"] for row in found] == [f"s{n}" for n in range(5)]
    assert {row["quote"]["status"] for row in found} == {"verified"}


def test_of_nothing_is_no_blame(alice: Client, bob: Client) -> None:
    assert alice.get("/memories/profile.md/blame").refusal == (404, "NOT_FOUND")
    alice.put("/memories/profile.md", {"content": "x\n"})
    assert bob.get("/memories/profile.md/blame").refusal == (404, "NOT_FOUND")
    assert alice.get("/memories/profile.md/blame", cursor="x").refusal == (400, "INVALID_ARGUMENT")
    alice.put("/memories/peers/Anna/profile.md", {"content": "one\n"})
    acting = alice.acting(x_strandline_actor_peer="Bert")
    assert acting.get("/memories/peers/Anna/profile.md/blame").refusal == (404, "NOT_FOUND")
