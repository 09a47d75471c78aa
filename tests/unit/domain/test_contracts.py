"""Queue messages: what one version writes, another reads or refuses."""

import json

import pytest
from pydantic import TypeAdapter, ValidationError

from strandline.domain.contracts import CommitRequested, ExtractRequested, MergeRequested, Message, SessionRef

READ = TypeAdapter[Message](Message)
SESSION = SessionRef(account_id="a", user_id="u", session_id="s", incarnation="i")
MESSAGES: list[Message] = [
    CommitRequested(session=SESSION, keep_recent_count=3),
    ExtractRequested(session=SESSION, archive=1, first=1, last=9, task_id="t"),
    MergeRequested(session=SESSION, archive=1, first=1, last=9, task_id="t"),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda m: m.type)
def test_a_message_reads_back_as_itself(message: Message) -> None:
    assert READ.validate_json(message.model_dump_json()) == message


@pytest.mark.parametrize("message", MESSAGES, ids=lambda m: m.type)
def test_a_field_of_a_later_version_is_ignored(message: Message) -> None:
    body = {**json.loads(message.model_dump_json()), "added_later": 1}
    assert READ.validate_json(json.dumps(body)) == message


@pytest.mark.parametrize(
    "change",
    [{"version": 2}, {"type": "Unknown"}, {"session": None}, {"session": {"account_id": "a"}}],
    ids=repr,
)
@pytest.mark.parametrize("message", MESSAGES, ids=lambda m: m.type)
def test_what_this_version_does_not_know_is_refused(message: Message, change: dict[str, object]) -> None:
    body = {**json.loads(message.model_dump_json()), **change}
    with pytest.raises(ValidationError):
        READ.validate_json(json.dumps(body))


def test_the_owner_is_the_account_and_the_user() -> None:
    assert SESSION.owner == "a/u"


@pytest.mark.parametrize("name", ["task_id", "lease"])
def test_a_name_that_would_swell_the_head_is_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        CommitRequested.model_validate({"session": SESSION.model_dump(), name: "x" * 65})
