"""Sessions of ADK: state and its scopes; made, listed and deleted; whose they are."""

import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from strandline_sdk import ApiError, Client

pytest.importorskip("google.adk", reason="`make frameworks` has the frameworks' packages")

from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.sessions.session import Session

from strandline_sdk.frameworks.adk import StrandlineSessionService
from tests.frameworks.adk_world import AT, TYPED, append, changing, create, event, get, of, run, stored, texts

Connect = Callable[..., Client]


@pytest.fixture
def service(root: Client) -> StrandlineSessionService:
    return StrandlineSessionService(root)


SCOPES = {
    **TYPED,
    **{f"app:{key}": value for key, value in TYPED.items()},
    **{f"user:{key}": value for key, value in TYPED.items()},
}


def same_types(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def test_state_of_every_scope_keeps_its_types(service: StrandlineSessionService) -> None:
    assert same_types(create(service, state=SCOPES).state, SCOPES)
    assert same_types(get(service).state, SCOPES)
    again = create(service, "by events")
    append(service, again, changing(**SCOPES))
    assert same_types(get(service, "by events").state, SCOPES)
    assert same_types(run(service.get_user_state(**of())), TYPED)
    assert run(service.get_user_state(**of("bob"))) == {}


def test_scopes_reach_as_far_as_they_say(service: StrandlineSessionService) -> None:
    create(service, "s1", state={"x": 1, "user:x": 2, "app:x": 3})
    assert create(service, "s2").state == {"user:x": 2, "app:x": 3}
    assert create(service, "s1", user="bob").state == {"app:x": 3}
    assert create(service, "s1", app="other").state == {}
    append(service, get(service, "s2"), changing(**{"user:x": 4, "x": 5}))
    assert get(service, "s1").state == {"x": 1, "user:x": 4, "app:x": 3}


def test_temp_state_is_seen_and_never_stored(service: StrandlineSessionService, root: Client) -> None:
    session = create(service, state={"temp:given": "canary-0", "kept": 1})
    assert session.state == {"kept": 1}
    append(service, session, changing(**{"temp:t": "canary-1", "user:u": 1, "s": 2}))
    assert session.state["temp:t"] == "canary-1"
    assert "temp:t" not in session.events[-1].actions.state_delta
    append(service, session, event("later"))
    assert get(service).state == {"kept": 1, "user:u": 1, "s": 2}
    user = root.acting_for("adk!shop!ana")
    everything = json.dumps([user.session("s"), stored(root), list(user.memories(full=True))])
    assert "canary" not in everything
    # what is shared stands in one place only
    assert "user:" not in json.dumps(user.session("s").get("metadata"))


def test_a_large_state_to_begin_with(service: StrandlineSessionService) -> None:
    state = {"text": "x" * 40_000, "user:n": 1}
    assert create(service, state=state).state == state
    append(service, get(service), changing(n=2))
    found = get(service)
    assert (found.state, len(found.events)) == ({**state, "n": 2}, 1)


def test_a_state_that_somebody_reads_in_the_bucket(service: StrandlineSessionService, root: Client) -> None:
    create(service, state={"user:language": "pt", "app:motto": "Ahoy"})
    page = root.acting_for("adk!shop!ana").memory("adk/state.md")["content"]
    assert page == '# State\n\n\n```json\n{\n  "language": "pt"\n}\n```\n'
    assert '  "motto": "Ahoy"' in root.acting_for("adk!shop").memory("adk/state.md")["content"]


# ---- sessions


def test_a_session_that_is_there_is_not_made_again(service: StrandlineSessionService) -> None:
    append(service, create(service, state={"x": 1, "user:x": 1}), event("1"))
    with pytest.raises(AlreadyExistsError):
        create(service, state={"x": 2, "user:x": 2})
    with pytest.raises(AlreadyExistsError):
        create(service, "  s ")
    found = get(service)
    assert (texts(found.events), found.state) == (["1"], {"x": 1, "user:x": 1})


@pytest.mark.parametrize("blank", [None, "", "  \t"])
def test_a_session_without_an_id_gets_one(service: StrandlineSessionService, blank: str | None) -> None:
    first, second = create(service, blank), create(service, blank)
    assert first.id != second.id
    assert len(first.id) == 36


def test_a_deleted_session_is_gone_and_takes_no_more(service: StrandlineSessionService, root: Client) -> None:
    session = create(service, state={"user:kept": 1, "gone": 1})
    append(service, session, event("1"))
    run(service.delete_session(**of(), session_id="s"))
    run(service.delete_session(**of(), session_id="s"))
    assert get(service) is None
    with pytest.raises(SessionNotFoundError):
        append(service, session, event("2"))
    with pytest.raises(ApiError, match="NOT_FOUND"):
        stored(root)
    again = create(service)
    assert (again.events, again.state) == ([], {"user:kept": 1})


@pytest.mark.parametrize("before", [0, 1])
def test_a_session_that_is_deleted_under_an_append_stays_so(
    service: StrandlineSessionService, root: Client, monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    session = create(service)
    append(service, session, *(event(str(n)) for n in range(before)))

    def late(client: Client, *args: Any, **kwargs: Any) -> Any:
        monkeypatch.undo()
        client.delete_session("s")
        return client.append(*args, **kwargs)

    monkeypatch.setattr(Client, "append", late)
    with pytest.raises(SessionNotFoundError):
        append(service, session, event("late"))
    with pytest.raises(ApiError, match="NOT_FOUND"):
        stored(root)
    assert create(service).events == []


def test_what_never_was_is_none(service: StrandlineSessionService) -> None:
    assert get(service) is None
    assert run(service.list_sessions(**of())).sessions == []
    with pytest.raises(SessionNotFoundError):
        append(service, Session(id="s", **of()), event("1"))


def test_a_session_of_another_kind_is_none_of_adk(service: StrandlineSessionService, root: Client) -> None:
    root.acting_for("adk!shop!ana").append("s", {"role": "user", "content": "by HTTP"})
    assert get(service) is None
    assert run(service.list_sessions(**of())).sessions == []


def test_sessions_are_listed_by_their_last_use(service: StrandlineSessionService) -> None:
    sessions = [create(service, name) for name in ("s1", "s2", "s3")]
    create(service, "s4", user="bob")
    create(service, "s5", app="other")
    append(service, sessions[0], event("1", at=AT))
    mine = run(service.list_sessions(**of())).sessions
    assert [(s.id, s.events) for s in mine] == [("s2", []), ("s3", []), ("s1", [])]
    everybody = run(service.list_sessions(app_name="shop")).sessions
    assert [(s.user_id, s.id) for s in everybody] == [
        ("ana", "s2"),
        ("ana", "s3"),
        ("bob", "s4"),
        ("ana", "s1"),
    ]
    assert run(service.list_sessions(app_name="nothing")).sessions == []


TENANTS = [
    ("a", "b:c", "d"),
    ("a:b", "c", "d"),
    ("a!b", "c", "d"),
    ("a", "b!c", "d"),
    ("a", "*", "d"),
    ("a", "b/c", "d/e%2F"),
    ("a", "User", "s"),
    ("应用", "用户", "会话"),
    ("x" * 200, "y" * 200, "z" * 200),
    ("x" * 200, "y" * 201, "z" * 200),
]


def test_tenants_of_any_name_are_apart(service: StrandlineSessionService) -> None:
    for app, user, name in TENANTS:
        session = create(service, name, {"user:of": [app, user]}, app=app, user=user)
        append(service, session, event(f"{app} {user} {name}"))
    for app, user, name in TENANTS:
        found = get(service, name, app=app, user=user)
        assert texts(found.events) == [f"{app} {user} {name}"]
        assert found.state == {"user:of": [app, user]}
        (listed,) = run(service.list_sessions(app_name=app, user_id=user)).sessions
        assert (listed.app_name, listed.user_id, listed.id) == (app, user, name)
    assert len(run(service.list_sessions(app_name="a")).sessions) == 5


def test_a_users_key_cannot_stand_for_all_users(connect: Connect, root: Client) -> None:
    account = f"acct-{uuid4().hex[:12]}"
    admin = connect(account=account, user="nobody")
    made = admin._write("POST", f"/admin/accounts/{account}/users", {"user_id": "ana"})
    service = StrandlineSessionService(connect(made["user_key"]))
    with pytest.raises(PermissionError, match="admin"):
        create(service)


def test_sessions_are_created_with_the_settings(root: Client) -> None:
    service = StrandlineSessionService(root, {"auto_commit_policy": {"message_count_threshold": 7}})
    create(service)
    policy = root.acting_for("adk!shop!ana").session("s").get("auto_commit_policy") or {}
    assert policy["message_count_threshold"] == 7
