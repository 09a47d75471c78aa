"""For every test: no network but loopback, and an AWS identity that opens nothing. What takes long comes first."""

import ipaddress
import os
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
LONGEST = ("sim", "e2e")
AWS_ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_SESSION_TOKEN": "testing",
    "AWS_REGION": "us-east-1",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
}


class NetworkBlockedError(RuntimeError):
    """A test reached for an address other than loopback.

    Not an OSError: clients retry those, and the address would be lost in a time-out.
    """


def _is_loopback(host: object) -> bool:
    """Say whether a host, as a socket call names it, is this machine's loopback."""
    name = host.decode() if isinstance(host, bytes) else host
    if not isinstance(name, str) or name in ("", "localhost") or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _refuse_network(event: str, args: tuple[Any, ...]) -> None:
    """Stop look-ups of and connections to anything but loopback (an audit hook: C code is seen too)."""
    if not event.startswith("socket."):  # nearly all events are of other things, and there are many
        return
    if event == "socket.getaddrinfo":
        address: object = args[0]
    elif event in ("socket.connect", "socket.sendto") and isinstance(args[1], tuple):
        address = args[1][0]
    else:
        return
    if not _is_loopback(address):
        raise NetworkBlockedError(f"tests may only reach loopback, not {address!r} ({event})")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Directories with files of minutes come first, so that no process is left alone with one at the end."""
    items.sort(key=lambda item: item.path.relative_to(HERE).parts[0] not in LONGEST)


def _isolate_aws() -> None:
    """Replace whatever account, profile or endpoint the caller's shell points at."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]
    os.environ.update(AWS_ENVIRONMENT)


_isolate_aws()
sys.addaudithook(_refuse_network)
