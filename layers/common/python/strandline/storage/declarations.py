"""The memory types that a user has declared, as files in the user's own tree: YAML, JSON, or markdown whose front
matter declares and whose text instructs.

Somebody may have put them there by hand, so what is stored may be no declaration; then it says why.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, Literal

import yaml

from strandline.domain.memory_types.custom import MAX_CUSTOM_TYPES, Declaration, NotValid, declared
from strandline.ports import ObjectStore
from strandline.storage.answered import answered
from strandline.storage.layout import User
from strandline.storage.once import fetch
from strandline.storage.parsing import declared_type

Form = Literal["yaml", "json", "md"]
FORMS: tuple[Form, ...] = ("yaml", "json", "md")
MAX_BYTES = 16 * 1024
_LISTED = 3 * MAX_CUSTOM_TYPES
_FRONT = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)
_Loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def read_all(store: ObjectStore, owner: User) -> Sequence[Declaration]:
    """What the user has declared, by name; a name that comes in several forms counts in the first. One LIST, one GET
    each. Raises Unavailable."""
    found: dict[str, Declaration] = {}
    with answered("the store did not answer; repeat the request"):
        keys = [key for key, _ in zip(store.keys(owner.types), range(_LISTED), strict=False)]
    for key in keys:
        parsed = declared_type(key)
        if parsed is None or parsed[0] in found or len(found) >= MAX_CUSTOM_TYPES:
            continue
        body = fetch(store, key)
        if body is not None:
            found[parsed[0]] = read(*parsed, body.decode("utf-8", "replace"))
    return list(found.values())


def read(name: str, form: str, content: str) -> Declaration:
    """The declaration that a text is, or one that says what is wrong with it."""
    try:
        return Declaration(name, form, content, declared(name, _mapping(form, content)))
    except NotValid as error:
        return Declaration(name, form, content, None, tuple(error.problems))


def write(store: ObjectStore, owner: User, declaration: Declaration) -> None:
    """Stores a declaration; the bucket keeps what was there. Raises Unavailable."""
    key = owner.memory_type(declaration.name, declaration.form)
    with answered("the store did not answer; repeat the request"):
        store.put(key, declaration.content.encode())


def remove(store: ObjectStore, owner: User, name: str) -> None:
    """Removes what declares a type, in every form; the bucket keeps what was there. Raises Unavailable."""
    with answered("the store did not answer; repeat the request"):
        for form in FORMS:
            store.delete(owner.memory_type(name, form))


def _mapping(form: str, content: str) -> dict[str, Any]:
    if len(content.encode()) > MAX_BYTES:
        raise NotValid([("content", f"may hold {MAX_BYTES} bytes")])
    given = _parsed(form, content)
    if not isinstance(given, dict) or not all(isinstance(name, str) for name in given):
        raise NotValid([("content", f"is no {form.upper()} object")])
    return given


def _parsed(form: str, content: str) -> Any:
    try:
        if form == "json":
            return json.loads(content)
        if form == "md":
            return _of_markdown(content)
        return yaml.load(content, Loader=_Loader)  # noqa: S506 - the base loader makes nothing but texts
    except (yaml.YAMLError, ValueError, RecursionError):
        raise NotValid([("content", f"is not valid {form.upper()}")]) from None


def _of_markdown(content: str) -> Any:
    match = _FRONT.match(content)
    if match is None:
        raise NotValid([("content", "begins with no front matter between two lines of ---")])
    given = yaml.load(match[1], Loader=_Loader)  # noqa: S506 - as above
    text = content[match.end() :].strip()
    return {**given, "instruction": text} if isinstance(given, dict) and text else given
