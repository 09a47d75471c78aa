"""What schemathesis does before it sends a request; named in schemathesis.toml."""

import itertools
from typing import Any

import schemathesis

# Generated ones are few: with all of them nearly every request would act as a user that a request before it has
# erased, or end at "another body was sent with this key".
SELDOM = ("Idempotency-Key", "X-Strandline-Account", "X-Strandline-User")
KEPT = 10

_sent = itertools.count()


@schemathesis.hook
def before_call(_context: Any, case: Any, _kwargs: Any) -> None:
    """Keeps these headers in one request of ten, and leaves the others to what the command line says."""
    if next(_sent) % KEPT:
        for name in SELDOM:
            (case.headers or {}).pop(name, None)
