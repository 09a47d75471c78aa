"""What the person who starts the local run may choose, all by environment variables."""

import hashlib
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Settings:
    """The choices, with defaults filled in."""

    port: int
    data: Path
    key: str
    heal_seconds: int
    retry_seconds: int

    @property
    def parameters(self) -> dict[str, str]:
        """Template parameters that differ on one's own machine from the template's defaults."""
        return {
            "RootKeySha256": hashlib.sha256(self.key.encode()).hexdigest(),
            "HealSeconds": str(self.heal_seconds),
            "AutoCommitIdleEnabled": "true",
        }


def read(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings; makes the data directory, and in it a root key if none is given or there."""
    data = Path(environment.get("STRANDLINE_DATA_DIR") or ROOT / ".strandline").resolve()
    data.mkdir(parents=True, exist_ok=True)
    return Settings(
        port=int(environment.get("STRANDLINE_PORT") or 8787),
        data=data,
        key=environment.get("STRANDLINE_LOCAL_KEY") or _kept_key(data / "root-key"),
        heal_seconds=int(environment.get("STRANDLINE_HEAL_SECONDS") or 60),
        retry_seconds=int(environment.get("STRANDLINE_LOCAL_RETRY_SECONDS") or 10),
    )


def _kept_key(file: Path) -> str:
    if not file.exists():
        file.touch(mode=0o600)
        file.write_text(f"local-{secrets.token_urlsafe(24)}\n")
    return file.read_text().strip()
