"""Memory types as they are shown."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

Merge = Literal["patch", "replace", "sum", "immutable"]


class TypeField(TypedDict):
    """A field of a memory type, and how the values of several archives merge."""

    name: str
    merge: Merge
    description: str


class TypeDeclared(TypedDict):
    """What a memory type declares (docs/ARCHITECTURE.md)."""

    name: str
    mode: Literal["upsert", "add_only"]
    fields: list[TypeField]
    file: str
    title: str
    template: str
    instruction: str
    index: str
    keywords: list[str]
    enabled: bool
    extracted: bool


class TypeProblem(TypedDict):
    """What is wrong with a declaration that was put into the bucket by hand."""

    field: str
    message: str


class MemoryType(TypedDict):
    """A memory type. One of the user's own has its declaration as text, with its format, and a version computed from
    what it declares; an invalid one has no version, and its problems say why."""

    name: str
    origin: Literal["service", "user"]
    valid: bool
    version: str | None
    declaration: TypeDeclared | None
    form: NotRequired[Literal["yaml", "json", "md"]]
    content: NotRequired[str]
    problems: NotRequired[list[TypeProblem]]
    dry_run: NotRequired[bool]
