"""Reads the policies that a rollout is to be tried with, once a snapshot, by the token that came with the request."""

from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import urlsplit

import httpx

from strandline_sdk.rollouts.model import POLICY_TOKEN, ExecuteRequest, PolicySetDocument
from strandline_sdk.rollouts.policies import EXPERIENCES, Policy, PolicySet, unmarked
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
            found = self._ask(request["policy_set"]["metadata"].get("snapshot_url"), token)
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

    def _ask(self, url: object, token: str | None) -> PolicySet:
        """A trainer answers with the set; Strandline's API with memories, page by page."""
        if not isinstance(url, str) or urlsplit(url).scheme not in ("http", "https"):
            raise ValueError("policy_set.metadata.snapshot_url: where the policies are to be read")
        headers = {POLICY_TOKEN: token, "X-API-Key": token} if token else {}
        with httpx.Client(
            transport=self._transport, timeout=_SECONDS, headers=headers, trust_env=False
        ) as http:
            try:
                return _read(http, url)
            except (LookupError, TypeError, AttributeError, RecursionError) as error:
                raise ValueError("what stands at policy_set.metadata.snapshot_url are no policies") from error


def _read(http: httpx.Client, url: str) -> PolicySet:
    document = _got(http, url)
    if "policy_set" in document:
        return PolicySet.read(document["policy_set"])
    rows = list(document["result"])
    seen: set[str] = set()
    while (cursor := document.get("next_cursor")) and cursor not in seen:
        seen.add(cursor)
        document = _got(http, str(httpx.URL(url).copy_merge_params({"cursor": cursor})))
        rows += document["result"]
    return PolicySet.of("", map(_remembered, rows))


def _got(http: httpx.Client, url: str) -> dict[str, Any]:
    try:
        answer = http.get(url)
    except httpx.RequestError as error:
        raise ConnectionError(f"the policies could not be read ({type(error).__name__})") from error
    if answer.status_code != 200:
        raise ValueError(f"the policies could not be read (HTTP status {answer.status_code})")
    return cast(dict[str, Any], answer.json())


def _remembered(row: Mapping[str, Any]) -> Policy:
    """An experience as the API has it."""
    name = row["path"].removeprefix(EXPERIENCES).removesuffix(".md")
    return Policy(name, row["uri"], unmarked(row["content"]), row.get("version", 1))


def _policies(document: PolicySetDocument) -> PolicySet | None:
    """The set, where its policies came with content."""
    if all("content" in entry for entry in document["policies"]):
        return PolicySet.read(document)
    return None
