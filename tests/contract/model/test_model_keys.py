"""The key of an endpoint: read once from where it is kept, and never where it could leak."""

from typing import Any

import pytest
from botocore.config import Config

from strandline.adapters import keys
from strandline.adapters.clock import SystemClock
from strandline.adapters.openai_compatible import Completion, OpenAiCompatible
from strandline.domain.errors import ExtractionFailed
from tests.contract.model.setting import KEY, SECONDS, TALK, patient
from tests.fakes.chat_server import ChatServer

pytestmark = pytest.mark.contract


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
