"""What every command shares: connection settings, `--json` in any position, errors as exit codes.

Exit code 1: the service refused, could not be reached, or something asked for failed. 2: the command was misused.
130: an import was interrupted.
"""

from dataclasses import dataclass, field
from typing import Any

import click
import httpx

from strandline_sdk.client import Client
from strandline_sdk.errors import ApiError
from strandline_sdk.importers import InputError
from strandline_sdk.transport import Retry

_JSON = "strandline_sdk.json"


@dataclass(frozen=True)
class Settings:
    """Where and as whom the commands act."""

    url: str
    key: str | None = field(repr=False)
    account: str | None = None
    user: str | None = None
    actor_peer: str | None = None
    transport: httpx.BaseTransport | None = None

    def client(self, retry: Retry | None = None) -> Client:
        """A client; a usage error when there is no key or a value cannot be sent."""
        if not self.key:
            raise click.UsageError("no key: set STRANDLINE_KEY or give --key")
        try:
            return Client(
                self.url,
                self.key,
                account=self.account,
                user=self.user,
                actor_peer=self.actor_peer,
                retry=retry or Retry(),
                transport=self.transport,
            )
        except ValueError as error:
            raise click.UsageError(str(error)) from error


pass_settings = click.make_pass_decorator(Settings)
limit_option = click.option(
    "--limit", type=click.IntRange(1), default=100, show_default=True, help="Show at most this many."
)
timeout_option = click.option(
    "--timeout", type=click.FloatRange(0), default=600, show_default=True, help="Seconds to wait."
)


def _choose_json(context: click.Context, _: click.Parameter, chosen: bool) -> None:
    context.meta[_JSON] = chosen or wants_json()


def _json_option() -> click.Option:
    return click.Option(
        ["--json"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_choose_json,
        help="Print one JSON document on stdout, and nothing else there.",
    )


class Command(click.Command):
    """A command that knows `--json`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.append(_json_option())


class Group(click.Group):
    """A group that knows `--json`, and turns the client's and the system's errors into messages and exit code 1."""

    command_class = Command
    group_class = type

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.append(_json_option())

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except BrokenPipeError:  # nobody reads on: that is click's
            raise
        except (ApiError, InputError, OSError) as error:
            notes = "".join(f"\n{note}" for note in getattr(error, "__notes__", ()))
            raise click.ClickException(
                f"{error}{_hint(error, context.find_object(Settings))}{notes}"
            ) from error


def _hint(error: Exception, settings: Settings | None) -> str:
    """Which service refused the key: a key of another one is the usual reason."""
    if settings is None or not isinstance(error, ApiError) or error.status != 401:
        return ""
    return f"\nthat is not a key of the service at {settings.url}: see STRANDLINE_URL and STRANDLINE_KEY"


def wants_json() -> bool:
    """Whether `--json` was given to the command or to a group above it."""
    return bool(click.get_current_context().meta.get(_JSON))
