"""Memory types of a user's own: put, look, list; and which of them an archive is extracted with.

commit point   create-once PUT of the archive's `types.json`: an archive is extracted with the declarations as its first
               attempt found them, whatever becomes of them before it is tried again. A rebuild and a dry run have
               their own
"""

from collections.abc import Sequence

from pydantic import BaseModel, ValidationError

from strandline.domain.contracts import ExtractRequested
from strandline.domain.errors import Conflict, ExtractionFailed, InvalidArgument, NotFound
from strandline.domain.memory_policy import KNOWN_TYPES, MemoryPolicy
from strandline.domain.memory_types import REGISTRY, MemoryType
from strandline.domain.memory_types.custom import MAX_CUSTOM_TYPES, Declaration
from strandline.domain.redaction import scrub
from strandline.domain.screening import Redaction
from strandline.pipeline.append import refuse_closed
from strandline.pipeline.services import Services
from strandline.storage.layout import Life, Rebuild, User, user_of
from strandline.storage.once import fetch, write_once


class Pinned(BaseModel):
    """The declared types that an archive is extracted with, and what was wrong with others."""

    types: tuple[MemoryType, ...] = ()
    problems: dict[str, str] = {}


def pinned(services: Services, request: ExtractRequested) -> Pinned:
    """The types of the archive's first attempt, or of a rebuild's first. Raises ExtractionFailed when they cannot be
    read."""
    key = _key(request)
    body = fetch(services.objects, key)
    if body is None:
        now = _now(read_all(services, user_of(request.session)))
        if not now.types and not now.problems:
            return now  # nothing declared, nothing kept: most archives cost no more for it
        body = now.model_dump_json(indent=1).encode()
        if not write_once(services.objects, key, body):
            body = fetch(services.objects, key) or body
    try:
        return Pinned.model_validate_json(body)
    except ValidationError:
        raise ExtractionFailed("the archive's memory types cannot be read", final=True) from None


def _key(request: ExtractRequested) -> str:
    if request.rebuild:
        return Rebuild(user_of(request.session), request.rebuild).types(request.session, request.archive)
    return Life(request.session).archive_file(request.archive, "types.json")


def _now(declarations: Sequence[Declaration]) -> Pinned:
    return Pinned(
        types=tuple(each.kind for each in declarations if each.kind),
        problems={each.name: each.reason[:500] for each in declarations if not each.kind},
    )


def read_all(services: Services, owner: User) -> Sequence[Declaration]:
    """What the user has declared, by name, valid or not."""
    from strandline.storage import declarations  # noqa: PLC0415 - YAML is loaded where there is something to read

    return declarations.read_all(services.objects, owner)


def read(services: Services, owner: User, name: str) -> Declaration:
    """Raises NotFound."""
    found = next((each for each in read_all(services, owner) if each.name == name), None)
    if found is None:
        raise NotFound(f"there is no memory type {name[:60]!r}", type="memory_type", resource=name[:60])
    return found


def write(services: Services, owner: User, given: Declaration, *, dry_run: bool = False) -> Declaration:
    """Stores a declaration without its secrets, or says only whether it would be.

    Raises InvalidArgument with every problem, Conflict for one that is there in another form, or one too many.
    """
    from strandline.storage import declarations  # noqa: PLC0415 - as above

    redacting = services.rules.redaction is Redaction.REDACT
    clean = scrub(given.content, services.rules.allowed) if redacting else given.content
    declaration = declarations.read(given.name, given.form, clean)
    if declaration.kind is None:
        problems = [{"field": field, "message": message} for field, message in declaration.problems]
        raise InvalidArgument(declaration.reason, validation_errors=problems)
    _refuse_another(read_all(services, owner), declaration)
    if not dry_run:
        refuse_closed(services, owner)
        declarations.write(services.objects, owner, declaration)
    return declaration


def remove(services: Services, owner: User, name: str) -> Declaration:
    """Takes a type out; answers what it was. Its memories stay. Raises NotFound, InvalidArgument for the service's."""
    from strandline.storage import declarations  # noqa: PLC0415 - as above

    if name in REGISTRY:
        raise InvalidArgument(
            f"name: {name!r} is the service's own; a session does without it by memory_policy.memory_types"
        )
    found = read(services, owner, name)
    declarations.remove(services.objects, owner, name)
    return found


def _refuse_another(known: Sequence[Declaration], wanted: Declaration) -> None:
    there = next((each for each in known if each.name == wanted.name), None)
    if there is not None and there.form != wanted.form:
        raise Conflict(f"it is declared as {there.form}; write it in that form")
    if there is None and len(known) >= MAX_CUSTOM_TYPES:
        raise Conflict(f"there are {MAX_CUSTOM_TYPES} memory types already; delete or rewrite one of them")


def refuse_unknown(services: Services, owner: User, policy: MemoryPolicy | None) -> None:
    """Raises InvalidArgument for a policy with a type that neither the service nor the user has declared."""
    if policy is None or not policy.custom:
        return
    own = [each.name for each in read_all(services, owner)]
    unknown = sorted(set(policy.custom) - set(own))
    if unknown:
        message = f"unknown memory types {unknown}; known are {', '.join((*KNOWN_TYPES, *own))}"
        field = "memory_policy.memory_types"
        raise InvalidArgument(f"{field}: {message}", validation_errors=[{"field": field, "message": message}])
