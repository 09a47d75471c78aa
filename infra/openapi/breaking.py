"""What of a changed description breaks clients of the older one.

A path, method, parameter or field that is gone; something that has to be sent now; a value that is no longer taken, or
that was not answered before; another operation id (generated clients call methods by it); a key needed where none was.
Not a break: whatever is added, and another error. Clients know errors by their envelope, whose shape is compared.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from infra.openapi.schemas import Containment, Schema

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
JSON = "application/json"
ERROR: Schema = {"$ref": "#/components/schemas/Error"}


def breaking(old: Schema, new: Schema) -> list[str]:
    """What breaks clients of `old`, one line each; nothing when there is nothing, or when the version says so."""
    return [] if _line(old) != _line(new) else list(_differences(old, new))


def _line(document: Schema) -> list[str]:
    """What a version promises to be compatible with: 1.x, and before that 0.y."""
    major, minor = document["info"]["version"].split(".")[:2]
    return [major, minor] if major == "0" else [major]


def _differences(old: Schema, new: Schema) -> Iterator[str]:
    yield from Containment(new, old, old_is_inner=False).differences(ERROR, ERROR, "an error")
    for path, methods in old["paths"].items():
        for method in sorted(set(methods) & set(METHODS)):
            where = f"{method.upper()} {path}"
            now = new["paths"].get(path, {}).get(method)
            if now is None:
                yield f"{where}: is gone"
            else:
                yield from _operation(_Change(old, new, methods[method], now), where)


class _Change:
    """An operation as it was and as it is, in their documents."""

    def __init__(self, old: Schema, new: Schema, before: Schema, now: Schema) -> None:
        self.before, self.now = before, now
        self.requests = Containment(old, new, old_is_inner=True)
        self.answers = Containment(new, old, old_is_inner=False)
        self.old, self.new = old, new


def _operation(change: _Change, where: str) -> Iterator[str]:
    if change.before["operationId"] != change.now["operationId"]:
        yield f"{where}: operationId {change.before['operationId']} is {change.now['operationId']} now"
    if not _keys(change.before, change.old) and _keys(change.now, change.new):
        yield f"{where}: needs a key now"
    yield from _parameters(change, where)
    yield from _body(change, where)
    yield from _answer(change, where)


def _keys(operation: Schema, document: Schema) -> Any:
    return operation.get("security", document.get("security"))


def _parameters(change: _Change, where: str) -> Iterator[str]:
    before = _by_name(change.before, change.old)
    now = _by_name(change.now, change.new)
    for name in sorted(set(before) - set(now)):
        yield f"{where}: {name} is gone"
    for name, parameter in sorted(now.items()):
        known = before.get(name, {})
        if parameter.get("required") and not known.get("required"):
            yield f"{where}: {name} is required now"
        if known:
            yield from change.requests.differences(known["schema"], parameter["schema"], f"{where}: {name}")
            yield from _default(known["schema"], parameter["schema"], f"{where}: {name}")


def _by_name(operation: Schema, document: Schema) -> dict[str, Any]:
    found = [_found(each, document) for each in operation.get("parameters", ())]
    return {f"{each['in']} {each['name'].lower()}": each for each in found}


def _found(item: Mapping[str, Any], document: Schema) -> Any:
    kind, name = item.get("$ref", "//").split("/")[-2:]
    return document["components"][kind][name] if "$ref" in item else item


def _default(before: Schema, now: Schema, where: str) -> Iterator[str]:
    if before.get("default") != now.get("default"):
        yield f"{where}: default {before.get('default')} is {now.get('default')} now"


def _body(change: _Change, where: str) -> Iterator[str]:
    before, now = change.before.get("requestBody"), change.now.get("requestBody")
    if before is not None and now is None:
        yield f"{where}: the body is gone"
    if now is not None and now.get("required") and not (before or {}).get("required"):
        yield f"{where}: a body is required now"
    if before is not None and now is not None:
        inner, outer = before["content"][JSON]["schema"], now["content"][JSON]["schema"]
        yield from change.requests.differences(inner, outer, f"{where}: body")


def _answer(change: _Change, where: str) -> Iterator[str]:
    """What stands under 200. Every other answer is the envelope of an error."""
    before = _found(change.before["responses"]["200"], change.old)
    now = _found(change.now["responses"].get("200", {}), change.new)
    for media, outer in before["content"].items():
        inner = now.get("content", {}).get(media)
        if inner is None:
            yield f"{where}: answers no {media} any more"
            return
        yield from change.answers.differences(inner["schema"], outer["schema"], f"{where}: answer")
    for name in sorted(set(before.get("headers", {})) - set(now.get("headers", {}))):
        yield f"{where}: answers no header {name} any more"
