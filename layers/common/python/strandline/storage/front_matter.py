"""The parts of a memory's front matter that have parts themselves: fields, links and patches.

    fields:
      calls: {merge: sum, value: 12, at: '2026-05-08T11:56:00.000Z', from: trip/1#3-9}
    links:
    - mentions: entities/pets/rex.md
    backlinks:
    - mentions: events/2026/05/08/a-walk-58b34b22ddd6.md
    - {used: trajectories/refund-run-7-0c1d2e3f4a5b.md, at: '2026-05-08T11:56:00.000Z'}
    patches:
    - {source: trip/1#3 2026-… q:727024c16a7f, search: [Anna likes tea.], lines: ['- Anna … <!-- … -->']}

What was changed by hand and no longer reads as one of these is passed over.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, Field

from strandline.domain.field_value import FieldValue, ValueMerge
from strandline.domain.line import CONTENT, read_line, read_source
from strandline.domain.link import Link
from strandline.domain.memory import Memory
from strandline.domain.patch import Patch

NAMES = ("fields", "links", "backlinks", "patches")

Front = Mapping[str, Any]


def shown(memory: Memory) -> dict[str, Any]:
    """What the front matter says of these; what there is none of is None."""
    return {
        "fields": {value.field: _shown_value(value) for value in memory.values} or None,
        "links": [_shown_link(link) for link in memory.links if not link.back] or None,
        "backlinks": [_shown_link(link) for link in memory.links if link.back] or None,
        "patches": [_shown_patch(patch) for patch in memory.patches] or None,
    }


def _shown_link(link: Link) -> dict[str, str]:
    return {link.type: link.path, **({"at": link.at} if link.at else {})}


def _shown_value(value: FieldValue) -> dict[str, Any]:
    return {"merge": value.merge, "value": value.value, "at": value.at, "from": value.place}


def _shown_patch(patch: Patch) -> dict[str, Any]:
    marked = {} if patch.field == CONTENT else {"field": patch.field}
    lines = [str(line) for line in patch.lines]
    return {"source": str(patch.source), **marked, "search": list(patch.search), "lines": lines}


def values(front: Front) -> tuple[FieldValue, ...]:
    """The values of the fields, by name."""
    given = front.get("fields")
    rows = sorted(given.items()) if isinstance(given, dict) else []
    return tuple(value for name, row in rows if (value := _value(name, row)) is not None)


class _Value(BaseModel):
    merge: ValueMerge
    value: str
    at: str
    place: str = Field(alias="from")


def _value(name: str, row: Any) -> FieldValue | None:
    try:
        found = _Value.model_validate(row)
        value = int(found.value) if found.merge == "sum" else found.value
    except ValueError:
        return None
    return FieldValue(name, found.merge, value, found.at, found.place)


def links(front: Front) -> tuple[Link, ...]:
    """The links that start here and those that lead here, in order."""
    return tuple(
        sorted({*_links(front.get("links"), back=False), *_links(front.get("backlinks"), back=True)})
    )


def _links(rows: Any, *, back: bool) -> Iterator[Link]:
    for row in rows if isinstance(rows, list) else ():
        said = dict(row) if isinstance(row, dict) else {}
        at = said.pop("at", None)
        for kind, path in said.items():
            if isinstance(path, str) and path:
                yield Link(back, str(kind), path, at if isinstance(at, str) else None)


def patches(front: Front) -> tuple[Patch, ...]:
    """The patches, in order of conversation."""
    rows = front.get("patches")
    found = [_patch(row) for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return tuple(sorted(patch for patch in found if patch is not None))


def _patch(row: Mapping[str, Any]) -> Patch | None:
    source = read_source(str(row.get("source")))
    search, lines = row.get("search"), row.get("lines")
    if source is None or not isinstance(search, list) or not isinstance(lines, list):
        return None
    read = tuple(line for text in lines if (line := read_line(str(text))) is not None)
    return Patch(source, tuple(map(str, search)), read, str(row.get("field") or CONTENT))
