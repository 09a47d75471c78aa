"""`Idempotency-Key`: what a request that comes again is told, and what it does (nothing)."""

from typing import Any

import pytest

from strandline.ports import Ambiguous
from tests.handlers.service import Answer, Client, Service
from tests.pipeline.world import counted

DAY = 86_400
REQUESTS: dict[str, tuple[str, str, dict[str, Any], dict[str, Any]]] = {
    "append": ("POST", "/sessions/s/messages", {"role": "user", "content": "a"}, {"role": "user"}),
    "batch": ("POST", "/sessions/s/messages/batch", {"messages": [{"role": "user", "content": "a"}]}, {}),
    "create": ("POST", "/sessions", {"metadata": {"a": 1}}, {"metadata": {"a": 2}}),
    "commit": ("POST", "/sessions/s/commit", {}, {"keep_recent_count": 1}),
    "write": ("PUT", "/memories/preferences/a.md", {"content": "# A\n"}, {"content": "# B\n"}),
    "find": ("POST", "/search/find", {"query": "cello"}, {"query": "viola"}),
}


def keyed(client: Client, key: str = "k") -> Client:
    return client.acting(idempotency_key=key)


def ask(client: Client, method: str, path: str, body: Any) -> Answer:
    return client.post(path, body) if method == "POST" else client.put(path, body)


def replayed(answer: Answer) -> bool:
    return answer.headers.get("idempotent-replay") == "true"


@pytest.fixture
def mia(service: Service) -> Client:
    """Somebody with a session and a memory."""
    client = service.client("mia")
    client.remember("s", "I love the cello.")
    client.append("s", "One more.")
    return client


def stored(service: Service) -> tuple[Any, Any]:
    """Everything but what is remembered of requests."""
    objects = {key: service.world.body(key) for key in service.world.stored()}
    return objects, [row for row in service.world.items.rows() if not row["pk"].startswith("REPLAYS#")]


@pytest.mark.parametrize("name", REQUESTS)
def test_the_same_request_again_hears_the_first_answer_and_does_nothing(  # B-A8
    service: Service, mia: Client, name: str
) -> None:
    method, path, body, _ = REQUESTS[name]
    first = ask(keyed(mia), method, path, body)
    after = stored(service)
    service.world.clock.advance(60)
    service.cold()

    again = ask(keyed(mia), method, path, body)

    assert first.status == 200 and not replayed(first)
    assert again.status == 200 and replayed(again)
    assert again.result == first.result
    assert {**first.headers, "idempotent-replay": "true"} == again.headers
    assert name == "find" or again.text == first.text  # a read is read again, at its own time
    assert stored(service) == after


@pytest.mark.parametrize("name", REQUESTS)
def test_another_body_with_the_same_key(service: Service, mia: Client, name: str) -> None:  # B-A8
    method, path, body, other = REQUESTS[name]
    ask(keyed(mia), method, path, body)
    after = stored(service)
    refusal = ask(keyed(mia), method, path, other)
    assert refusal.refusal == (409, "IDEMPOTENCY_MISMATCH")
    assert refusal.error["retryable"] is False
    assert stored(service) == after


def test_another_query_or_condition_is_another_request(mia: Client) -> None:
    path, body = "/memories/preferences/a.md", {"content": "# A\n"}
    assert keyed(mia).put(path, body).status == 200
    conditional = keyed(mia).acting(if_none_match="*")
    assert conditional.put(path, body).refusal == (409, "IDEMPOTENCY_MISMATCH")
    assert keyed(mia).put(f"{path}?x=1", body).refusal == (409, "IDEMPOTENCY_MISMATCH")


def test_a_key_belongs_to_its_route_user_and_role(service: Service, mia: Client) -> None:
    others = [
        (mia, "t"),
        (service.client("bob"), "s"),
        (service.client("mia", "other"), "s"),
        (service.client("mia", "acme", "admin"), "s"),
    ]
    assert keyed(mia).append("s", "a").result["duplicate"] is False
    for client, name in others:
        answer = keyed(client).append(name, "a")
        assert not replayed(answer)
        assert answer.result["duplicate"] is False
    assert keyed(mia).batch("s", "a").result["added"] == 1


def test_a_key_is_good_for_a_day(service: Service, mia: Client) -> None:
    first = keyed(mia).create(metadata={"a": 1})
    service.world.clock.advance(DAY - 1)
    assert keyed(mia).create(metadata={"a": 1}).text == first.text
    service.world.clock.advance(1)  # the table deletes late: the record is still there
    second = keyed(mia).create(metadata={"a": 2})
    assert not replayed(second)
    assert second.result["session_id"] != first.result["session_id"]


def test_messages_without_ids_are_recognised_when_the_record_is_gone(service: Service, mia: Client) -> None:
    first = keyed(mia).batch("s", "a", "b").result["messages"]
    service.world.clock.advance(2 * DAY)
    again = keyed(mia).batch("s", "a", "b").result["messages"]
    assert again == [{**row, "duplicate": True} for row in first]


def test_the_same_key_a_day_later_with_other_words_stores_them(service: Service, mia: Client) -> None:
    keyed(mia).append("s", "monday")
    service.world.clock.advance(2 * DAY)
    assert keyed(mia).append("s", "tuesday").result["duplicate"] is False
    assert [text for _, text in mia.log("s")][-2:] == ["monday", "tuesday"]


def test_the_same_key_a_day_later_creates_and_commits_again(service: Service, mia: Client) -> None:
    keyed(mia).create("fresh")
    first = keyed(mia).commit("s").result
    mia.delete("/sessions/fresh")
    mia.append("s", "after the first commit")
    service.world.clock.advance(2 * DAY)
    assert keyed(mia).create("fresh").status == 200
    assert keyed(mia).commit("s").result["archive_uri"] != first["archive_uri"]


@pytest.mark.parametrize("key", ["", "x" * 256, "a\tb", "a\x00b", "a\x7fb", "a\u2028b"])
def test_what_is_no_key(service: Service, alice: Client, key: str) -> None:
    answer = keyed(alice, key).append("s", "a")
    assert answer.refusal == (400, "INVALID_ARGUMENT")
    assert "Idempotency-Key" in answer.error["message"]
    assert alice.look("s").status == 404


@pytest.mark.parametrize("key", ["x" * 255, "schlüssel 🔑", "#/../*"])
def test_an_odd_key_is_a_key(alice: Client, key: str) -> None:
    assert keyed(alice, key).append("s", "a").status == 200
    assert replayed(keyed(alice, key).append("s", "a"))


def test_reading_and_deleting_do_not_look_at_it(service: Service, mia: Client) -> None:
    before = len(service.world.rows("REPLAYS#"))
    assert keyed(mia).look("s").status == 200
    assert keyed(mia, "").look("s").status == 200
    assert keyed(mia).delete("/sessions/s").status == 200
    assert len(service.world.rows("REPLAYS#")) == before


def test_nobody_learns_of_a_key_without_an_identity(service: Service, alice: Client) -> None:
    keyed(alice).append("s", "a")
    _, calls = counted(service.world, lambda: keyed(service.nobody).append("s", "a"))
    assert keyed(service.nobody).append("s", "a").refusal == (401, "UNAUTHENTICATED")
    assert calls == {}


# ---- errors


def test_an_error_frees_the_key(service: Service, mia: Client) -> None:
    assert keyed(mia).append("s").refusal == (400, "INVALID_ARGUMENT")
    assert keyed(mia).append("s", "put right").status == 200

    late = keyed(mia, "late")
    assert late.commit("not there yet").refusal == (404, "NOT_FOUND")
    mia.append("not there yet", "now it is")
    assert late.commit("not there yet").result["archived"] is True


def test_what_is_unclear_is_done_again_at_once(service: Service, mia: Client) -> None:
    for nth in range(1, 15):
        service.world.objects.faults.after("put", Ambiguous("lost"), nth=nth)
        service.world.objects.faults.before("get", Ambiguous("down"), nth=nth)
    assert keyed(mia).append("s", "a").refusal == (503, "UNAVAILABLE")
    service.world.mend()
    answer = keyed(mia).append("s", "a")
    assert (answer.result["added"], answer.result["duplicate"]) == (1, False)
    assert [text for _, text in mia.log("s")].count("a") == 1


def test_an_unclear_attempt_still_owns_its_key(service: Service, mia: Client) -> None:
    service.world.objects.faults.before("get", Ambiguous("down"))
    assert keyed(mia).commit("s").refusal == (503, "UNAVAILABLE")
    assert keyed(mia).commit("s", keep_recent_count=1).refusal == (409, "IDEMPOTENCY_MISMATCH")
    assert keyed(mia).commit("s").result["archived"] is True


def test_a_table_that_does_not_answer_lets_nothing_through(service: Service, mia: Client) -> None:
    for operation in ("put", "get"):
        service.world.items.faults.before(operation, Ambiguous("down"))
    answer = keyed(mia).append("s", "a")
    assert answer.refusal == (503, "UNAVAILABLE")
    assert "a" not in [text for _, text in mia.log("s")]
    assert keyed(mia).append("s", "a").result["duplicate"] is False


def test_an_answer_that_could_not_be_kept_is_still_given(service: Service, mia: Client) -> None:
    service.world.items.faults.before("update", Ambiguous("down"))
    assert keyed(mia).append("s", "a").result["added"] == 1
    service.world.clock.advance(31)
    assert keyed(mia).append("s", "a").result["added"] == 1  # as the first attempt said
    assert replayed(keyed(mia).append("s", "a"))
    assert [text for _, text in mia.log("s")].count("a") == 1


# ---- two at once


def test_while_the_first_is_at_it(service: Service, mia: Client) -> None:
    """The second comes while the first is about to write its head, 3 and 20 seconds after it began."""
    heard: list[tuple[tuple[int, str], str]] = []

    def meanwhile() -> None:
        for seconds in (0, 3, 17):
            service.world.clock.advance(seconds)
            answer = keyed(mia).append("s", "a")
            heard.append((answer.refusal, answer.headers["retry-after"]))
        heard.append((keyed(mia).append("s", "b").refusal, ""))

    service.world.objects.faults.before("put", meanwhile)
    assert keyed(mia).append("s", "a").result["added"] == 1
    aborted, mismatch = (409, "ABORTED"), (409, "IDEMPOTENCY_MISMATCH")
    assert heard == [(aborted, "1"), (aborted, "3"), (aborted, "10"), (mismatch, "")]
    assert replayed(keyed(mia).append("s", "a"))


def test_a_zombie_changes_nothing_of_what_its_successor_answered(service: Service, mia: Client) -> None:
    """It sleeps before its last write until its lease is over and another has done the request."""
    answers: list[Answer] = []

    def overtaken() -> None:
        service.world.clock.advance(31)
        answers.append(keyed(mia).append("s", "a"))

    service.world.items.faults.before("update", overtaken)
    zombie = keyed(mia).append("s", "a")
    replay = keyed(mia).append("s", "a")
    assert replayed(replay)
    assert replay.text == answers[0].text
    assert zombie.result == answers[0].result
    assert [text for _, text in mia.log("s")].count("a") == 1


def test_a_zombie_that_fails_does_not_free_its_successors_key(service: Service, mia: Client) -> None:
    answers: list[Answer] = []

    def overtaken() -> None:
        service.world.clock.advance(31)
        mia.append("late", "now it is there")
        answers.append(keyed(mia).commit("late"))

    service.world.items.faults.before("delete", overtaken)
    assert keyed(mia).commit("late").refusal == (404, "NOT_FOUND")
    replay = keyed(mia).commit("late")
    assert replayed(replay)
    assert replay.text == answers[0].text


# ---- answers


def test_a_large_answer_is_kept_beside_the_table(service: Service, mia: Client) -> None:
    content = "# Long\n" + "x" * 500_000
    first = keyed(mia).put("/memories/preferences/long.md", {"content": content})
    (kept,) = service.world.stored("/replays/")
    mia.put("/memories/preferences/long.md", {"content": "# Short\n"})

    again = keyed(mia).put("/memories/preferences/long.md", {"content": content})

    assert (again.text, replayed(again)) == (first.text, True)
    assert again.headers["etag"] == first.headers["etag"]
    assert kept.startswith("v1/acme/mia/replays/")
    assert mia.memory("preferences/long.md").result["content"] == "# Short\n"


def test_the_answer_of_the_largest_append_fits(service: Service, mia: Client) -> None:
    """100 messages with the longest ids, of four bytes a character."""
    messages = [{"role": "user", "content": "a", "id": "🔑" * 253 + f"{n:03}"} for n in range(100)]
    first = keyed(mia).post("/sessions/s/messages/batch", {"messages": messages})
    assert first.result["added"] == 100
    assert keyed(mia).post("/sessions/s/messages/batch", {"messages": messages}).text == first.text


KEYS: dict[str, tuple[str, dict[str, Any]]] = {
    "account": ("", {"account_id": "new", "admin_user_id": "ann"}),
    "user": ("/acme/users", {"user_id": "new"}),
    "another key": ("/acme/users/ann/keys", {}),
    "a key instead": ("/acme/users/ann/key", {}),
}


@pytest.mark.parametrize("name", KEYS)
def test_a_secret_is_answered_once_and_never_stored(service: Service, name: str) -> None:
    path, body = KEYS[name]
    service.root.post("/admin/accounts", {"account_id": "acme", "admin_user_id": "ann"})
    first = keyed(service.root).post(f"/admin/accounts{path}", body)
    after = stored(service)

    again = keyed(service.root).post(f"/admin/accounts{path}", body)

    secret = first.result["user_key"]
    assert secret.startswith("strandline_")
    assert (again.result, replayed(again)) == ({**first.result, "user_key": ""}, True)
    assert secret not in str(service.world.items.rows())
    assert stored(service) == after


def test_what_is_read_is_not_kept(service: Service, mia: Client) -> None:
    keyed(mia).post("/search/find", {"query": "cello"})
    (row,) = service.world.rows("REPLAYS#")
    assert (row["state"], row["body"], row["object"]) == ("done", None, None)


def test_what_is_kept_expires(service: Service, mia: Client) -> None:
    keyed(mia).append("s", "a")
    (row,) = service.world.rows("REPLAYS#acme/mia")
    assert row["expires_at"] == int(service.world.clock.now().timestamp()) + DAY


# ---- costs


def test_without_a_key_nothing_changes(service: Service, mia: Client) -> None:
    mia.append("s", "warm")
    _, calls = counted(service.world, lambda: mia.append("s", "a"))
    assert calls == {"objects.put": 1}


def test_a_key_costs_two_table_writes_and_a_replay_one_and_a_read(service: Service, mia: Client) -> None:
    mia.append("s", "warm")
    _, first = counted(service.world, lambda: keyed(mia).append("s", "a"))
    _, again = counted(service.world, lambda: keyed(mia).append("s", "a"))
    assert first == {"items.put": 1, "objects.put": 1, "items.update": 1}
    assert again == {"items.put": 1, "items.get": 1}
