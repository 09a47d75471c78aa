"""The pure merge into a memory: what one extraction says is taken in once, in any order, with the same result.

A memory is a function of what it has absorbed: a set of lines, a set of patches, values that join, and links. Its body
is rendered from these and from its owner's own text; nothing in it depends on when or in which order it was merged.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from strandline.domain.field_value import FieldValue, joined, minus
from strandline.domain.learning.newest import newest_lines, newest_links
from strandline.domain.learning.run import bounded
from strandline.domain.learning.standing import is_aside, names
from strandline.domain.line import Line, read_lines
from strandline.domain.link import Link, shown
from strandline.domain.memory import Memory, after, living
from strandline.domain.memory_types.experiences import EXPERIENCES
from strandline.domain.memory_types.template import laid_out
from strandline.domain.patch import Patch, Skipped, reopened, settle, taken_over

Ends = tuple[tuple[str, str], ...]
"""Lines that a model has found ended, each with the line that takes over; both as `patch.spelled` spells them."""


@dataclass(frozen=True)
class Addition:
    """What one extraction says of one memory file: what the merge applies."""

    extraction: str
    path: str
    type: str
    title: str
    peer: str | None
    lines: tuple[Line, ...] = ()
    patches: tuple[Patch, ...] = ()
    values: tuple[FieldValue, ...] = ()
    links: tuple[Link, ...] = ()

    def rank(self) -> tuple[str, str]:
        """Earlier conversations first: the order in which a batch is reported."""
        return min(self.times, default=""), self.extraction

    @property
    def times(self) -> list[str]:
        """When what it says was said."""
        lines = (*self.lines, *(line for patch in self.patches for line in patch.lines))
        said = [line.source.at for line in lines] + [patch.source.at for patch in self.patches]
        return said + [value.at for value in self.values]


def absorb(memory: Memory | None, addition: Addition, ends: Ends = ()) -> Memory | None:
    """The memory with the addition taken in; the same memory where it was already, or where it adds nothing.

    Idempotent, and the order of additions makes no difference to the result. `ends` hold once both of their lines are
    there.
    """
    if memory is not None and addition.extraction in memory.applied:
        return memory
    there = living(memory)
    lines, own = read_lines(there.body) if there else ([], [f"# {addition.title}"])
    fresh = set(addition.lines) - set(lines)
    if not fresh and not addition.patches and not addition.values:
        return memory
    times = [line.source.at for line in fresh] + replace(addition, lines=()).times
    known = there or after(memory, _begun(addition, at=min(times)))
    grown = replace(
        known,
        values=bounded(joined((*known.values, *addition.values))),
        patches=tuple(sorted({*known.patches, *addition.patches})),
        links=tuple(sorted({*known.links, *addition.links})),
        created_at=min(known.created_at, *times),
        updated_at=max(known.updated_at, *times),
        applied=tuple(sorted((*known.applied, addition.extraction))),
    )
    return _settled(grown, taken_over([*lines, *fresh], ends), own)


def without(memory: Memory, addition: Addition) -> Memory | None:
    """The memory as it would be had the addition not been absorbed; None when nothing would be left of it."""
    lines, own = read_lines(memory.body)
    made = {*addition.lines, *(line for patch in addition.patches for line in patch.lines)}
    rest = reopened((line for line in lines if line not in made), addition.patches)
    values = minus(memory.values, addition.values)
    less = replace(
        memory,
        values=values,
        patches=tuple(patch for patch in memory.patches if patch not in addition.patches),
        links=tuple(
            link for link in memory.links if link not in addition.links or _shared(memory, link, values)
        ),
    )
    if not rest and _is_bare(less) and not any(text.strip() for text in own[1:]):
        return None
    return _settled(less, rest, own)


def _is_bare(memory: Memory) -> bool:
    """Whether nothing is left of it but its text."""
    return not memory.values or (memory.type == EXPERIENCES.name and is_aside(memory.values))


def _shared(memory: Memory, link: Link, values: Iterable[FieldValue]) -> bool:
    """Whether other runs may have made the link, too: a case and its experience stay linked while both are there, and
    experiences while a lesson is left that says so."""
    ends = {memory.type, link.path.split("/", 1)[0]}
    return ends == {"cases", "experiences"} or names(values, link.path)


def skipped(memory: Memory, addition: Addition) -> tuple[Skipped, ...]:
    """Which of the addition's patches find no place in a memory that has absorbed it, and why."""
    if not addition.patches:
        return ()
    _, failed = settle(read_lines(memory.body)[0], memory.patches)
    return tuple(each for each in failed if each.patch in addition.patches)


def relinked(memory: Memory, links: Iterable[Link]) -> Memory:
    """The memory with exactly these links."""
    changed = replace(memory, links=tuple(sorted(set(links))))
    return memory if changed.links == memory.links else _settled(changed, *read_lines(memory.body))


def made_of(memory: Memory, lines: Iterable[Line]) -> Memory | None:
    """The memory with exactly these lines, beside its owner's own text; None when there is nothing of either."""
    _, own = read_lines(memory.body)
    rest = list(lines)
    if not rest and _is_bare(memory) and not any(text.strip() for text in own[1:]):
        return None
    return _settled(memory, rest, own)


def _settled(memory: Memory, lines: Iterable[Line], own: Sequence[str]) -> Memory:
    """The memory with these lines, its body written anew: its owner's own text first."""
    settled, _ = settle(lines, memory.patches)
    links = newest_links(memory.links)
    blocks = [
        "\n".join(own).strip("\n"),
        *laid_out(memory.type, memory.values, newest_lines(memory.type, settled)),
        "\n".join(shown(links, memory.path)),
    ]
    return replace(memory, links=links, body="\n\n".join(block for block in blocks if block) + "\n")


def _begun(addition: Addition, *, at: str) -> Memory:
    return Memory(
        path=addition.path,
        type=addition.type,
        title=addition.title,
        peer=addition.peer,
        body="",
        created_at=at,
        updated_at=at,
    )
