"""Memory types: the service's, and the user's own, declared by a file."""

from typing import Any, Literal

from strandline.domain.errors import Aborted, Conflict, NotFound
from strandline.domain.memory_types import REGISTRY, MemoryType
from strandline.domain.memory_types.custom import Declaration, version
from strandline.domain.scalars import Switched
from strandline.entry.answers import answers
from strandline.entry.http import ok
from strandline.entry.results.memory_types import MemoryType as TypeShown
from strandline.entry.routes.asking import new_router, owner, path_of
from strandline.entry.routes.exact import Exact
from strandline.entry.wiring import library
from strandline.pipeline import memory_types

router = new_router()

Answer = dict[str, Any]


class PutMemoryType(Exact):
    """A declaration as text: YAML, JSON, or markdown whose front matter declares and whose text instructs. `dry_run`
    only says whether it is valid."""

    content: str
    form: Literal["yaml", "json", "md"] = "yaml"
    dry_run: Switched = False


@router.get("/api/v1/memory-types")
@answers(list[TypeShown])
def list_memory_types() -> Answer:
    """The service's types, then the user's own, including those that are not valid."""
    known = library()
    own = memory_types.read_all(known, owner(router))
    return ok([*map(_built_in, REGISTRY.values()), *map(_own, own)], known.clock)


@router.get("/api/v1/memory-types/<name>")
@answers(TypeShown, NotFound)
def read_memory_type(name: str) -> Answer:
    """One type."""
    whose, known = owner(router), library()
    plain = path_of(name)
    if plain in REGISTRY:
        return ok(_built_in(REGISTRY[plain]), known.clock)
    return ok(_own(memory_types.read(known, whose, plain)), known.clock)


@router.put("/api/v1/memory-types/<name>")
@answers(TypeShown, Conflict, Aborted)
def put_memory_type(name: str, body: PutMemoryType) -> Answer:
    """Declares a type of the user's own, or changes it. Archives extracted from now on follow it; an archive whose
    extraction was tried before keeps the declarations of that attempt."""
    whose, known = owner(router), library()
    given = Declaration(path_of(name), body.form, body.content, None)
    declared = memory_types.write(known, whose, given, dry_run=body.dry_run)
    return ok({**_own(declared), "dry_run": body.dry_run}, known.clock)


@router.delete("/api/v1/memory-types/<name>")
@answers(TypeShown, Conflict, NotFound)
def delete_memory_type(name: str) -> Answer:
    """Removes a type of the user's own. Its memories stay; archives extracted from now on give none, except those
    whose extraction was tried before."""
    whose, known = owner(router), library()
    return ok(_own(memory_types.remove(known, whose, path_of(name))), known.clock)


def _built_in(kind: MemoryType) -> Answer:
    return {"name": kind.name, "origin": "service", "valid": True, **_declared(kind)}


def _own(declaration: Declaration) -> Answer:
    kind = declaration.kind
    return {
        "name": declaration.name,
        "origin": "user",
        "valid": kind is not None,
        **_declared(kind),
        "form": declaration.form,
        "content": declaration.content,
        "problems": [{"field": field, "message": message} for field, message in declaration.problems],
    }


def _declared(kind: MemoryType | None) -> Answer:
    if kind is None:
        return {"version": None, "declaration": None}
    return {"version": version(kind), "declaration": kind.model_dump(mode="json")}
