"""Reads the policies that a rollout is to be tried with, once a snapshot, by the token that came with the request."""

from typing import Any, cast
from urllib.parse import urlsplit

import httpx

from strandline_sdk.rollouts.model import POLICY_TOKEN, ExecuteRequest, PolicySetDocument
from strandline_sdk.rollouts.policies import PolicySet
from strandline_sdk.rollouts.spool import Spool

_SECONDS = 30.0


class PolicyReader:
    """Keeps snapshots in the spool: a restarted service needs no token for what it has taken on."""

    def __init__(self, spool: Spool, transport: httpx.BaseTransport | None = None) -> None:
        self._spool = spool
        self._transport = transport

    def fetch(self, request: ExecuteRequest, token: str | None) -> None:
        """Sees to it that `read` has what it needs. Raises ValueError for policies that cannot be had, or are others
        than the snapshot's; OSError when nobody answers."""
        identity = request["execution_context"]["policy_snapshot_id"]
        if self._spool.snapshot(identity) is not None:
            return
        found = _policies(request["policy_set"])
        if found is None:
            found = PolicySet.read(self._ask(request["policy_set"]["metadata"].get("snapshot_url"), token))
        if found.snapshot_id != identity:
            raise ValueError(f"the policies are not those of {identity}")
        self._spool.keep_snapshot(identity, cast(dict[str, Any], found.document(content=True)))

    def read(self, request: ExecuteRequest) -> PolicySet:
        """The policies of a request that was accepted. Raises ValueError when they are gone."""
        identity = request["execution_context"]["policy_snapshot_id"]
        document = self._spool.snapshot(identity)
        if document is None:
            raise ValueError(f"the policies of {identity} are not kept any more")
        return PolicySet.read(cast(PolicySetDocument, document))

    def _ask(self, url: object, token: str | None) -> PolicySetDocument:
        if not isinstance(url, str) or urlsplit(url).scheme not in ("http", "https"):
            raise ValueError("policy_set.metadata.snapshot_url: where the policies are to be read")
        headers = {POLICY_TOKEN: token} if token else {}
        try:
            with httpx.Client(transport=self._transport, timeout=_SECONDS, trust_env=False) as http:
                answer = http.get(url, headers=headers)
        except httpx.RequestError as error:
            raise ConnectionError(f"the policies could not be read ({type(error).__name__})") from error
        if answer.status_code != 200:
            raise ValueError(f"the policies could not be read (HTTP status {answer.status_code})")
        return cast(PolicySetDocument, answer.json()["policy_set"])


def _policies(document: PolicySetDocument) -> PolicySet | None:
    """The set, where its policies came with content."""
    if all("content" in entry for entry in document["policies"]):
        return PolicySet.read(document)
    return None
