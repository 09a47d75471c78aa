"""The pure merge: any extractions, in any order, more than once, through the file and back: the same memory."""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from strandline.domain.field_value import FieldValue
from strandline.domain.line import Attribute, Line, Source, quote_hash, read_line
from strandline.domain.link import Link
from strandline.domain.memory import Memory
from strandline.domain.merging import Addition, absorb, without
from strandline.domain.patch import Patch
from strandline.storage.markdown import parse, render

DAYS = [f"2024-01-0{day}T10:00:00.000Z" for day in range(1, 4)]
WORDS = ["tea", "cake", "~~old~~ (until 1 May 2020)", "茶 — \u2028x"]
FIELDS = ["content", "notes"]
MERGES = {"calls": "sum", "status": "replace", "name": "immutable"}


@cache
def pool(extraction: int) -> Sequence[Line]:
    """Every line that the archive of that extraction may come to; nobody else cites it."""
    attributes = (None, Attribute("home", "oslo"), Attribute("home", "rome"))
    return [
        Line(Source(at, f"s {extraction}", 1, seq, 3, quote_hash("said")), text, field, attribute)
        for at, seq, text, field, attribute in product(DAYS, (1, 2), WORDS, FIELDS, attributes)
    ]


def lines(extraction: int, *, most: int = 3) -> st.SearchStrategy[tuple[Line, ...]]:
    return st.lists(st.sampled_from(pool(extraction)), max_size=most, unique=True).map(tuple)


def patches(extraction: int) -> st.SearchStrategy[tuple[Patch, ...]]:
    sources = sorted({line.source for line in pool(extraction)})
    searches = [*((word,) for word in WORDS), *product(WORDS, WORDS)]
    patch = st.builds(
        Patch,
        st.sampled_from(sources),
        st.sampled_from(searches),
        lines(extraction, most=1),
        st.sampled_from(FIELDS),
    )
    return st.lists(patch, max_size=2, unique=True).map(tuple)


@st.composite
def values(draw: st.DrawFn, extraction: int) -> tuple[FieldValue, ...]:
    names = draw(st.lists(st.sampled_from(sorted(MERGES)), unique=True))
    at = draw(st.sampled_from(DAYS))
    given_values = {name: draw(st.integers(-3, 3)) for name in names}
    return tuple(
        FieldValue(name, merge, value if merge == "sum" else str(value), at, f"s%20{extraction}/1#1")  # type: ignore[arg-type]
        for name, value in given_values.items()
        for merge in [MERGES[name]]
    )


def links(extraction: int) -> st.SearchStrategy[tuple[Link, ...]]:
    link = st.builds(Link, st.booleans(), st.just("mentions"), st.just(f"events/{extraction}.md"))
    return st.lists(link, max_size=1).map(tuple)


@st.composite
def additions(draw: st.DrawFn, extraction: int) -> Addition:
    told, patched = draw(lines(extraction)), draw(patches(extraction))
    made = {line for patch in patched for line in patch.lines}  # one claim is stored once
    return Addition(
        f"{extraction:012d}",
        "tools/t.md",
        "tools",
        "t",
        None,
        tuple(line for line in told if line not in made),
        patched,
        draw(values(extraction)),
        draw(links(extraction)),
    )


BATCHES = st.integers(1, 4).flatmap(lambda n: st.tuples(*(additions(each) for each in range(n))))


def merged(batch: Iterable[Addition]) -> Memory | None:
    """Each addition merged into the file as it is stored."""
    memory: Memory | None = None
    for addition in batch:
        memory = absorb(memory, addition)
        memory = parse(render(memory)) if memory else None
    return memory


@given(BATCHES, st.randoms(use_true_random=False))
def test_any_order_and_any_repeats_give_the_same_file(batch: tuple[Addition, ...], random: object) -> None:
    """B-C6 B-C9"""
    again = [*batch, *batch]
    random.shuffle(again)  # type: ignore[attr-defined]
    assert merged(again) == merged(batch) == merged(reversed(batch))


@given(BATCHES)
def test_what_was_absorbed_changes_nothing_again(batch: tuple[Addition, ...]) -> None:
    """B-C7"""
    memory = merged(batch)
    for addition in batch:
        if memory is not None and addition.extraction in memory.applied:
            assert absorb(memory, addition) is memory


@given(BATCHES)
def test_no_line_is_lost(batch: tuple[Addition, ...]) -> None:
    memory = merged(batch)
    there = set(memory.lines) if memory else set()
    assert {line for addition in batch for line in addition.lines} <= there


@given(BATCHES, additions(9))
def test_without_an_addition_its_lines_are_gone_and_others_are_not(
    batch: tuple[Addition, ...], last: Addition
) -> None:
    memory = merged([*batch, last])
    rest = without(memory, last) if memory else None
    kept = set(rest.lines) if rest else set()
    before = merged(batch)
    assert kept == (set(before.lines) if before else set())


@given(lines(1))
def test_a_line_is_read_as_it_was_written(found: tuple[Line, ...]) -> None:
    for line in found:
        read = read_line(str(line))
        assert (read, read.attribute if read else None) == (line, line.attribute)
