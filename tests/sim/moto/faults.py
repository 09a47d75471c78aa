"""The ways in which one call to AWS can go wrong, as botocore meets them."""

from collections.abc import Mapping

from botocore.awsrequest import AWSResponse
from botocore.exceptions import ConnectTimeoutError, ReadTimeoutError
from moto.core.botocore_stubber import MockRawResponse

from tests.pipeline.trips import Killed
from tests.sim.moto.wire import NEVER, Attempt, Fault

A_FEW_CALLS = 4


def not_sent(attempt: Attempt) -> AWSResponse:
    raise ConnectTimeoutError(endpoint_url=attempt.request.url)


def no_answer(attempt: Attempt) -> AWSResponse:
    """Done, as often as the SDK sends it, and never heard of again."""
    attempt.send()
    raise ReadTimeoutError(endpoint_url=attempt.request.url)


def unavailable(attempt: Attempt) -> AWSResponse:
    """Done, and called a failure once: where the SDK may, it sends again."""
    answer = attempt.send()
    return answer if attempt.number > 1 else error(attempt, 503, "ServiceUnavailable")


def internal_error(attempt: Attempt) -> AWSResponse:
    """Done, and called a failure each time."""
    attempt.send()
    return error(attempt, 500, "InternalError")


def refused(attempt: Attempt) -> AWSResponse:
    """Not done: S3's 409 under a condition, a throttle in the service's own words elsewhere."""
    return error(attempt, *_refusal(attempt))


def killed_before(attempt: Attempt) -> AWSResponse:
    raise Killed


def killed_after(attempt: Attempt) -> AWSResponse:
    attempt.send()
    raise Killed


def duplicated(attempt: Attempt) -> AWSResponse:
    """Arrives twice; the second answer is the one that is heard."""
    attempt.send()
    return attempt.send()


def late(calls: int) -> Fault:
    """The first attempt is not heard of, and arrives `calls` calls later; the SDK's own repeats arrive at once."""

    def fault(attempt: Attempt) -> AWSResponse:
        if attempt.number > 1:
            return attempt.send()
        attempt.hold(calls)
        raise ReadTimeoutError(endpoint_url=attempt.request.url)

    return fault


FAULTS: Mapping[str, Fault] = {
    "not sent": not_sent,
    "no answer, done": no_answer,
    "503, done": unavailable,
    "500, done": internal_error,
    "refused": refused,
    "killed before": killed_before,
    "killed after": killed_after,
    "duplicated": duplicated,
    "late": late(A_FEW_CALLS),
    "very late": late(NEVER),
}


def harms_reads(kind: str) -> bool:
    """Whether a read can tell the fault from others: it has no effect that could be lost, late or doubled."""
    return kind in ("not sent", "refused", "killed before")


_THROTTLES: Mapping[str, tuple[int, str]] = {
    "s3": (503, "SlowDown"),
    "dynamodb": (400, "ProvisionedThroughputExceededException"),
    "sqs": (400, "RequestThrottled"),
    "eventbridge": (400, "ThrottlingException"),
}


def _refusal(attempt: Attempt) -> tuple[int, str]:
    conditional = attempt.request.method != "GET" and {"if-match", "if-none-match"} & {
        name.lower() for name in attempt.request.headers
    }
    return (409, "ConditionalRequestConflict") if conditional else _THROTTLES[attempt.service]


def error(attempt: Attempt, status: int, code: str) -> AWSResponse:
    """An error in the service's form."""
    if attempt.service == "s3":
        text = f"<Error><Code>{code}</Code><Message>made up</Message></Error>"
    else:
        text = f'{{"__type":"com.amazonaws#{code}","message":"made up"}}'
    return AWSResponse(attempt.request.url, status, {}, MockRawResponse(text))
