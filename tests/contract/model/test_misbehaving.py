"""Endpoints that are busy, hang, break off, send nonsense: what is repeated, how long, and what comes of it."""

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strandline.adapters.clock import SystemClock
from strandline.adapters.language_model import LanguageModel, Patience
from strandline.domain.errors import ExtractionFailed
from tests.contract.model.setting import (
    SECONDS,
    TALK,
    Setting,
    endpoint,
    patient,
)
from tests.fakes import FakeIds
from tests.fakes import chat_server as chat
from tests.fakes.chat_server import ChatServer, Notes

pytestmark = pytest.mark.contract


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
