"""`ports.ObjectStore` on an S3 bucket.

Requests per call: one, and one more per further page of a listing. Conditional writes are sent exactly once; reads
and unconditional writes are repeated by the SDK. A missing key under `If-Match` is 404 on AWS and 412 on some other
stores: both are ConditionFailed.
"""

import zlib
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from botocore.config import Config
from botocore.exceptions import ClientError

from strandline.adapters import aws
from strandline.ports import (
    ERASED_AT_ONCE,
    Ambiguous,
    Condition,
    ConditionFailed,
    Contended,
    IfMatch,
    Place,
    Stored,
    Version,
    VersionPage,
)
from strandline.storage.parsing import is_passing, is_rebuilt, is_superseded

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_CONTENT_TYPES = {
    ".json": "application/json",
    ".jsonl": "application/x-ndjson",
    ".md": "text/markdown; charset=utf-8",
}
_NO_OBJECT = {"NoSuchKey"}
_NO_VERSION = {
    "NoSuchKey",
    "NoSuchVersion",
    "InvalidArgument",
    "MethodNotAllowed",
}  # an odd id; a delete marker
_REFUSALS = {
    "412": ConditionFailed,
    "NoSuchKey": ConditionFailed,
    "ConditionalRequestConflict": Contended,
    "OperationAborted": Contended,
}


class S3Objects:
    """One versioned bucket. `client` makes a client from a configuration, when it is first needed."""

    def __init__(self, bucket: str, client: Callable[[Config], "S3Client"] = aws.s3) -> None:
        self._bucket = bucket
        self._client = client

    @cached_property
    def _once(self) -> "S3Client":
        return self._client(aws.ONCE)

    @cached_property
    def _repeating(self) -> "S3Client":
        return self._client(aws.REPEATING)

    def get(self, key: str) -> Stored | None:
        try:
            return self._read(Key=key)
        except KeyError:
            return None

    def get_unless(self, key: str, etag: str) -> Stored | None:
        try:
            return self._read(Key=key, IfNoneMatch=etag)
        except ClientError as error:
            if aws.status_of(error) == 304:
                return None
            raise

    def get_start(self, key: str, size: int) -> bytes | None:
        try:
            return self._read(Key=key, Range=f"bytes=0-{size - 1}").body
        except KeyError:
            return None
        except ClientError as error:
            if aws.status_of(error) == 416:  # an empty object has no first byte
                return b""
            raise

    def get_version(self, key: str, version_id: str) -> Stored:
        return self._read(Key=key, VersionId=version_id)

    def _read(self, **request: Any) -> Stored:
        """Raises KeyError for what is not there: no object, no such version, or a delete marker."""
        with aws.store_errors():
            try:
                answer = self._repeating.get_object(Bucket=self._bucket, **request)
            except ClientError as error:
                if _is_absence(error, request):
                    raise KeyError(request["Key"]) from error
                raise
            return Stored(answer["Body"].read(), answer["ETag"], answer["Metadata"])

    def put(
        self, key: str, body: bytes, *, when: Condition | None = None, meta: Mapping[str, str] | None = None
    ) -> str:
        client = self._repeating if when is None else self._once
        with aws.store_errors(_REFUSALS):
            answer = client.put_object(
                Bucket=self._bucket,
                Key=key,
                Body=body,
                ContentType=_content_type(key),
                ChecksumCRC32=b64encode(zlib.crc32(body).to_bytes(4, "big")).decode(),
                Metadata=dict(meta or {}),
                **_headers(when),
                **_tagging(key),
            )
        return answer["ETag"]

    def delete(self, key: str, *, when: IfMatch | None = None) -> None:
        client = self._repeating if when is None else self._once
        with aws.store_errors(_REFUSALS):
            client.delete_object(Bucket=self._bucket, Key=key, **_headers(when))

    def keys(self, prefix: str, *, after: str = "") -> Iterator[str]:
        more = True
        while more:
            with aws.store_errors():
                page = self._repeating.list_objects_v2(Bucket=self._bucket, Prefix=prefix, StartAfter=after)
            found = [entry["Key"] for entry in page.get("Contents", ())]
            yield from found
            more = page["IsTruncated"] and bool(found)
            after = found[-1] if found else after

    def versions(self, key: str) -> Sequence[Version]:
        found: list[Version] = []
        request: dict[str, Any] = {}
        while True:
            with aws.store_errors():
                page = self._repeating.list_object_versions(Bucket=self._bucket, Prefix=key, **request)
            found += [version for version in _versions(page) if version.key == key]
            # the key itself sorts before every longer one
            if not page["IsTruncated"] or page.get("NextKeyMarker") != key:
                break
            request = {"KeyMarker": key, "VersionIdMarker": page["NextVersionIdMarker"]}
        # S3 lists both kinds newest first, but apart, and its times have whole seconds only
        return sorted(found, key=lambda version: (version.latest, version.at), reverse=True)

    def versions_below(
        self, prefix: str, *, after: Place | None = None, limit: int = ERASED_AT_ONCE
    ) -> VersionPage:
        request: dict[str, Any] = {"KeyMarker": after[0], "VersionIdMarker": after[1]} if after else {}
        with aws.store_errors():
            page: Any = self._repeating.list_object_versions(
                Bucket=self._bucket, Prefix=prefix, MaxKeys=limit, **request
            )
        more = page["IsTruncated"]
        following = (page["NextKeyMarker"], page["NextVersionIdMarker"]) if more else None
        return VersionPage(_versions(page), following)

    def erase(self, versions: Sequence[Version]) -> None:
        if not versions:
            return
        named: Any = [{"Key": version.key, "VersionId": version.version_id} for version in versions]
        with aws.store_errors():
            answer = self._repeating.delete_objects(
                Bucket=self._bucket, Delete={"Objects": named, "Quiet": True}
            )
        for error in answer.get("Errors", ()):
            _raise_unless_gone(error)


def _raise_unless_gone(error: Any) -> None:
    """One version that DeleteObjects left. Raises Ambiguous, or as the SDK would what repeating cannot mend."""
    code = error.get("Code", "")
    if code in _NO_OBJECT | {"NoSuchVersion"}:
        return
    if code in aws.TRANSIENT:
        raise Ambiguous(f"{code}: {error.get('Message', '')}")
    raise ClientError(
        {"Error": error, "ResponseMetadata": {"HTTPStatusCode": 200}},  # type: ignore[typeddict-item]
        "DeleteObjects",
    )


def _is_absence(error: ClientError, request: dict[str, Any]) -> bool:
    return aws.code_of(error) in (_NO_VERSION if "VersionId" in request else _NO_OBJECT)


def _headers(when: Condition | None) -> dict[str, Any]:
    if when is None:
        return {}
    return {"IfMatch": when.etag} if isinstance(when, IfMatch) else {"IfNoneMatch": "*"}


def _tagging(key: str) -> dict[str, Any]:
    """The tag that the template's lifecycle rules go by."""
    if is_superseded(key):
        return {"Tagging": "versions=superseded"}
    if is_rebuilt(key):
        return {"Tagging": "kept=month"}
    return {"Tagging": "kept=day"} if is_passing(key) else {}


def _content_type(key: str) -> str:
    return _CONTENT_TYPES.get(key[key.rfind(".") :], "application/octet-stream")


def _versions(page: Any) -> list[Version]:
    """The versions on a page of ListObjectVersions, then its delete markers."""
    return [
        Version(row["Key"], row["VersionId"], kind == "DeleteMarkers", row["IsLatest"], row["LastModified"])
        for kind in ("Versions", "DeleteMarkers")
        for row in page.get(kind, ())
    ]
