"""What makes a run of the matrix quick: the SDK does not wait between its attempts, and moto finds out once what it
finds out anew for every request."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import jsonpath_ng.ext
import pytest
from moto import backend_index
from moto.core import responses
from moto.core.base_backend import BaseBackend

SERVICES = ("s3", "dynamodb", "sqs", "events")


@pytest.fixture(autouse=True, scope="module")
def quick() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("botocore.endpoint.time.sleep", lambda _: None)
        patch.setattr(BaseBackend, "urls", property(_urls))
        patch.setattr(backend_index, "backend_url_patterns", _patterns)
        for module, name in _PURE:
            patch.setattr(module, name, cache(getattr(module, name)))
        yield


_PURE: tuple[tuple[Any, str], ...] = (
    (responses, "method_names_from_class"),
    (responses, "camelcase_to_underscores"),
    (jsonpath_ng.ext, "parse"),
)
"""Functions that look at nothing but their arguments, which are few."""
_patterns = [each for each in backend_index.backend_url_patterns if each[0] in SERVICES]
_make: Any = BaseBackend.urls
_made: dict[type, Any] = {}


def _urls(backend: BaseBackend) -> Any:
    kind = type(backend)
    if kind not in _made:
        _made[kind] = _make.fget(backend)
    return _made[kind]
