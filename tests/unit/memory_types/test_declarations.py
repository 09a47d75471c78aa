"""What a declaration may say."""

from typing import Any

import pytest
from pydantic import ValidationError

from strandline.domain.memory_types import BY_DEFAULT, REGISTRY, MemoryType

GOOD: dict[str, Any] = {
    "name": "recipes",
    "mode": "upsert",
    "fields": [
        {"name": "dish", "merge": "immutable"},
        {"name": "rating", "merge": "replace"},
        {"name": "content"},
    ],
    "file": "recipes/{dish}.md",
    "title": "Recipe: {dish}",
    "template": "Rating: {rating}\n\n{content}",
    "instruction": "Dishes and how they are made.",
    "index": "{dish} {title}",
}


def test_a_good_one() -> None:
    kind = MemoryType.model_validate(GOOD)
    assert kind.identity == ("dish",)
    assert (kind.enabled, kind.extracted) == (True, True)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"name": "Recipes"}, "name"),
        ({"name": "recipes/x"}, "name"),
        ({"file": "recipes/{rating}.md"}, "file: {rating} is no immutable field"),
        ({"file": "recipes/{dish.__class__}.md"}, "file: {dish.__class__} is no immutable field"),
        ({"file": "profile.md"}, "file: must be recipes.md"),
        ({"file": "recipes/../{dish}.md"}, "file: must be recipes.md"),
        ({"file": "recipes//{dish}.md"}, "file: must be recipes.md"),
        ({"file": "../{dish}.md"}, "file: must be recipes.md"),
        ({"file": "recipes/{dish}.txt"}, "file: must be recipes.md"),
        ({"file": "recipes/{dish}-{extraction}.md"}, "file: has {extraction} in its name"),
        ({"mode": "add_only"}, "file: has {extraction} in its name"),
        ({"title": "{rating}"}, "title: {rating} is nothing it can name"),
        ({"template": "{nothing}"}, "template: {nothing} is nothing it can name"),
        ({"index": "{nothing}"}, "index: {nothing} is nothing it can name"),
        ({"fields": []}, "fields: 1 to 12"),
        ({"fields": [*GOOD["fields"], {"name": "dish"}]}, "fields: a name comes twice"),
        ({"fields": [*GOOD["fields"], {"name": "quote"}]}, "fields: 'quote' is reserved"),
        ({"fields": [{"name": "dish", "merge": "append"}]}, "merge"),
        ({"fields": [{"name": "dish", "merge": "immutable", "secret": 1}]}, "secret"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_what_is_refused(change: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError) as refused:
        MemoryType.model_validate({**GOOD, **change})
    assert problem in str(refused.value)


def test_the_types_there_are() -> None:
    said = ["profile", "preferences", "entities", "events", "topics", "tools", "skills"]
    assert list(REGISTRY) == [*said, "cases", "trajectories", "experiences"]
    assert [kind.name for kind in BY_DEFAULT] == ["profile", "preferences", "entities", "events"]
