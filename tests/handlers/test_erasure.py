"""DELETE of sessions, users and accounts as clients meet it: who may, what they hear, and what is left."""

import json
from typing import Any
from urllib.parse import quote

import pytest

from strandline.domain.contracts import EraseRequested, SessionRef
from strandline.ports import Ambiguous
from strandline.storage.layout import User
from tests.handlers.service import Client, Service

HEAL_SECONDS = 900


def until_over(service: Service, client: Client, task_id: str) -> Any:
    """The task once its erasure is over: two rounds of the sweep."""
    for _ in range(4):
        service.pump()
        service.sweep(HEAL_SECONDS + 1)
    service.pump()
    return client.get(f"/tasks/{task_id}").result


@pytest.fixture
def admin(service: Service) -> Client:
    return service.client("boss", role="admin")


def test_an_admin_erases_a_user_of_its_account(service: Service, admin: Client, alice: Client) -> None:
    alice.remember("s", "I moved to Lisbon last week.", "I love the cello.")

    begun = admin.delete("/users/alice").result

    assert (begun["task_type"], begun["status"], begun["resource_id"]) == ("user_erasure", "pending", "alice")
    done = until_over(service, admin, begun["task_id"])
    assert (done["status"], done["stage"], done["error"]) == ("completed", "done", None)
    receipt = done["result"]
    assert (receipt["account_id"], receipt["user_id"]) == ("acme", "alice")
    assert (receipt["users"], receipt["keys"]) == (1, 1)
    assert receipt["objects"]["sessions"] >= 6 and receipt["objects"]["memories"] >= 2
    assert receipt["versions"]["sessions"] > receipt["objects"]["sessions"]
    assert receipt["items"] == {"session_list": 1, "tasks": 1}
    assert service.world.stored("v1/acme/alice/") == []
    assert [t["task_id"] for t in admin.get("/tasks", task_type="user_erasure").result] == [begun["task_id"]]


def test_nothing_of_an_erased_user_is_to_be_had(service: Service, admin: Client, alice: Client) -> None:
    task = alice.remember("s", "I moved to Lisbon last week.")
    (path,) = [m["path"] for m in alice.get("/memories").result if m["type"] == "profile"]
    until_over(service, admin, admin.delete("/users/alice").result["task_id"])
    service.cold()

    assert alice.get("/sessions").refusal == (401, "UNAUTHENTICATED")  # its key is gone
    acting = admin.acting(x_strandline_user="alice")
    for gone in (
        "/sessions/s",
        "/sessions/s/messages",
        "/sessions/s/context",
        f"/tasks/{task}",
        f"/memories/{path}",
    ):
        assert acting.get(gone).refusal == (404, "NOT_FOUND"), gone
    assert (
        acting.get("/sessions").result == acting.get("/memories").result == acting.get("/tasks").result == []
    )
    assert acting.find("Lisbon") == acting.find("Lisbon", context_type="message") == []


def test_a_closed_user_is_told(service: Service, admin: Client, alice: Client) -> None:
    alice.append("s", "hello")
    task_id = admin.delete("/users/alice").result["task_id"]

    assert alice.append("new", "hello").refusal == (409, "CONFLICT")
    assert alice.create("new").refusal == (409, "CONFLICT")
    assert alice.put("/memories/topics/a.md", {"content": "x"}).refusal == (409, "CONFLICT")

    until_over(service, admin, task_id)
    acting = admin.acting(x_strandline_user="alice")
    assert acting.append("s", "a new beginning").result["seq"] == 1


def test_an_account_is_erased_by_its_admin_or_root(service: Service, alice: Client, bob: Client) -> None:
    other = service.client("alice", account="acme2")
    for client in (alice, bob, other):
        client.remember("s", "I love the cello.")

    begun = service.root.delete("/accounts/acme").result
    done = until_over(service, service.root, begun["task_id"])

    assert (done["task_type"], done["resource_id"], done["status"]) == (
        "account_erasure",
        "acme",
        "completed",
    )
    assert (done["result"]["users"], "user_id" in done["result"]) == (2, False)
    assert service.world.stored("v1/acme/") == []
    assert other.log("s") == [(1, "I love the cello.")]

    own = service.client("boss", account="acme2", role="admin")
    task_id = own.delete("/accounts/acme2").result["task_id"]
    root = service.root.acting(x_strandline_account="acme2", x_strandline_user="boss")
    assert until_over(service, root, task_id)["result"]["users"] == 1
    assert service.world.stored() == []


def test_root_names_the_account_by_header(service: Service) -> None:
    service.client("ann", "far").append("s", "hello")
    service.root.delete("/users/ann")  # of the root key's own account
    service.pump()
    assert service.world.stored("v1/far/ann/") != []

    named = service.root.acting(x_strandline_account="far", x_strandline_user="ann")
    begun = named.delete("/users/ann").result
    assert until_over(service, service.root, begun["task_id"])["status"] == "completed"
    assert (
        named.get(f"/tasks/{begun['task_id']}").result["status"] == "completed"
    )  # with the headers it was asked with
    assert service.world.stored("v1/far/") == []


@pytest.mark.parametrize("path", ["/users/alice", "/users/bob", "/accounts/acme", "/accounts/other"])
def test_a_users_key_erases_no_user(service: Service, alice: Client, path: str) -> None:
    alice.append("s", "hello")
    assert alice.delete(path).refusal == (403, "PERMISSION_DENIED")
    acting = alice.acting(x_strandline_user="bob", x_strandline_account="other")
    assert acting.delete(path).refusal == (403, "PERMISSION_DENIED")
    assert service.nobody.delete(path).refusal == (401, "UNAUTHENTICATED")
    assert service.world.rows("ERASE#") == service.world.rows("DUE#") == []
    assert alice.log("s") == [(1, "hello")]


def test_an_admin_stays_in_its_account(service: Service, admin: Client) -> None:
    assert admin.delete("/accounts/acme2").refusal == (403, "PERMISSION_DENIED")
    elsewhere = admin.acting(x_strandline_account="acme2", x_strandline_user="alice")
    assert elsewhere.delete("/users/alice").refusal == (403, "PERMISSION_DENIED")
    assert service.world.rows("ERASE#") == []


@pytest.mark.parametrize("name", ["%00", "a%5Cb", "..", "%F0%9F%90%9F" * 80, "x" * 300])
def test_what_is_no_id_is_refused(admin: Client, name: str) -> None:
    assert admin.delete(f"/users/{name}").refusal == (400, "INVALID_ARGUMENT")


@pytest.mark.parametrize("name", ["東京", "a%b", "ann@example.org", "...", "🐟 é"])
def test_any_id_can_be_erased_and_only_that_one(service: Service, name: str) -> None:
    whose, like = service.client(name), service.client(f"{name}2")
    for client in (whose, like):
        client.remember("s", "I love the cello.")
    admin = service.client("boss", role="admin")
    task_id = admin.delete(f"/users/{quote(name, safe='')}").result["task_id"]
    assert until_over(service, admin, task_id)["result"]["users"] == 1
    assert service.world.stored(User("acme", name).prefix) == []
    assert like.log("s") == [(1, "I love the cello.")]


def test_the_task_is_the_askers_alone(service: Service, admin: Client, alice: Client) -> None:
    task_id = admin.delete("/users/alice").result["task_id"]
    assert alice.get(f"/tasks/{task_id}").refusal == (404, "NOT_FOUND")
    other = service.client("boss2", role="admin")
    assert other.get(f"/tasks/{task_id}").refusal == (404, "NOT_FOUND")
    assert other.delete("/users/alice").refusal == (409, "CONFLICT")
    assert admin.delete("/users/alice").result["task_id"] == task_id
    for verb in ("cancel", "retry"):
        assert admin.post(f"/tasks/{task_id}/{verb}").refusal == (412, "FAILED_PRECONDITION")


def test_a_session_says_what_went(service: Service, alice: Client) -> None:  # B-A15
    alice.remember("s", "I love the cello.")
    alice.append("s", "not yet")

    gone = alice.delete("/sessions/s").result

    assert gone["complete"] is True
    assert gone["erased"].keys() == {"objects", "versions", "tasks"}
    assert gone["erased"]["tasks"] == 1
    assert gone["erased"]["versions"] > gone["erased"]["objects"] >= 6
    assert alice.look("s").refusal == (404, "NOT_FOUND")


def test_a_store_that_is_silent_does_not_bring_a_deleted_session_back(
    service: Service, alice: Client
) -> None:
    alice.append("s", "hello")
    service.world.objects.faults.before("versions_below", Ambiguous("down"))

    gone = alice.delete("/sessions/s").result

    assert gone["complete"] is False
    assert alice.look("s").refusal == (404, "NOT_FOUND")
    service.pump()  # the erase queue
    assert service.world.writes(User("acme", "alice").head("s")) == 1  # the gravestone


def test_an_erasure_that_fails_for_good_says_so_and_goes_on(service: Service, admin: Client) -> None:
    task_id = admin.delete("/users/alice").result["task_id"]
    for nth in range(1, 40):
        service.world.objects.faults.before("versions_below", Ambiguous("down"), nth=nth)
    service.pump()
    assert [d.message for d in service.dead] == [
        EraseRequested(scope="user", session=SessionRef(account_id="acme", user_id="alice", session_id=""))
    ]
    failed = admin.get(f"/tasks/{task_id}").result
    assert (failed["status"], failed["error"]) == (
        "failed",
        "a store did not answer; the erasure goes on when it does",
    )
    service.world.mend()
    assert until_over(service, admin, task_id)["status"] == "completed"


def test_a_message_that_cannot_be_read_fails_alone(service: Service) -> None:
    bodies = [("{", 1), (json.dumps({"type": "EraseRequested", "version": 2}), 1)]
    assert service.send_batch("EraseQueue", bodies) == {0, 1}


# ---- what lies in the ingest queue's dead letters


CANARY = "xylophone-7f3a"


def queued(service: Service, user: str, **fields: Any) -> None:
    """Into the ingest queue, of a session that is there not yet."""
    names = {"account_id": "acme", "user_id": user, "session_id": "fed"}
    said = [{"role": "user", "content": f"{CANARY} of {user}"}]
    body = {"type": "AppendRequested", "version": 1, **names, "messages": said, **fields}
    service.world.ingest_queue.put(json.dumps(body), f"acme/{user}/fed")


def in_queues(service: Service) -> list[str]:
    """Every body in any queue that holds the canary."""
    world = service.world
    queues = (
        world.ingest_queue,
        world.commit_queue,
        world.extract_queue,
        world.merge_queue,
        world.learn_queue,
    )
    waiting = [delivery.body for queue in (*queues, world.erase_queue) for delivery in queue._waiting]
    return [body for body in (*waiting, *world.dead_letters.bodies()) if CANARY in body]


@pytest.mark.parametrize("path", ["/users/alice", "/sessions/fed"])
def test_a_canary_among_the_dead_letters_is_erased_and_anothers_letter_sent_back(  # B-B17
    service: Service, admin: Client, alice: Client, bob: Client, path: str
) -> None:
    alice.append("fed", "hello")
    queued(service, "alice", version=2)
    queued(service, "alice", messages=[{"role": CANARY, "content": CANARY}])
    for nth in range(1, 300):
        service.world.objects.faults.before("put", Ambiguous("down"), nth=nth)
    queued(service, "bob")
    service.pump()
    service.world.mend()
    assert len(in_queues(service)) == 3

    (admin if path.startswith("/users") else alice).delete(path)
    for _ in range(3):
        service.sweep(HEAL_SECONDS + 1)
        service.pump()

    (left,) = in_queues(service)
    assert json.loads(left)["user_id"] == "bob"
    service.world.dead_letters.redrive(service.world.ingest_queue)
    service.pump()
    assert bob.log("fed") == [(1, f"{CANARY} of bob")]
    assert in_queues(service) == []


def test_what_waits_in_the_ingest_queue_of_an_erased_user_is_refused_and_erased(
    service: Service, admin: Client, alice: Client
) -> None:
    alice.append("s", "hello")
    task_id = admin.delete("/users/alice").result["task_id"]
    service.deliver("EraseQueue", service.world.erase_queue)
    queued(service, "alice")
    service.pump()
    assert service.world.stored("v1/acme/alice/") == []
    assert len(service.world.dead_letters.bodies()) == 1  # since the first round has looked already

    receipt = until_over(service, admin, task_id)["result"]

    assert receipt["dead_letters"] == {"removed": 1, "unreadable": 0}
    assert in_queues(service) == []
    assert service.world.stored("v1/acme/alice/") == []
