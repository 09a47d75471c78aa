"""Whether every value that one JSON schema allows is allowed by another, and if not, where.

That one question decides a change of an API: what clients sent must still be taken, so the old schema of a request has
to lie within the new one; what is answered must be what clients were promised, so the new schema of an answer has to
lie within the old one. Objects are open: a field more is no difference, a field of the old schema that is gone is one.

A subset of JSON Schema is understood, the one that pydantic writes. What is not understood is not taken for granted:
a keyword that only the outer schema has, or has otherwise, counts as a difference.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

Schema = Mapping[str, Any]

AT_LEAST = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
AT_MOST = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
NOTES = (
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "discriminator",
    "readOnly",
    "writeOnly",
)
UNDERSTOOD = (
    *AT_LEAST,
    *AT_MOST,
    *NOTES,
    *("type", "enum", "properties", "required", "additionalProperties", "items"),
)


@dataclass
class Containment:
    """Compares schemas of two documents. `old_is_inner`: which of them is the older one (a request's is the inner)."""

    inner: Schema
    outer: Schema
    old_is_inner: bool
    _open: list[str] = field(default_factory=list)

    def differences(self, inner: Schema, outer: Schema, where: str) -> Iterator[str]:
        """What of `inner` does not lie within `outer`."""
        pair = json.dumps([inner, outer])
        if pair in self._open:  # a schema that contains itself
            return
        self._open.append(pair)
        outers = alternatives(outer, self.outer)
        for option in alternatives(inner, self.inner):
            yield from self._closest(option, outers, where)
        self._open.remove(pair)

    def _closest(self, option: Schema, outers: Sequence[Schema], where: str) -> list[str]:
        """The differences to the alternative that comes closest."""
        fitting = [outer for outer in outers if _same_kind(option, outer)]
        if not fitting:
            return [f"{where}: {_shown(option)} {self._lost}"]
        return min((list(self._within(option, outer, where)) for outer in fitting), key=len)

    @property
    def _lost(self) -> str:
        return "is no longer taken" if self.old_is_inner else "was not answered before"

    def _within(self, inner: Schema, outer: Schema, where: str) -> Iterator[str]:
        if "enum" in inner or "enum" in outer:
            yield from self._values(inner, outer, where)
            return
        for name in (*AT_LEAST, *AT_MOST):
            if _tighter(name, inner, outer):
                yield f"{where}: {name} {inner.get(name)} and {outer[name]}: some {self._lost}"
        for name in sorted(set(outer) - set(UNDERSTOOD)):
            if inner.get(name) != outer[name]:
                yield f"{where}: {name} is another"
        yield from self._items(inner, outer, where)
        yield from self._object(inner, outer, where)

    def _values(self, inner: Schema, outer: Schema, where: str) -> Iterator[str]:
        if "enum" not in inner:
            yield f"{where}: other values than {outer['enum']} {self._lost.replace('is', 'are', 1)}"
            return
        for value in inner["enum"]:
            if value not in outer.get("enum", [value]):
                yield f"{where}: {json.dumps(value)} {self._lost}"

    def _items(self, inner: Schema, outer: Schema, where: str) -> Iterator[str]:
        if "items" in outer:
            yield from self.differences(inner.get("items", {}), outer["items"], f"{where}[]")

    def _object(self, inner: Schema, outer: Schema, where: str) -> Iterator[str]:
        named, wanted = inner.get("properties", {}), outer.get("properties", {})
        old, new = (named, wanted) if self.old_is_inner else (wanted, named)
        yield from (f"{where}.{name}: is gone" for name in sorted(set(old) - set(new)))
        for name in sorted(set(outer.get("required", ())) - set(inner.get("required", ()))):
            if self.old_is_inner or name in named:
                yield f"{where}.{name}: {'is required now' if self.old_is_inner else 'may be missing now'}"
        for name in sorted(set(named) & set(wanted)):
            yield from self.differences(named[name], wanted[name], f"{where}.{name}")
        yield from self._others(inner, outer, where)

    def _others(self, inner: Schema, outer: Schema, where: str) -> Iterator[str]:
        """Fields that are not named."""
        others, wanted = inner.get("additionalProperties", True), outer.get("additionalProperties", True)
        if wanted is False and others is not False:
            yield f"{where}: fields that are not named {self._lost.replace('is', 'are', 1)}"
        elif isinstance(wanted, Mapping) and others is not False:
            yield from self.differences(others if isinstance(others, Mapping) else {}, wanted, f"{where}.*")


def alternatives(schema: Schema, document: Schema) -> list[Schema]:
    """The schema without references, as alternatives of one type each (no type: any value)."""
    plain = _resolved(schema, document)
    if "allOf" in plain:
        parts = [_resolved(part, document) for part in plain["allOf"]]
        return alternatives(_merged([_without(plain, "allOf"), *parts]), document)
    for union in ("anyOf", "oneOf"):
        if union in plain:
            rest = _without(plain, union)
            return [
                alternative
                for part in plain[union]
                for alternative in alternatives(_merged([rest, _resolved(part, document)]), document)
            ]
    return _typed(plain)


def _typed(plain: Schema) -> list[Schema]:
    if "const" in plain:
        plain = {**_without(plain, "const"), "enum": [plain["const"]]}
    kinds = plain.get("type")
    if isinstance(kinds, list):
        return [{**plain, "type": kind} for kind in kinds]
    if kinds is None and "enum" in plain:
        return [{**plain, "type": _type_of(value), "enum": [value]} for value in plain["enum"]]
    return [plain]


def _resolved(schema: Schema, document: Schema) -> Schema:
    while "$ref" in schema:
        found: Any = document
        for name in schema["$ref"].removeprefix("#/").split("/"):
            found = found[name]
        schema = _merged([_without(schema, "$ref"), found])
    return schema


def _without(schema: Schema, name: str) -> Schema:
    return {key: value for key, value in schema.items() if key != name}


def _merged(schemas: Sequence[Schema]) -> Schema:
    """All of the schemas at once: the later one says more."""
    made: dict[str, Any] = {}
    for schema in schemas:
        properties = {**made.get("properties", {})}
        for name, value in schema.get("properties", {}).items():
            properties[name] = {"allOf": [properties[name], value]} if name in properties else value
        required = [*made.get("required", ()), *schema.get("required", ())]
        made = {**made, **schema}
        made |= {"properties": properties} if properties else {}
        made |= {"required": required} if required else {}
    return made


def _same_kind(inner: Schema, outer: Schema) -> bool:
    kind, wanted = inner.get("type"), outer.get("type")
    return wanted in (None, kind) or (kind, wanted) == ("integer", "number")


def _type_of(value: Any) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "null")


def _tighter(name: str, inner: Schema, outer: Schema) -> bool:
    if name not in outer:
        return False
    lower = name in AT_LEAST
    free = -inf if lower else inf
    return bool(inner.get(name, free) < outer[name] if lower else inner.get(name, free) > outer[name])


def _shown(schema: Schema) -> str:
    if "enum" in schema:
        return ", ".join(json.dumps(value) for value in schema["enum"])
    return str(schema.get("type", "any value"))
