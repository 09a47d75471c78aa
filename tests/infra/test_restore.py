"""The operator's command: which bucket and table it means, and what it says."""

import json
import sys

import pytest

from infra import restore
from strandline.entry import settings, wiring
from tests.pipeline.world import World


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    world = World()
    world.remember("s", "tea: I like green tea")
    for name in ("STRANDLINE_BUCKET", "STRANDLINE_TABLE"):
        monkeypatch.setenv(name, "set by the test, so that it is put back afterwards")
    monkeypatch.setattr(wiring, "ports", lambda config: world.ports())
    for made in (wiring.library, settings.settings):
        made.cache_clear()
    return world


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["restore", *arguments])
    restore.main()


def test_it_says_what_it_found(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, "--bucket", "b", "--table", "t")
    said = json.loads(capsys.readouterr().out)
    assert said == {"users": 1, "sessions": 1, "pending": 0, "deleted": 0, "indexes": 0}
    assert (settings.settings().bucket, settings.settings().table) == ("b", "t")


@pytest.mark.parametrize(
    "arguments", [[], ["--bucket", "b"], ["--table", "t"], ["--stack", "s", "--bucket", "b", "--table", "t"]]
)
def test_a_stack_or_both_names(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    with pytest.raises(SystemExit):
        run(monkeypatch, *arguments)
    assert "give --stack, or both --bucket and --table" in capsys.readouterr().err


def test_the_outputs_of_a_stack_name_them(template: object) -> None:
    outputs = template.document["Outputs"]  # type: ignore[attr-defined]
    assert {"MemoryBucketName", "StateTableName"} <= outputs.keys()
