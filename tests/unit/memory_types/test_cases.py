"""Each memory type by its cases: the files that archives come to, whatever the order, once or twice."""

import re
from itertools import permutations
from typing import Any

import pytest

from strandline.domain.memory_types import REGISTRY
from strandline.storage.markdown import parse, render
from tests.unit.memory_types.merged import CASES, candidates, cases, merged

_QUOTE = re.compile(r" q:[0-9a-f]{12}")  # the cases say what is written, not its hashes
ALL = [
    pytest.param(case, id=f"{path.stem}: {case['case']}")
    for path in sorted(CASES.glob("*.yaml"))
    for case in cases(path)
]


@pytest.mark.parametrize("case", ALL)
def test_the_files_of_a_case(case: dict[str, Any]) -> None:  # B-C1 B-C6
    found = [candidates(archive) for archive in case["archives"]]
    files = merged(found)
    assert {path: _QUOTE.sub("", memory.body) for path, memory in files.items()} == case["files"]
    assert [refused.reason for each in found for refused in each.rejected] == case.get("rejected", [])


@pytest.mark.parametrize("case", ALL)
def test_any_order_gives_the_same_files(case: dict[str, Any]) -> None:  # B-C9
    found = [candidates(archive) for archive in case["archives"]]
    expected = {path: render(memory) for path, memory in merged(found).items()}
    for order in permutations(found):
        assert {path: render(memory) for path, memory in merged([*order, *order]).items()} == expected


@pytest.mark.parametrize("case", ALL)
def test_a_file_is_read_as_it_was_written(case: dict[str, Any]) -> None:
    for memory in merged([candidates(archive) for archive in case["archives"]]).values():
        assert parse(render(memory)) == memory


def test_every_type_has_its_cases() -> None:
    assert {path.stem for path in CASES.glob("*.yaml")} == set(REGISTRY)
