"""The key of an endpoint, from where it is kept: a parameter of SSM or a secret of Secrets Manager, by name.

Read when it is first needed and then kept by the warm function; it stands in no variable of the environment.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from strandline.adapters import aws
from strandline.adapters.language_model import Rejected

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_ssm import SSMClient


class Key(Protocol):
    """A secret that is read late and shown to nobody."""

    def read(self) -> str:
        """The key; kept after the first time. Raises Rejected when it cannot be had."""

    def forget(self) -> None:
        """The endpoint did not take it: read it again next time, it may have been changed."""


class _Kept:
    def __init__(self, fetch: Callable[[], str], where: str) -> None:
        self._fetch = fetch
        self._where = where
        self._key: str | None = None

    def __repr__(self) -> str:
        return f"<key from {self._where}>"

    def read(self) -> str:
        if self._key is None:
            self._key = self._fetched()
        return self._key

    def forget(self) -> None:
        self._key = None

    def _fetched(self) -> str:
        try:
            key = self._fetch().strip()
        except ClientError as error:
            raise Rejected(f"its key in {self._where}: {aws.code_of(error)}", final=False) from error
        except BotoCoreError as error:
            raise Rejected(f"its key in {self._where}: {type(error).__name__}", final=False) from error
        if not key or not key.isascii() or not key.isprintable():
            raise Rejected(f"its key in {self._where} is empty or no key", final=False)
        return key


def ssm_parameter(name: str, client: Callable[[Config], "SSMClient"] = aws.ssm) -> Key:
    """A key in an SSM parameter, decrypted."""

    def fetch() -> str:
        answer: Any = client(aws.REPEATING).get_parameter(Name=name, WithDecryption=True)
        return str(answer["Parameter"]["Value"])

    return _Kept(fetch, f"SSM parameter {name}")


def secret(name: str, client: Callable[[Config], "SecretsManagerClient"] = aws.secretsmanager) -> Key:
    """A key that is the whole text of a secret in Secrets Manager."""

    def fetch() -> str:
        return str(client(aws.REPEATING).get_secret_value(SecretId=name).get("SecretString", ""))

    return _Kept(fetch, f"secret {name}")
