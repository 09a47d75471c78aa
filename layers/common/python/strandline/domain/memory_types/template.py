"""A memory's body by the template of its type: values, and the lines of its patch fields."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from strandline.domain.field_value import FieldValue
from strandline.domain.learning import experience
from strandline.domain.line import CONTENT, DERIVED, Line
from strandline.domain.memory_types import REGISTRY
from strandline.domain.memory_types.base import filled, placeholders
from strandline.domain.memory_types.experiences import EXPERIENCES
from strandline.domain.memory_types.outcomes import OUTCOMES

TEMPLATE = "_template"
"""The value that holds the template of a type which is not in the registry."""

INDEX = "_index"
"""The value that holds what such a memory is found by."""


def laid_out(memory_type: str, values: Sequence[FieldValue], lines: Iterable[Line]) -> list[str]:
    """The blocks of a body, in the template's order; lines of fields that it does not name come last. That of an
    experience follows from its runs."""
    if memory_type == EXPERIENCES.name:
        return [*experience.laid_out(values), *filter(None, ["\n".join(map(str, lines))])]
    known = {value.field: value.value for value in values}
    if not known.keys().isdisjoint(OUTCOMES):
        known = {**dict.fromkeys(OUTCOMES, 0), **known}  # all five, also when one was taken back
    by_field: dict[str, list[Line]] = {}
    for line in lines:
        by_field.setdefault(line.field, []).append(line)
    blocks = list(_blocks(_template(memory_type, known).split("\n"), known, by_field))
    return blocks + ["\n".join(map(str, by_field[field])) for field in sorted(by_field)]


def _template(memory_type: str, values: Mapping[str, object]) -> str:
    kind = REGISTRY.get(memory_type)
    return kind.template if kind else str(values.get(TEMPLATE, f"{{{CONTENT}}}"))


def _blocks(
    rows: Iterable[str], values: Mapping[str, object], by_field: dict[str, list[Line]]
) -> Iterator[str]:
    """The lines shown are taken out of `by_field`."""
    heading: list[str] = []
    told: list[str] = []
    for row in rows:
        names = placeholders(row)
        lines = by_field.pop(names[0], []) if row == f"{{{names[0] if names else ''}}}" else []
        if told and (lines or not row.strip()):
            yield "\n".join(told)
            told = []
        if lines:
            yield "\n".join([*heading, *map(str, lines)])
            heading = []
        elif names and all(name in values for name in names):
            told += [*heading, f"{filled(row, values)} {DERIVED}"]
            heading = []
        elif row.strip() and not names:
            heading = [f"{row} {DERIVED}"]
    if told:
        yield "\n".join(told)


def told(memory_type: str, values: Sequence[FieldValue]) -> str:
    """The values as the body shows them, in one line."""
    shown = laid_out(memory_type, values, ())
    return "; ".join(row.removesuffix(DERIVED).strip() for block in shown for row in block.split("\n"))


def searched_by(memory_type: str, title: str, values: Sequence[FieldValue]) -> str:
    """What a memory's lines are found by besides their own words."""
    known = {value.field: value.value for value in values}
    kind = REGISTRY.get(memory_type)
    if kind is None:
        return str(known.get(INDEX, title))
    shown = {name: known.get(name, "") for name in placeholders(kind.index)}
    return filled(kind.index, {**shown, "title": title}).strip()
