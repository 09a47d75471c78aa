"""Memory types that a user declares.

A declaration has the fields of `MemoryType`; its name is that of its file. It is data of its user like any other: it
can name no file outside its own directory, takes no name of the service's, and is bounded in every way.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from strandline.domain.memory_types import REGISTRY
from strandline.domain.memory_types.base import MemoryType

MAX_CUSTOM_TYPES = 20
"""Of one user; what is beyond, in order of names, is not looked for."""

_RESERVED = frozenset(
    {*REGISTRY, "peers", "abstract", "overview", "user", "feedback", "project", "reference"}
)


class NotValid(Exception):
    """Why a declaration is none: pairs of a field and what is wrong with it."""

    def __init__(self, problems: list[tuple[str, str]]) -> None:
        super().__init__("; ".join(f"{field}: {message}" for field, message in problems))
        self.problems = problems


def declared(name: str, given: Mapping[str, Any]) -> MemoryType:
    """The type that a declaration declares. Raises NotValid, with every problem."""
    if name in _RESERVED:
        raise NotValid([("name", f"{name!r} is a name of the service's own")])
    if given.get("name", name) != name:
        raise NotValid([("name", f"must be that of the file, {name!r}, or be left out")])
    if "extracted" in given:
        raise NotValid([("extracted", "is not for a declaration to say")])
    try:
        return MemoryType.model_validate({**given, "name": name})
    except ValidationError as error:
        raise NotValid(_problems(error)) from None


def _problems(error: ValidationError) -> list[tuple[str, str]]:
    """One problem an entry; a type that does not hang together has its problems in one error."""
    return [
        (".".join(map(str, each["loc"])), problem)
        if each["loc"]
        else (problem.partition(": ")[0], problem.partition(": ")[2])
        for each in error.errors(include_url=False, include_context=False, include_input=False)
        for problem in each["msg"].removeprefix("Value error, ").split("; ")
    ]


def version(kind: MemoryType) -> str:
    """Names what a declaration says: the same for the same meaning, whatever the file looks like."""
    said = json.dumps(kind.model_dump(mode="json"), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(said.encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Declaration:
    """A declared type as it is stored: its text in one of the forms, and the type, or what is wrong with it."""

    name: str
    form: str
    content: str
    kind: MemoryType | None
    problems: tuple[tuple[str, str], ...] = ()

    @property
    def reason(self) -> str:
        return "; ".join(f"{field}: {message}" for field, message in self.problems)
