"""The routes of the router, as the description sees them."""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import getdoc
from typing import Any, get_args, get_type_hints

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from pydantic import BaseModel

from strandline.entry.answers import Answers, Errors, declared, errors_of

PREFIX = "/api/v1/"


@dataclass(frozen=True)
class Route:
    """One route of the router: where it is, and the function behind it."""

    path: str
    method: str
    function: Callable[..., Any]

    @property
    def answers(self) -> Answers:
        return declared[self.function]

    @property
    def errors(self) -> Errors:
        return errors_of(self.function, self.path, self.method)

    @property
    def keyed(self) -> bool:
        """Whether it takes an `Idempotency-Key`."""
        return self.method in ("post", "put")

    @property
    def group(self) -> str:
        """What it is about: `sessions`; `service` for what stands outside of the API itself."""
        inside = self.path.removeprefix(PREFIX)
        return "service" if inside == self.path else inside.split("/")[0]

    @property
    def identity(self) -> str:
        """Stays as it is when functions move from file to file, for generated clients call methods by it."""
        group = self.group.replace("-", "_")
        return f"{group}_{self.function.__name__.removesuffix(f'_{group}')}"

    @property
    def about(self) -> str:
        """Its docstring, in one line."""
        return " ".join((getdoc(self.function) or "").split())

    @property
    def query_models(self) -> list[type[BaseModel]]:
        """The models that hold its query parameters."""
        hints = get_type_hints(self.function, include_extras=True).values()
        marked = [get_args(hint) for hint in hints if hasattr(hint, "__metadata__")]
        return [of for of, *_ in marked if isinstance(of, type) and issubclass(of, BaseModel)]


def routes_of(app: APIGatewayHttpResolver) -> list[Route]:
    """The routes that belong into the description. Powertools has no public way to them."""
    known = (*app._static_routes, *app._dynamic_routes)
    return [Route(r.openapi_path, r.method.lower(), r.func) for r in known if r.include_in_schema]
