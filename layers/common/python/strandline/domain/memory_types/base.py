"""What a memory type declares, and how its declaration becomes a path and a title.

fields       what a memory of the type consists of, and how what is said of each merges (`Merge`)
file, title  texts with `{field}` of immutable fields; a file also with `{year}`, `{month}`, `{day}` of the
             conversation (never of processing) and `{extraction}`, a title with `{date}`
template     the body, line by line: `{field}` alone is where the lines of a patch field stand; a line that names
             other fields is shown when they have values, any other line as heading of what follows it
index        what the lines are found by besides their own words: `{title}`, `{field}`
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints, model_validator

from strandline.domain.names import slug

Merge = Literal["patch", "replace", "sum", "immutable"]
"""patch: lines, added and patched. replace: the newest by time of conversation. sum: numbers, each added once.
immutable: the first by time of conversation, for ever."""

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_OF_FILES = frozenset({"year", "month", "day", "extraction"})
_OF_FACTS = frozenset(
    {"text", "speaker", "seq_from", "seq_to", "quote", "attribute", "value", "title", "date"}
)
MAX_FIELDS = 12
MAX_KEYWORDS = 50


class Field(BaseModel):
    """A field of a memory, and how what is said of it merges."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name
    merge: Merge = "patch"
    description: Annotated[str, StringConstraints(max_length=300)] = ""


CONTENT = Field(name="content", merge="patch", description="lines, each with its source")


class MemoryType(BaseModel):
    """A kind of memory file.

    `upsert` files gather lines from many archives, an `add_only` file belongs to one archive for ever and carries its
    extraction id in its name (`{extraction}`). `enabled`: written unless a session's policy says otherwise.
    `extracted`: a language model is asked for it, by the instruction. `keywords`: the rules put what a person says with
    one of these words into it; only of a type with a single file.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name
    mode: Literal["upsert", "add_only"]
    fields: tuple[Field, ...]
    file: Annotated[str, StringConstraints(max_length=200)]
    title: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    template: Annotated[str, StringConstraints(max_length=2_000)] = "{content}"
    instruction: Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
    index: Annotated[str, StringConstraints(max_length=200)] = "{title}"
    keywords: tuple[Annotated[str, StringConstraints(pattern=r"^\w[\w-]{0,39}$")], ...] = ()
    enabled: bool = True
    extracted: bool = True

    @property
    def identity(self) -> tuple[str, ...]:
        """The fields that name the file, or its title."""
        used = {*placeholders(self.file), *placeholders(self.title)}
        return tuple(field.name for field in self.fields if field.name in used)

    def field(self, name: str) -> Field | None:
        return next((field for field in self.fields if field.name == name), None)

    def path(self, fields: Mapping[str, str], *, at: datetime, extraction: str) -> str:
        """Path below `memories/` (or below a peer's tree) of the file these identity fields name.

        Raises KeyError when an identity field is missing.
        """
        safe = {name: slug(fields[name]) for name in self.identity}
        dated = {"year": f"{at:%Y}", "month": f"{at:%m}", "day": f"{at:%d}", "extraction": extraction}
        return filled(self.file, {**dated, **safe})

    def heading(self, fields: Mapping[str, str], *, at: datetime) -> str:
        """Title of the file these identity fields name. Raises KeyError when one is missing."""
        shown = {name: " ".join(fields[name].split()) for name in self.identity}
        return filled(self.title, {"date": f"{at:%Y-%m-%d}", **shown})

    @model_validator(mode="after")
    def _consistent(self) -> "MemoryType":
        problems = [*_of_fields(self), *_of_file(self), *_of_texts(self)]
        if problems:
            raise ValueError("; ".join(problems))
        return self


def placeholders(text: str) -> list[str]:
    """The names in braces, in order."""
    return _PLACEHOLDER.findall(text)


def filled(text: str, values: Mapping[str, object]) -> str:
    """The text with values in place of names in braces. Raises KeyError for a name that is not there."""
    return _PLACEHOLDER.sub(lambda match: str(values[match[1]]), text)


def _of_fields(kind: MemoryType) -> list[str]:
    names = [field.name for field in kind.fields]
    problems = [f"fields: {name!r} is reserved" for name in sorted(_OF_FACTS.intersection(names))]
    if len(set(names)) < len(names):
        problems.append("fields: a name comes twice")
    if not 0 < len(names) <= MAX_FIELDS:
        problems.append(f"fields: 1 to {MAX_FIELDS}")
    return problems


def _of_file(kind: MemoryType) -> list[str]:
    fixed = {field.name for field in kind.fields if field.merge == "immutable"}
    named = placeholders(kind.file)
    problems = [f"file: {{{name}}} is no immutable field" for name in named if name not in fixed | _OF_FILES]
    own = kind.file == f"{kind.name}.md" or re.fullmatch(
        rf"{kind.name}/[^\s\\%?#]+\.md", _PLACEHOLDER.sub("x", kind.file)
    )
    if not own or any(part in ("", ".", "..") for part in kind.file.split("/")):
        problems.append(f"file: must be {kind.name}.md, or end in .md and begin with {kind.name}/")
    if (kind.mode == "add_only") != ("extraction" in named):
        problems.append("file: has {extraction} in its name when the mode is add_only, and only then")
    return problems


def _of_texts(kind: MemoryType) -> list[str]:
    fixed = {field.name for field in kind.fields if field.merge == "immutable"}
    names = {field.name for field in kind.fields}
    allowed = {"title": fixed | {"date"}, "template": names, "index": names | {"title"}}
    problems = [
        f"{what}: {{{name}}} is nothing it can name"
        for what, known in allowed.items()
        for name in placeholders(getattr(kind, what))
        if name not in known
    ]
    if kind.keywords and (kind.identity or len(kind.keywords) > MAX_KEYWORDS):
        problems.append(f"keywords: at most {MAX_KEYWORDS}, of a type whose file and title name no field")
    return problems
