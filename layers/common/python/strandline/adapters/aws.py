"""Clients of AWS services, and what their errors mean to a port.

botocore is used without boto3's session: nothing here needs resources or transfers, and the import is a third
shorter. A client is made when it is first needed; the two of one service share their loaded model (5 ms for the
second).

A call that botocore could not finish, or that the service answered with a 5xx or a throttle, is `Ambiguous`. An
error that repeating cannot mend (access denied, no such bucket, a malformed request) is a fault of the deployment
or of this code and passes as the SDK raised it.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, overload

import botocore.session
from botocore.config import Config
from botocore.exceptions import (
    ChecksumError,
    ClientError,
    ConnectionError,
    FlexibleChecksumError,
    HTTPClientError,
    IncompleteReadError,
)
from botocore.handlers import add_expect_header
from botocore.parsers import ResponseParserError

from strandline.adapters import meter
from strandline.ports import Ambiguous, StoreError

if TYPE_CHECKING:
    from mypy_boto3_bedrock_runtime import BedrockRuntimeClient
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_ssm import SSMClient

ONCE = Config(
    connect_timeout=2,
    read_timeout=10,
    retries={"mode": "standard", "total_max_attempts": 1},
    max_pool_connections=50,
    parameter_validation=False,  # a sixth of a small request's CPU; mypy checks the same arguments
    request_checksum_calculation="when_required",  # the S3 adapter adds its own, which is cheaper
    s3={
        "payload_signing_enabled": False
    },  # TLS and the checksum protect the body; a SHA-256 costs 60 µs for 64 KiB
)
"""For conditional calls: repeated by the SDK, a success whose answer was lost would report a failed condition."""

REPEATING = ONCE.merge(Config(retries={"mode": "standard", "total_max_attempts": 3}))
"""For calls that may happen twice."""

TRANSIENT = frozenset(
    {
        "InternalError",
        "InternalServerError",
        "PriorRequestNotComplete",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestTimeout",
        "RequestTimeoutException",
        "ServiceUnavailable",
        "SlowDown",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
    }
)
_TRANSPORT = (
    ChecksumError,
    ConnectionError,
    FlexibleChecksumError,
    HTTPClientError,
    IncompleteReadError,
    ResponseParserError,
)

logging.getLogger("botocore").setLevel(logging.WARNING)  # it tells of each endpoint it finds

_making = Lock()  # botocore sessions are not thread-safe while they make a client; the clients are


@cache
def _session() -> botocore.session.Session:
    return botocore.session.Session()


@overload
def client(service: Literal["s3"], config: Config) -> "S3Client": ...
@overload
def client(service: Literal["dynamodb"], config: Config) -> "DynamoDBClient": ...
@overload
def client(service: Literal["sqs"], config: Config) -> "SQSClient": ...
@overload
def client(service: Literal["bedrock-runtime"], config: Config) -> "BedrockRuntimeClient": ...
@overload
def client(service: Literal["ssm"], config: Config) -> "SSMClient": ...
@overload
def client(service: Literal["secretsmanager"], config: Config) -> "SecretsManagerClient": ...
@overload
def client(service: Literal["events"], config: Config) -> "EventBridgeClient": ...
def client(service: str, config: Config) -> Any:
    """A client by the standard AWS environment: region, credentials, `AWS_ENDPOINT_URL_<SERVICE>`."""
    with _making:
        made = _session().create_client(service, config=config)
    # Expect: 100-continue would cost each PUT a round trip of waiting; our bodies are small
    made.meta.events.unregister("before-call.s3", add_expect_header)
    meter.watch(made)
    return made


def s3(config: Config) -> "S3Client":
    return client("s3", config)


def dynamodb(config: Config) -> "DynamoDBClient":
    return client("dynamodb", config)


def sqs(config: Config) -> "SQSClient":
    return client("sqs", config)


def bedrock_runtime(config: Config) -> "BedrockRuntimeClient":
    return client("bedrock-runtime", config)


def ssm(config: Config) -> "SSMClient":
    return client("ssm", config)


def secretsmanager(config: Config) -> "SecretsManagerClient":
    return client("secretsmanager", config)


def events(config: Config) -> "EventBridgeClient":
    return client("events", config)


def code_of(error: ClientError) -> str:
    return error.response["Error"]["Code"]


def status_of(error: ClientError) -> int:
    return error.response["ResponseMetadata"]["HTTPStatusCode"]


@contextmanager
def store_errors(known: Mapping[str, type[StoreError]] | None = None) -> Iterator[None]:
    """Turns SDK errors into the port's: `known` by error code or HTTP status, the rest as the module says."""
    try:
        yield
    except ClientError as error:
        meaning = _meaning(error, known or {})
        if meaning is None:
            raise
        raise meaning(str(error)) from error
    except _TRANSPORT as error:
        raise Ambiguous(str(error)) from error


def _meaning(error: ClientError, known: Mapping[str, type[StoreError]]) -> type[StoreError] | None:
    code, status = code_of(error), status_of(error)
    meaning = known.get(code) or known.get(str(status))
    if meaning is None and (status >= 500 or status == 429 or code in TRANSIENT):
        return Ambiguous
    return meaning
