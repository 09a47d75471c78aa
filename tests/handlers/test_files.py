"""Files read whole at their addresses, and written back as they were read."""

import pytest

from tests.handlers.service import Client, Service


def test_the_diff_of_an_archive_is_at_the_address_its_task_names(service: Service, alice: Client) -> None:
    # B-C11
    alice.append("s", "I love the cello.")
    task_id = alice.commit("s").result["task_id"]
    service.pump()
    uri = alice.get(f"/tasks/{task_id}").result["result"]["memory_diff_uri"]

    diff = alice.get("/content/read", uri=uri).result

    assert uri == alice.get("/sessions/s/archives/archive_001").result["memory_diff_uri"]
    assert '"total_adds": 1' in diff and "cello" in diff
    assert alice.get("/content/read", uri=uri.replace("memory_diff.json", "abstract.md")).status == 200


@pytest.mark.parametrize(
    "file",
    [
        "sessions/s/archives/archive_002/memory_diff.json",
        "sessions/s/archives/archive_001/candidates.json",
        "sessions/s/archives/archive_001/messages.000000000001-000000000001.jsonl",
        "sessions/other/archives/archive_001/overview.md",
        "sessions/s/head.json",
    ],
)
def test_nothing_else_of_a_session_is_a_file(service: Service, alice: Client, file: str) -> None:
    alice.remember("s", "I love the cello.")
    service.pump()
    assert alice.get("/content/read", uri=f"viking://user/alice/{file}").status == 404


def test_a_file_can_be_written_back_as_it_was_read(service: Service, alice: Client) -> None:
    alice.remember("s", "I love the cello.")
    service.pump()
    (row,) = alice.get("/memories").result
    whole = alice.get("/content/read", uri=row["uri"]).result

    written = alice.put(f"/memories/{row['path']}", {"content": whole}).result
    assert written["version"] == row["version"]  # nothing has changed

    edited = whole.replace("title: '", "title: 'My ").replace("\n\n- ", "\n\nMine too.\n\n- ", 1)
    alice.put(f"/memories/{row['path']}", {"content": edited})
    again = alice.get("/content/read", uri=row["uri"]).result
    assert again.count("\n---\n") == 1
    assert "Mine too." in again and "cello" in again and "title: 'My Preferences" in again


def test_front_matter_that_is_broken_is_refused(alice: Client) -> None:
    broken = "---\nid: mem_0123\ntitle: a: b: c\n---\n\ntext\n"
    assert alice.put("/memories/topics/x.md", {"content": broken}).refusal == (400, "INVALID_ARGUMENT")


def test_an_owner_may_say_when_a_memory_expires(service: Service, alice: Client) -> None:  # B-C15
    content = "---\ntitle: Code\nexpires_at: 2000-01-01T00:00:00Z\n---\n\nThe door code is 1234.\n"
    written = alice.put("/memories/topics/door.md", {"content": content}).result
    assert (written["title"], written["expires_at"]) == ("Code", "2000-01-01T00:00:00.000Z")
    assert alice.get("/memories/topics/door.md").status == 404
    assert alice.post("/search/find", {"query": "door code"}).result["total"] == 0


def test_a_rule_is_no_front_matter(service: Service, alice: Client) -> None:
    content = "---\njust a line between rules\n---\n\ntext\n"
    alice.put("/memories/topics/rules.md", {"content": content})
    assert alice.get("/memories/topics/rules.md").result["content"] == content
