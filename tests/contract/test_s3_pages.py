"""Listings of S3 that do not fit in one page."""

from typing import Any

import pytest
from botocore.config import Config

from strandline.adapters.s3 import S3Objects
from tests.contract.conftest import Aws, Backend

pytestmark = pytest.mark.contract


@pytest.fixture(params=["moto", "ministack"])
def store(request: pytest.FixtureRequest) -> S3Objects:
    """A bucket whose pages hold two entries."""
    backend: Backend = (
        request.getfixturevalue("moto_backend")
        if request.param == "moto"
        else Aws({"s3": request.getfixturevalue("ministack_endpoint")})
    )
    objects = backend.objects()
    assert isinstance(objects, S3Objects)
    assert isinstance(backend, Aws)

    def client(config: Config) -> Any:
        client = backend.client("s3", config)
        client.meta.events.register("provide-client-params.s3.*", _two_a_page)
        return client

    return S3Objects(objects._bucket, client)


def _two_a_page(params: dict[str, Any], model: Any, **_: Any) -> None:
    if model.name.startswith("List"):
        params["MaxKeys"] = 2


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_keys(store: S3Objects, count: int) -> None:
    keys = [f"p/{n} é" for n in range(count)]
    for key in keys:
        store.put(key, b"")
    assert list(store.keys("p/")) == keys
    assert list(store.keys("p/", after=keys[0])) == keys[1:]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_versions(store: S3Objects, count: int) -> None:
    bodies = [b"%d" % n for n in range(count)]
    for body in bodies:
        store.put("k é", body)
        store.put("k é+", body)
        store.put("k", body)
    store.delete("k é")
    marker, *versions = store.versions("k é")
    assert marker.deleted
    assert [store.get_version("k é", v.version_id).body for v in versions] == bodies[::-1]
