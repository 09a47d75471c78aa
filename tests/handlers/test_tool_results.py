"""Tool outputs too long for a message: a preview in it, and the whole to be listed, read in pieces and searched."""

import hashlib
import json
from typing import Any

import pytest

from tests.canaries import CANARIES
from tests.handlers.service import Client, Service

LONG = "".join(f"line {n}: 世界 😀 done\n" for n in range(1100))
assert len(LONG) > 20_000  # of them, some outside the basic plane


def tool(output: str, **fields: Any) -> dict[str, Any]:
    part = {"type": "tool", "tool_id": "call-1", "tool_name": "grep", "tool_output": output, **fields}
    return {"role": "assistant", "parts": [{"type": "text", "text": "looking"}, part], "id": "m-1"}


def one(client: Client) -> Any:
    (row,) = client.get("/sessions/s/tool-results").result
    return row


def test_twenty_thousand_characters_stay_inline(alice: Client) -> None:  # B-A12
    alice.post("/sessions/s/messages", tool("x" * 20_000))
    (message,) = alice.get("/sessions/s/messages").result
    assert message["parts"][1]["tool_output"] == "x" * 20_000
    assert "ref" not in message["parts"][1]
    assert alice.get("/sessions/s/tool-results").result == []


def test_one_more_becomes_a_preview_and_a_reference(alice: Client) -> None:  # B-A12
    whole = "x" * 20_001
    alice.post("/sessions/s/messages", tool(whole))
    (message,) = alice.get("/sessions/s/messages").result
    sha256 = hashlib.sha256(whole.encode()).hexdigest()
    assert message["parts"][1]["tool_output"] == "x" * 2_000
    ref = message["parts"][1]["ref"]
    assert message["parts"][1]["tool_output_ref"] == ref["id"]
    assert message["parts"][1]["tool_output_original_chars"] == 20_001
    assert message["parts"][1]["tool_output_sha256"] == sha256
    assert ref == {"id": ref["id"], "total_chars": 20_001, "sha256": sha256}
    assert one(alice) == {**ref, "tool_id": "call-1", "tool_name": "grep", "message_id": "m-1"}
    assert alice.get(f"/sessions/s/tool-results/{ref['id']}", limit=-1).result["content"] == whole


def test_a_preview_ends_with_a_line_where_it_can(alice: Client) -> None:
    alice.post("/sessions/s/messages", tool("a" * 1_500 + "\n" + "b" * 30_000))
    (message,) = alice.get("/sessions/s/messages").result
    assert message["parts"][1]["tool_output"] == "a" * 1_500


@pytest.mark.parametrize(("offset", "limit"), [(0, 10), (7, 3), (0, 0), (len(LONG) - 5, 100), (len(LONG), 5)])
def test_a_window_holds_exactly_these_characters(alice: Client, offset: int, limit: int) -> None:  # B-A12
    alice.post("/sessions/s/messages", tool(LONG))
    row = one(alice)
    found = alice.get(f"/sessions/s/tool-results/{row['id']}", offset=offset, limit=limit).result
    assert found == {
        "id": row["id"],
        "content": LONG[offset : offset + limit],
        "offset": offset,
        "limit": limit,
        "total_chars": len(LONG),
    }


def test_pieces_make_up_the_whole(alice: Client) -> None:  # B-A12
    alice.post("/sessions/s/messages", tool(LONG))
    path = f"/sessions/s/tool-results/{one(alice)['id']}"
    pieces = [alice.get(path, offset=at, limit=997).result["content"] for at in range(0, len(LONG), 997)]
    assert "".join(pieces) == LONG
    assert alice.get(path).result["content"] == LONG[:20_000]


def test_search_finds_a_text_with_what_is_around_it(alice: Client) -> None:  # B-A12
    alice.post("/sessions/s/messages", tool(LONG))
    path = f"/sessions/s/tool-results/{one(alice)['id']}/search"
    at = LONG.index("LINE 517".lower())
    assert alice.get(path, q="LINE 517", context_chars=4).result == [
        {"offset": at, "text": LONG[at - 4 : at + 12]}
    ]
    assert len(alice.get(path, q="世界").result) == 20
    assert len(alice.get(path, q="世界", limit=3).result) == 3
    assert alice.get(path, q="line 0", context_chars=1).result == [{"offset": 0, "text": "line 0:"}]
    assert alice.get(path, q="nowhere").result == []


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("", {"offset": -1}),
        ("", {"offset": "x"}),
        ("", {"limit": -2}),
        ("", {"offset": 10**30}),
        ("/search", {}),
        ("/search", {"q": ""}),
        ("/search", {"q": "x" * 1001}),
        ("/search", {"q": "x", "limit": 0}),
        ("/search", {"q": "x", "limit": 101}),
        ("/search", {"q": "x", "context_chars": -1}),
    ],
)
def test_odd_questions_are_refused(alice: Client, path: str, query: dict[str, Any]) -> None:
    alice.post("/sessions/s/messages", tool(LONG))
    answer = alice.get(f"/sessions/s/tool-results/{one(alice)['id']}{path}", **query)
    assert answer.refusal == (400, "INVALID_ARGUMENT")


@pytest.mark.parametrize(
    "name", ["tr_0", "..", "%2E%2E", "a%2Fb", "%2e%2e%2fhead.json", "x" * 3_000, "é", "%00", "tr_" + "0" * 32]
)
@pytest.mark.parametrize("path", ["", "/search"])
def test_what_is_not_there_is_not_found(alice: Client, name: str, path: str) -> None:
    alice.post("/sessions/s/messages", tool(LONG))
    answer = alice.get(f"/sessions/s/tool-results/{name}{path}", q="x")
    assert answer.refusal == (404, "NOT_FOUND")


def test_anothers_outputs_are_not_found(alice: Client, bob: Client) -> None:  # B-A14
    alice.post("/sessions/s/messages", tool(LONG))
    identity = one(alice)["id"]
    for path in ("", f"/{identity}", f"/{identity}/search?q=line"):
        assert bob.get(f"/sessions/s/tool-results{path}").refusal == (404, "NOT_FOUND")
    bob.append("s", "mine")
    assert bob.get("/sessions/s/tool-results").result == []
    assert bob.get(f"/sessions/s/tool-results/{identity}").refusal == (404, "NOT_FOUND")


def test_a_list_comes_in_pages(alice: Client) -> None:
    for n in range(7):
        alice.post("/sessions/s/messages", {**tool(f"{n}" * 30_000), "id": f"m-{n}"})
    rows, cursor = [], None
    sizes = []
    while True:
        query = {"cursor": cursor} if cursor else {}
        answer = alice.get("/sessions/s/tool-results", limit=3, **query)
        rows += answer.result
        sizes.append(len(answer.result))
        cursor = answer.json.get("next_cursor")
        if cursor is None:
            break
    assert sizes == [3, 3, 1]
    assert sorted(row["message_id"] for row in rows) == [f"m-{n}" for n in range(7)]
    assert alice.get("/sessions/s/tool-results", cursor="forged").refusal == (400, "INVALID_ARGUMENT")


def test_what_a_tool_message_says_is_an_output(alice: Client) -> None:
    alice.append("s", LONG, role="tool", id="m-1")
    alice.post(
        "/sessions/s/messages", {"role": "tool", "parts": [{"type": "text", "text": LONG + "!"}], "id": "m-2"}
    )
    content, parts = alice.get("/sessions/s/messages").result
    assert len(content["content"]) <= 2_000
    assert content["ref"]["total_chars"] == len(LONG)
    assert parts["parts"][0]["ref"]["total_chars"] == len(LONG) + 1
    assert {row["message_id"] for row in alice.get("/sessions/s/tool-results").result} == {"m-1", "m-2"}


@pytest.mark.parametrize("role", ["user", "assistant", "system"])
def test_what_others_say_stays_whole(alice: Client, role: str) -> None:
    alice.append("s", LONG, role=role)
    assert alice.get("/sessions/s/messages").result[0]["content"] == LONG
    assert alice.get("/sessions/s/tool-results").result == []


def test_five_megabytes_of_output(alice: Client) -> None:  # B-A12 B-A13
    """The message itself is small then: its limit counts what is stored of it."""
    whole = "0123456789abcde\n" * (5 * 1024 * 64)
    assert alice.post("/sessions/s/messages", tool(whole)).status == 200
    row = one(alice)
    assert row["total_chars"] == len(whole)
    path = f"/sessions/s/tool-results/{row['id']}"
    assert alice.get(path, offset=5_000_000, limit=16).result["content"] == whole[5_000_000:5_000_016]
    most = alice.get(path, limit=-1)
    assert most.result["limit"] == 400_000
    assert most.result["content"] == whole[:400_000]
    assert alice.get(path, offset=400_000, limit=10**9).result["content"] == whole[400_000:800_000]


@pytest.mark.parametrize("character", ["\x01", '"', "\\", "😀", "\n"])
def test_an_answer_stays_under_the_limit_of_a_function(
    service: Service, alice: Client, character: str
) -> None:
    """Lambda takes 6 MB of JSON, in which the body is a string once more."""
    alice.post("/sessions/s/messages", tool(character * 450_000))
    answer = alice.get(f"/sessions/s/tool-results/{one(alice)['id']}", limit=-1)
    assert len(json.dumps({"body": answer.text})) < 6 * 1024 * 1024


def test_two_results_of_one_message(alice: Client) -> None:  # B-A5
    parts = [tool(f"{n}\n" * 20_000)["parts"][1] | {"tool_id": f"call-{n}"} for n in (1, 2)]
    alice.post("/sessions/s/messages", {"role": "user", "parts": parts, "id": "m"})
    rows = alice.get("/sessions/s/tool-results").result
    assert sorted(row["tool_id"] for row in rows) == ["call-1", "call-2"]
    messages = alice.get("/sessions/s/messages").result
    assert {m["parts"][0]["ref"]["id"] for m in messages} == {row["id"] for row in rows}
    assert {m["id"] for m in messages} == {row["message_id"] for row in rows}


def test_a_client_cannot_make_up_a_reference(alice: Client) -> None:
    forged = {"id": "tr_1", "total_chars": 1, "sha256": "0"}
    alice.post("/sessions/s/messages", {**tool("x", ref=forged), "ref": forged})
    (message,) = alice.get("/sessions/s/messages").result
    assert "ref" not in message
    assert "ref" not in message["parts"][1]


def test_no_secret_is_in_the_whole_output(service: Service, alice: Client) -> None:  # B-C16
    """Also one that stands across the end of the preview."""
    secrets = "\n".join(canary.text for canary in CANARIES.values())
    alice.post("/sessions/s/messages", tool("x" * 1_990 + " " + secrets + "\n" + "y" * 20_000))
    bodies = b"".join(service.world.bodies("").values()).decode()
    assert [kind for kind, canary in CANARIES.items() if canary.secret in bodies] == []
    (message,) = alice.get("/sessions/s/messages").result
    assert "secret:github_token" in message["flags"]


def test_an_archived_message_keeps_its_reference(service: Service, alice: Client) -> None:
    alice.post("/sessions/s/messages", tool(LONG))
    (live,) = alice.get("/sessions/s/messages").result
    alice.commit("s")
    service.pump()
    assert alice.get("/sessions/s/messages").result == [live]
    assert alice.get(f"/sessions/s/tool-results/{one(alice)['id']}", limit=-1).result["content"] == LONG


def test_tools_are_counted_where_the_session_asks_for_it(service: Service, alice: Client) -> None:  # B-C6
    def call(session: str, name: str, status: str) -> None:
        part = {"type": "tool", "tool_id": name, "tool_name": "web_search", "tool_status": status}
        alice.append(session, role="assistant", parts=[part])

    for session, policy in (("asked", {"memory_types": ["tools"]}), ("not", None)):
        alice.create(session, memory_policy=policy)
        call(session, "one", "completed")
        call(session, "two", "error")
        alice.commit(session)
        service.pump()
    assert (
        "Called: 2 <!-- = -->\nFailed: 1 <!-- = -->" in alice.memory("tools/web_search.md").result["content"]
    )
    assert [row["path"] for row in alice.get("/memories").result] == ["tools/web_search.md"]
