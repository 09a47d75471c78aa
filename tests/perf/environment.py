"""An AWS identity that opens nothing, and what this ran on."""

import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

_AWS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_REGION": "us-east-1",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
}
_LIBRARIES = ("boto3", "pydantic", "aws-lambda-powertools", "tiktoken")


def isolated() -> dict[str, str]:
    """This process's environment without whatever account, profile or endpoint the shell points at."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "STRANDLINE_"))}
    return {**kept, **_AWS}


def isolate(extra: Mapping[str, str] | None = None) -> None:
    """Makes this process's environment such a one, and its functions cold."""
    wanted = {**isolated(), **(extra or {})}
    os.environ.clear()
    os.environ.update(wanted)
    forget()


def forget() -> None:
    """What a function keeps while it is warm is gone: the settings, the services."""
    from strandline.entry import settings, wiring

    for kept in (settings.settings, wiring.services, wiring.library):
        kept.cache_clear()


def machine() -> str:
    """The one line that says what the figures were measured on."""
    versions = ", ".join(f"{name} {version(name)}" for name in _LIBRARIES)
    return f"Python {platform.python_version()}, {versions}; {os.cpu_count()} × {_processor()}, shared."


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.machine()
