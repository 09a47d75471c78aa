"""ingest: requests from the ingest queue join their session, as many as possible with one write.

in             AppendRequest of one session, in the order of the queue (it is FIFO, its group is the session)
out            the error of each, or None
commit point   append's: CAS PUT of the session head, one for all of them; another for each 100 messages
on duplicate   append's: the ids of messages follow from the request, so nothing is stored again
on crash       the messages come again; as on duplicate
deletion       a request that was sent before its session was deleted went with it: it begins no new one
order          nothing overtakes a request that is to come again: what stands behind it comes again too. One that can
               never be stored holds nobody back: it fails alone
"""

from collections.abc import Iterable, Iterator, Sequence

from strandline.domain.errors import StrandlineError
from strandline.domain.message import MAX_BATCH
from strandline.pipeline.append import AppendRequest, SentBeforeDeletion, run_append
from strandline.pipeline.services import Services

Outcome = StrandlineError | None


def run_ingest(services: Services, requests: Sequence[AppendRequest]) -> list[Outcome]:
    """Appends the requests, all of one session, in order; answers the error of each, or None."""
    return _in_order(services, _runs(requests))


def _runs(requests: Iterable[AppendRequest]) -> Iterator[list[AppendRequest]]:
    """Neighbours that fit into one append."""
    run: list[AppendRequest] = []
    for request in requests:
        if run and sum(len(r.messages) for r in (*run, request)) > MAX_BATCH:
            yield run
            run = []
        run.append(request)
    if run:
        yield run


def _in_order(services: Services, runs: Iterable[Sequence[AppendRequest]]) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for run in runs:
        last = outcomes[-1] if outcomes else None
        if last is not None and last.retryable:
            outcomes += [last] * len(run)
        else:
            outcomes += _together(services, run)
    return outcomes


def _together(services: Services, run: Sequence[AppendRequest]) -> list[Outcome]:
    """One write for all. When something in them can never be stored, each alone, to see which it is."""
    try:
        run_append(services, _joined(services, run))
    except SentBeforeDeletion:
        return [None] if len(run) == 1 else _each(services, run)
    except StrandlineError as error:
        if error.retryable or len(run) == 1:
            return [error] * len(run)
        return _each(services, run)
    return [None] * len(run)


def _each(services: Services, run: Sequence[AppendRequest]) -> list[Outcome]:
    return _in_order(services, [[request] for request in run])


def _joined(services: Services, run: Sequence[AppendRequest]) -> AppendRequest:
    messages = [message for request in run for message in request.named(services.ids.new)]
    sent = min((request.sent_at for request in run if request.sent_at), default=None)
    return AppendRequest(run[0].owner, run[0].session_id, messages, sent_at=sent)
