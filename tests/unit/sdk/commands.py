"""Runs the command line against a service in memory."""

import json
from typing import Any

from click.testing import CliRunner, Result

from strandline_sdk.cli import main
from tests.unit.sdk.fake_service import FakeService


def run(
    service: FakeService, *arguments: str, key: str | None = "good", stdin: bytes | None = None
) -> Result:
    environment = {"STRANDLINE_KEY": key, "STRANDLINE_URL": "http://test"}
    result = CliRunner().invoke(main, arguments, obj=service, env=environment, input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def document(service: FakeService, *arguments: str) -> Any:
    """What a command prints with --json, which must be all that it prints."""
    result = run(service, "--json", *arguments)
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    return json.loads(result.stdout)
