"""What makes a run of the matrix quick: the SDK does not wait between its attempts, moto looks up its routes once."""

from collections.abc import Iterator
from typing import Any

import pytest
from moto.core.base_backend import BaseBackend


@pytest.fixture(autouse=True, scope="module")
def quick() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("botocore.endpoint.time.sleep", lambda _: None)
        patch.setattr(BaseBackend, "urls", property(_urls))
        yield


_make: Any = BaseBackend.urls
_made: dict[type, Any] = {}


def _urls(backend: BaseBackend) -> Any:
    kind = type(backend)
    if kind not in _made:
        _made[kind] = _make.fget(backend)
    return _made[kind]
