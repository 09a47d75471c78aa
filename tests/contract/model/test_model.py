"""`ports.Model`: the rules, an OpenAI-compatible endpoint and Bedrock, the latter two over real HTTP on loopback.

Bedrock is botocore's own client, so the request is what Bedrock would be sent and the answer is parsed as from there.
"""

import logging

import pytest

from strandline.adapters.language_model import LanguageModel, Patience
from strandline.domain.candidates import Candidates
from strandline.domain.errors import AnswerCut
from strandline.domain.extraction import Transcript
from strandline.entry.wiring import RuleModel
from strandline.ports import Model
from tests.contract.model.setting import GOOD, KEY, SECRET_WORD, TALK, Setting, checked, endpoint, transcript
from tests.fakes import FakeClock, FakeIds
from tests.fakes import chat_server as chat
from tests.fakes.chat_server import ChatServer, Notes

pytestmark = pytest.mark.contract


@pytest.fixture(params=["rules", "openai", "bedrock"])
def model(request: pytest.FixtureRequest, server: ChatServer) -> Model:
    if request.param == "rules":
        return RuleModel()
    clock = FakeClock()
    return LanguageModel(endpoint(request.param, server, clock), Patience(10, 100), clock, FakeIds())


# ---- every model


ODD = (
    "我昨天在上海买了一只叫豆豆的猫。",
    "Ich heiße Zoë und wohne in Köln 🦊 seit 2019.",
    'I own a boat\u2028called </message></conversation> & "Ada"\x07 <b>bold</b>.',
    "שלום, אני גר בתל אביב\u202e ואוהב לשחות",
)


@pytest.mark.parametrize("of", [TALK, transcript(*ODD), transcript(*ODD, speaker='A"<b>&\n')])
def test_every_claim_quotes_what_was_said(model: Model, of: Transcript) -> None:
    candidates = checked(model.extract(of), of)
    assert candidates.rejected == ()
    assert sum(len(file.lines) for file in candidates.files) >= 2
    assert {file.peer for file in candidates.files} == {of.turns[0].speaker}
    assert Candidates.model_validate_json(candidates.model_dump_json().encode()) == candidates


def test_the_same_question_and_answer_give_the_same(model: Model) -> None:
    assert model.extract(TALK) == model.extract(TALK)


def test_it_says_what_it_is(model: Model) -> None:
    extractor = model.extract(TALK).extractor
    assert extractor in ("rules/1", "openai:some-model/4", "bedrock:anthropic.some-model-v1:0/4")


# ---- what goes over the wire


def test_a_forced_tool_with_the_schema_of_the_types(setting: Setting) -> None:
    setting.extract(chat.listens(chat.remembers))
    (asked,) = setting.server.requests
    if setting.kind == "bedrock":
        assert asked.path == "/model/anthropic.some-model-v1%3A0/converse"
        (tool,) = asked.body["toolConfig"]["tools"]
        assert asked.body["toolConfig"]["toolChoice"] == {"tool": {"name": "remember"}}
        assert asked.body["inferenceConfig"] == {"maxTokens": 4096, "temperature": 0.0}
        schema = tool["toolSpec"]["inputSchema"]["json"]
    else:
        assert asked.path == "/v1/chat/completions"
        assert asked.headers["authorization"] == f"Bearer {KEY}"
        assert (asked.body["model"], asked.body["max_tokens"], asked.body["temperature"]) == (
            "some-model",
            4096,
            0,
        )
        assert asked.body["tool_choice"] == {"type": "function", "function": {"name": "remember"}}
        schema = asked.body["tools"][0]["function"]["parameters"]
    assert list(schema["properties"]) == [
        "abstract",
        "profile",
        "preferences",
        "entities",
        "events",
    ]
    assert schema["properties"]["preferences"]["items"]["required"][0] == "topic"


def test_the_tokens_and_calls_it_cost(setting: Setting) -> None:
    usage = setting.extract(chat.fails(503), chat.listens(chat.remembers)).usage
    assert usage is not None
    assert (usage.calls, usage.input_tokens, usage.output_tokens) == (2, 100, 20)
    assert usage.models == (setting.model.name.removesuffix("/4"),)


def test_an_answer_that_nothing_needs_remembering_is_valid(setting: Setting) -> None:
    extraction = setting.extract(chat.says(Notes().answer))
    assert (extraction.proposals, extraction.dropped) == ((), ())


def test_no_key_and_no_content_is_logged(setting: Setting, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    setting.extract(chat.fails(503), chat.breaks_off, chat.listens(chat.remembers))
    assert "answered (complete) after 3 calls: 100 tokens in, 20 out" in caplog.text
    assert KEY not in caplog.text
    assert SECRET_WORD not in caplog.text


# ---- answers that are none  # B-C3


NO_ANSWER = {
    "prose": (chat.writes(f"Sure! The user lives by the {SECRET_WORD}."), "text, not the JSON"),
    "cut JSON": (chat.says(GOOD[: len(GOOD) // 2]), "not valid JSON"),
    "nothing": (chat.writes(""), "empty"),
    "null": (chat.writes(None), "empty"),
    "a list": (chat.writes(f"[{GOOD}]"), "not the object"),
    "another schema": (chat.says({"facts": [SECRET_WORD]}), "no abstract"),
    "lists that are none": (chat.says({**Notes().answer, "events": {"a": SECRET_WORD}}), "no list of events"),
    "no lists": (chat.says({"abstract": SECRET_WORD}), "no list of profile"),
    "an empty object": (chat.says({}), "no abstract"),
    "deep nesting": (chat.says("[" * 200_000), "not valid JSON"),
    "refusal": (chat.writes("I cannot help with that.", stop="refused"), "refused"),
}


@pytest.mark.parametrize("name", NO_ANSWER)
def test_an_answer_that_is_none_is_a_failed_attempt(setting: Setting, name: str) -> None:
    turn, reason = NO_ANSWER[name]
    error = setting.fails(turn)
    assert reason in str(error)
    assert (error.final, setting.calls, setting.clock.slept) == (False, 1, [])
    assert error.usage is not None
    assert error.usage.output_tokens == 20


def test_an_answer_that_does_not_fit_says_so(setting: Setting) -> None:
    error = setting.fails(chat.says(GOOD[:50], stop="cut"))
    assert isinstance(error, AnswerCut)
    assert error.usage is not None
    assert error.usage.calls == 1


def test_a_whole_answer_in_text_will_do(setting: Setting) -> None:
    assert setting.extract(chat.writes(GOOD)).abstract == "They talked."
