"""A language model as the tests ask it: the endpoint, the server behind it, the clock it waits by."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.config import Config

from strandline.adapters.bedrock import Bedrock, Inference
from strandline.adapters.language_model import Endpoint, LanguageModel, Patience
from strandline.adapters.openai_compatible import Completion, OpenAiCompatible
from strandline.domain.admission import check
from strandline.domain.candidates import Candidates
from strandline.domain.errors import ExtractionFailed
from strandline.domain.extraction import Extraction, Transcript, Turn
from strandline.domain.memory_policy import MemoryPolicy
from strandline.ports import Clock
from tests.contract.conftest import aws_session
from tests.fakes import FakeClock, FakeIds
from tests.fakes import chat_server as chat
from tests.fakes.chat_server import ChatServer, Notes

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


GOOD = json.dumps(Notes().answer)


def patient(made: Endpoint) -> LanguageModel:
    clock = FakeClock()
    return LanguageModel(made, Patience(10, 100), clock, FakeIds())


def checked(extraction: Extraction, of: Transcript) -> Candidates:
    return check(extraction, of, MemoryPolicy(), "0123456789ab")
