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
    """Done, and not heard of; where the SDK may, it sends again and hears."""
    answer = attempt.send()
    if attempt.number > 1:
        return answer
    raise ReadTimeoutError(endpoint_url=attempt.request.url)


def failure(attempt: Attempt) -> AWSResponse:
    """Done each time, and called a failure each time: 503, then 500."""
    attempt.send()
    if attempt.number > 1:
        return error(attempt, 500, "InternalError")
    return error(attempt, 503, "ServiceUnavailable")


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
    "503 and 500, done": failure,
    "refused": refused,
    "killed before": killed_before,
    "killed after": killed_after,
    "duplicated": duplicated,
    "late": late(A_FEW_CALLS),
    "very late": late(NEVER),
}


def harms_reads(kind: str) -> bool:
    """Whether the fault is one of its own for a read: it has no effect that could be lost, late or doubled, and a kill
    beside it is one after the write before."""
    return kind in ("not sent", "refused")


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
