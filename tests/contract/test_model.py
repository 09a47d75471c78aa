"""`ports.Model`: the rules, an OpenAI-compatible endpoint and Bedrock, the latter two over real HTTP on loopback.

Bedrock is botocore's own client, so the request is what Bedrock would be sent and the answer is parsed as from there.
"""

import contextlib
import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.config import Config
from hypothesis import given, settings
from hypothesis import strategies as st

from strandline.adapters import keys
from strandline.adapters.bedrock import Bedrock, Inference
from strandline.adapters.clock import SystemClock
from strandline.adapters.language_model import Endpoint, LanguageModel, Patience
from strandline.adapters.openai_compatible import Completion, OpenAiCompatible
from strandline.domain.candidates import Candidates, check
from strandline.domain.errors import AnswerCut, ExtractionFailed
from strandline.domain.extraction import Extraction, Transcript, Turn
from strandline.domain.memory_policy import MemoryPolicy
from strandline.entry.wiring import RuleModel
from strandline.ports import Clock, Model
from tests.contract.conftest import aws_session
from tests.fakes import FakeClock, FakeIds
from tests.fakes import chat_server as chat
from tests.fakes.chat_server import ChatServer, Notes

pytestmark = pytest.mark.contract

AT = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
SECRET_WORD = "Mississippi"
KEY = "local-test-key-" + "0123"
SECONDS = 0.3


def transcript(*texts: str, speaker: str | None = None, role: str = "user") -> Transcript:
    turns = [Turn(seq=n, role=role, speaker=speaker, text=t, at=AT) for n, t in enumerate(texts, start=1)]
    return Transcript(session_id="s", archive=1, turns=tuple(turns))


TALK = transcript(f"I live by the {SECRET_WORD}.", "My sister Ana and I row every Sunday.")


@dataclass
class Setting:
    """A language model, the server behind it and the clock it waits by."""

    kind: str
    server: ChatServer
    clock: FakeClock
    model: LanguageModel

    def extract(self, *turns: chat.Turn, of: Transcript = TALK) -> Extraction:
        self.server.turns = list(turns)
        return self.model.extract(of)

    def fails(self, *turns: chat.Turn) -> ExtractionFailed:
        with pytest.raises(ExtractionFailed) as caught:
            self.extract(*turns)
        assert SECRET_WORD not in str(caught.value)
        return caught.value

    @property
    def calls(self) -> int:
        return len(self.server.requests)


def endpoint(kind: str, server: ChatServer, clock: Clock, **said: Any) -> Endpoint:
    if kind == "bedrock":

        def client(config: Config) -> Any:
            return aws_session().create_client(
                "bedrock-runtime", "us-east-1", endpoint_url=server.url, config=config
            )

        return Bedrock(Inference("anthropic.some-model-v1:0", 4096, **said), SECONDS, clock, client)
    completion = Completion("some-model", 4096, **said)
    return OpenAiCompatible(f"{server.url}/v1", completion, FixedKey(), SECONDS, clock)


class FixedKey:
    def __init__(self) -> None:
        self.forgotten = 0

    def read(self) -> str:
        return KEY

    def forget(self) -> None:
        self.forgotten += 1


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(chat.listens(chat.remembers)) as running:
        yield running


@pytest.fixture(params=["openai", "bedrock"])
def setting(request: pytest.FixtureRequest, server: ChatServer) -> Setting:
    clock = FakeClock()
    made = endpoint(request.param, server, clock)
    return Setting(request.param, server, clock, LanguageModel(made, Patience(10, 100), clock, FakeIds()))


@pytest.fixture(params=["rules", "openai", "bedrock"])
def model(request: pytest.FixtureRequest, server: ChatServer) -> Model:
    if request.param == "rules":
        return RuleModel()
    clock = FakeClock()
    return LanguageModel(endpoint(request.param, server, clock), Patience(10, 100), clock, FakeIds())


def checked(extraction: Extraction, of: Transcript) -> Candidates:
    return check(extraction, of, MemoryPolicy(), "0123456789ab")


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
    assert extractor in ("rules/1", "openai:some-model/1", "bedrock:anthropic.some-model-v1:0/1")


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
        "overview",
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
    assert usage.models == (setting.model.name.removesuffix("/1"),)


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


GOOD = json.dumps(Notes().answer)
NO_ANSWER = {
    "prose": (chat.writes(f"Sure! The user lives by the {SECRET_WORD}."), "text, not the JSON"),
    "cut JSON": (chat.says(GOOD[: len(GOOD) // 2]), "not valid JSON"),
    "nothing": (chat.writes(""), "empty"),
    "null": (chat.writes(None), "empty"),
    "a list": (chat.writes(f"[{GOOD}]"), "not the object"),
    "another schema": (chat.says({"facts": [SECRET_WORD]}), "no abstract"),
    "lists that are none": (chat.says({**Notes().answer, "events": {"a": SECRET_WORD}}), "no list of events"),
    "no lists": (chat.says({"abstract": SECRET_WORD, "overview": "x"}), "no list of profile"),
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


# ---- endpoints that misbehave


def test_a_storm_of_429_ends_with_the_deadline(setting: Setting) -> None:
    error = setting.fails(chat.fails(429, "ThrottlingException"))
    assert setting.calls == 5
    assert error.usage is not None
    assert (error.usage.calls, error.final) == (5, False)
    assert "429" in str(error) or "ThrottlingException" in str(error)
    assert [0.5 * 2**n <= wait <= 2**n for n, wait in enumerate(setting.clock.slept)] == [True] * 4


def test_retry_after_is_kept(setting: Setting) -> None:
    setting.extract(chat.fails(429, Retry_After="7"), chat.listens(chat.remembers))
    assert (setting.calls, setting.clock.slept) == (2, [7.0])


def test_retry_after_as_a_date(setting: Setting) -> None:
    setting.extract(chat.fails(503, Retry_After="Thu, 01 Jan 2026 00:00:09 GMT"), chat.says(Notes().answer))
    assert setting.clock.slept == [9.0]


@pytest.mark.parametrize("wait", ["91", "1e300", "99999999999999999999"])
def test_a_retry_after_beyond_the_deadline_is_not_waited_for(setting: Setting, wait: str) -> None:
    assert not setting.fails(chat.fails(429, Retry_After=wait)).final
    assert (setting.calls, setting.clock.slept) == (1, [])


def test_a_retry_after_that_is_none_is_not_believed(setting: Setting) -> None:
    setting.extract(chat.fails(429, Retry_After="soon"), chat.says(Notes().answer))
    assert (setting.calls, len(setting.clock.slept)) == (2, 1)


@pytest.mark.parametrize("status", [500, 502, 503, 504, 529])
def test_a_server_error_is_asked_again(setting: Setting, status: int) -> None:
    setting.extract(chat.fails(status), chat.fails(status), chat.says(Notes().answer))
    assert setting.calls == 3


@pytest.mark.parametrize(
    ("status", "final"), [(400, True), (401, False), (403, False), (404, False), (302, False)]
)
def test_a_refused_request_is_not_asked_again(setting: Setting, status: int, final: bool) -> None:
    error = setting.fails(chat.fails(status, "some_code", Location="/elsewhere"))
    assert (setting.calls, error.final) == (1, final)
    assert "some_code" in str(error)


def test_a_server_that_hangs_is_left_in_time(setting: Setting) -> None:
    error = setting.fails(chat.hangs)
    assert "no answer: ReadTimeoutError" in str(error)
    assert setting.calls == 5  # by the model's clock no time has passed


def test_a_hang_uses_up_the_time_for_another_call(server: ChatServer) -> None:
    clock = SystemClock()
    server.turns = [chat.hangs]
    model = LanguageModel(
        endpoint("openai", server, clock), Patience(SECONDS, 1.5 * SECONDS), clock, FakeIds()
    )
    with pytest.raises(ExtractionFailed, match="ReadTimeoutError"):
        model.extract(TALK)
    assert len(server.requests) == 1


def test_an_answer_after_the_time_out_is_nobodys(setting: Setting) -> None:
    late = chat.late({**Notes().answer, "abstract": "The late one."})

    def release_and_say(handler: Any, asked: chat.Asked) -> None:
        handler.chat.released.set()
        chat.says(Notes().answer)(handler, asked)

    assert setting.extract(late, release_and_say).abstract == "They talked."
    assert setting.extract(chat.says({**Notes().answer, "abstract": "The third."})).abstract == "The third."


def test_a_connection_that_breaks_off_is_asked_again(setting: Setting) -> None:
    assert setting.extract(chat.breaks_off, chat.says(Notes().answer)).abstract == "They talked."
    assert setting.calls == 2


def test_a_server_that_is_not_there(setting: Setting) -> None:
    setting.server.__exit__()
    error = setting.fails(chat.hangs)
    assert "no answer" in str(error)
    assert not error.final


@pytest.mark.parametrize("body", [b"<html>gateway</html>", b"", b"{}", b'{"choices":[]}', b'{"choices":7}'])
def test_an_answer_of_another_protocol(setting: Setting, body: bytes) -> None:
    assert not setting.fails(chat.sends(200, body)).final


NEARLY = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 10**6) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *(
                        "choices",
                        "message",
                        "content",
                        "tool_calls",
                        "function",
                        "arguments",
                        "usage",
                        "refusal",
                    ),
                    *(
                        "finish_reason",
                        "prompt_tokens",
                        "output",
                        "stopReason",
                        "toolUse",
                        "input",
                        "inputTokens",
                    ),
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@pytest.fixture(scope="module")
def long_running() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


@settings(max_examples=50, deadline=None)
@given(one=NEARLY, other=NEARLY)
def test_any_completion_is_an_extraction_or_a_failed_attempt(
    long_running: ChatServer, one: Any, other: Any
) -> None:
    model = patient(endpoint("openai", long_running, SystemClock()))
    for body in (
        one,
        {"choices": [{"message": one, "finish_reason": other}], "usage": other},
        {"choices": [{"message": {"tool_calls": one, "content": other}}]},
    ):
        long_running.turns = [chat.sends(200, body)]
        with contextlib.suppress(ExtractionFailed):
            model.extract(TALK)


# ---- OpenAI-compatible only


@pytest.fixture
def openai(server: ChatServer) -> OpenAiCompatible:
    made = endpoint("openai", server, SystemClock())
    assert isinstance(made, OpenAiCompatible)
    return made


def patient(made: Endpoint) -> LanguageModel:
    clock = FakeClock()
    return LanguageModel(made, Patience(10, 100), clock, FakeIds())


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


# ---- keys


def test_a_key_is_read_once(moto_backend: Any) -> None:
    ssm = moto_backend.client("ssm")
    ssm.put_parameter(Name="/strandline/key", Value=f"{KEY}\n", Type="SecureString")
    made = []

    def client(config: Config) -> Any:
        made.append(config)
        return ssm

    key = keys.ssm_parameter("/strandline/key", client)
    assert [key.read(), key.read()] == [KEY, KEY]
    assert len(made) == 1
    assert KEY not in repr(key)
    key.forget()
    ssm.put_parameter(Name="/strandline/key", Value="another", Type="SecureString", Overwrite=True)
    assert key.read() == "another"


def test_a_key_from_secrets_manager(moto_backend: Any) -> None:
    secrets = moto_backend.client("secretsmanager")
    secrets.create_secret(Name="model/key", SecretString=KEY)
    assert keys.secret("model/key", lambda config: secrets).read() == KEY


@pytest.mark.parametrize("value", ["  ", "two\nlines", "schlüssel"])
def test_a_key_that_is_none_never_reaches_a_header(moto_backend: Any, server: ChatServer, value: str) -> None:
    secrets = moto_backend.client("secretsmanager")
    secrets.create_secret(Name="model/key", SecretString=value)
    key = keys.secret("model/key", lambda config: secrets)
    made = OpenAiCompatible(server.url, Completion("m", 100), key, SECONDS, SystemClock())
    with pytest.raises(ExtractionFailed, match="its key in secret model/key is empty or no key"):
        patient(made).extract(TALK)
    assert server.requests == []


def test_a_key_that_is_not_there(moto_backend: Any, server: ChatServer) -> None:
    key = keys.ssm_parameter("/none", lambda config: moto_backend.client("ssm"))
    made = OpenAiCompatible(server.url, Completion("m", 100), key, SECONDS, SystemClock())
    with pytest.raises(ExtractionFailed, match="SSM parameter /none: ParameterNotFound") as caught:
        patient(made).extract(TALK)
    assert not caught.value.final
