"""What the documents say is held against what they speak of, where that is cheap."""

import importlib
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from infra.local.template import Template
from strandline import flow

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    file
    for file in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("sdk/**/*.md"))
    if ".venv" not in file.parts
)
UNITS = {"KiB": 1024, "MiB": 1024**2, "seconds": 1, "hours": 3_600, "days": 86_400}
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_LIMIT = re.compile(
    r"^\| .+ \| ([\d,.]+) ?([^|(]*?)(?: \(413\))? \| `([\w/]+)\.py` `(\w+)` \|$", re.MULTILINE
)


_SHOWN = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def said(name: str) -> str:
    return (ROOT / name).read_text()


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as they are made of their words."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for link in _LINK.findall(page.read_text()):
        path, _, anchor = link.partition("#")
        if "://" in path or path.startswith("mailto:"):
            continue
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_operations_names_every_parameter_with_its_default(template: Template) -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", said("docs/OPERATIONS.md"), re.MULTILINE))
    parameters = template.document["Parameters"]
    assert {name: rows.get(name) for name in parameters} == {
        name: f"`{parameter['Default']}`" if parameter["Default"] != "" else "empty"
        for name, parameter in parameters.items()
    }


@pytest.mark.parametrize("kind", ["AWS::CloudWatch::Alarm", "AWS::SQS::Queue", "AWS::Serverless::Function"])
def test_operations_names_every_one_of(kind: str, template: Template) -> None:
    page = said("docs/OPERATIONS.md")
    assert [name for name in template.resources(kind) if f"`{name}`" not in page] == []


def test_operations_names_every_output(template: Template) -> None:
    page = said("docs/OPERATIONS.md")
    assert [name for name in template.document["Outputs"] if f"`{name}`" not in page] == []


def test_every_word_of_make_is_there() -> None:
    words = set(re.search(r"^\.PHONY: (.+)$", said("Makefile"), re.MULTILINE)[1].split())  # type: ignore[index]
    named = {
        word
        for page in PAGES
        for run in re.findall(r"`make ([a-z ]+)`", page.read_text())
        for word in run.split()
    }
    assert named - words == set()
    assert {"run", "test", "check", "build", "deploy"} <= named | words


def _limits() -> list[Any]:
    found = _LIMIT.findall(said("docs/LIMITS.md"))
    return [pytest.param(*limit, id=limit[3]) for limit in found]


def test_the_readme_draws_the_flow_as_it_is() -> None:
    drawing = re.search(r"```\n(     .+?)\n```", said("README.md"), re.DOTALL)
    assert drawing
    assert drawing[1] in str(flow.__doc__)


def test_limits_are_found() -> None:
    assert len(_limits()) == said("docs/LIMITS.md").count(".py` `")


@pytest.mark.parametrize(("number", "unit", "module", "name"), _limits())
def test_limits_are_those_of_the_code(number: str, unit: str, module: str, name: str) -> None:
    actual = getattr(importlib.import_module(f"strandline.{module.replace('/', '.')}"), name)
    seconds = actual.total_seconds() if isinstance(actual, timedelta) else actual
    assert float(number.replace(",", "")) * UNITS.get(unit.strip(), 1) == seconds


def test_every_test_that_shows_a_guarantee_is_there() -> None:
    shown = {(file, name) for page in PAGES for file, name in _SHOWN.findall(page.read_text())}
    assert [f"{file}::{name}" for file, name in sorted(shown) if f"\ndef {name}(" not in said(file)] == []


def test_every_guarantee_is_shown_by_a_test() -> None:
    promised = (
        said("docs/GUARANTEES.md").partition("## Messages")[2].partition("## What a simulation checks")[0]
    )
    rows = [row for row in promised.splitlines() if row.startswith("| ") and "shown by" not in row]
    assert len(rows) > 20
    assert [row for row in rows if not _SHOWN.search(row)] == []


def test_no_finding_is_passed_over() -> None:
    rows = re.findall(r"^\| ((?:[RSX]\d+(?:, )?)+) \|", said("docs/FINDINGS.md"), re.MULTILINE)
    told = {finding for row in rows for finding in row.split(", ")}
    known = {f"{kind}{n}" for kind, last in (("R", 23), ("S", 19), ("X", 32)) for n in range(1, last + 1)}
    assert told == known
