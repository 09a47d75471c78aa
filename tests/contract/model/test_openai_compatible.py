"""What only OpenAI-compatible endpoints do."""

import pytest

from strandline.adapters.clock import SystemClock
from strandline.adapters.openai_compatible import Completion, OpenAiCompatible
from strandline.domain.errors import ExtractionFailed
from tests.contract.model.setting import GOOD, SECONDS, TALK, FixedKey, endpoint, patient
from tests.fakes import chat_server as chat
from tests.fakes.chat_server import ChatServer, Notes

pytestmark = pytest.mark.contract


@pytest.fixture
def openai(server: ChatServer) -> OpenAiCompatible:
    made = endpoint("openai", server, SystemClock())
    assert isinstance(made, OpenAiCompatible)
    return made


@pytest.mark.parametrize("turn", [chat.endless, chat.dribbles])
def test_a_body_without_end_is_left(openai: OpenAiCompatible, server: ChatServer, turn: chat.Turn) -> None:
    server.turns = [turn]
    with pytest.raises(ExtractionFailed, match=r"more than 4194304 bytes|did not end in time"):
        patient(openai).extract(TALK)


def test_a_newer_name_of_max_tokens_is_learnt(openai: OpenAiCompatible, server: ChatServer) -> None:
    refusal = {"error": {"message": "no", "code": "unsupported_parameter", "param": "max_tokens"}}
    server.turns = [chat.sends(400, refusal), chat.says(Notes().answer)]
    model = patient(openai)
    model.extract(TALK)
    model.extract(TALK)
    sent = [{"max_tokens", "max_completion_tokens"} & asked.body.keys() for asked in server.requests]
    assert sent == [{"max_tokens"}, {"max_completion_tokens"}, {"max_completion_tokens"}]


def test_a_key_that_was_not_taken_is_read_again(server: ChatServer) -> None:
    key = FixedKey()
    server.turns = [chat.fails(401, "invalid_api_key")]
    made = OpenAiCompatible(server.url, Completion("m", 100), key, SECONDS, SystemClock())
    with pytest.raises(ExtractionFailed, match="invalid_api_key"):
        patient(made).extract(TALK)
    assert key.forgotten == 1


def test_json_schema_where_a_server_knows_no_tools(server: ChatServer) -> None:
    server.turns = [chat.writes(GOOD)]
    patient(endpoint("openai", server, SystemClock(), output="json_schema", temperature=None)).extract(TALK)
    body = server.requests[0].body
    assert not body.keys() & {"tools", "tool_choice", "temperature"}
    assert body["response_format"]["type"] == "json_schema"
    assert body["response_format"]["json_schema"]["schema"]["additionalProperties"] is False


def test_a_refusal_in_so_many_words(openai: OpenAiCompatible, server: ChatServer) -> None:
    message = {"role": "assistant", "content": None, "refusal": "I cannot."}
    server.turns = [chat.sends(200, {"choices": [{"message": message, "finish_reason": "stop"}]})]
    with pytest.raises(ExtractionFailed, match="refused"):
        patient(openai).extract(TALK)
