"""Hooks that hear nothing: the base of those that hear something."""

from collections.abc import Mapping
from typing import Any

from strandline_sdk.training.values import Finished


class Silent:
    """Lets the run go on."""

    def epoch_started(self, epoch: int) -> None: ...

    def rollout_ended(self, finished: Finished) -> None: ...

    def evaluated(self, epoch: int, summary: Mapping[str, Any]) -> None: ...

    def epoch_ended(self, epoch: int, report: Mapping[str, Any]) -> bool:  # noqa: ARG002 - they hear it, this does not
        return True

    def run_ended(self, report: Mapping[str, Any]) -> None: ...
