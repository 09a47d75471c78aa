import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strandline.domain.working_memory.document import SECTIONS, Document, parse, render
from strandline.domain.working_memory.limits import (
    SECTION_CHARS,
    SECTION_TOKENS,
    TOTAL_CHARS,
    TOTAL_TOKENS,
    cut_to,
    weight,
    within_limits,
)

LONG = "a fact of about sixty characters, number"
FULL = Document("boats", 900)
for _name in SECTIONS:
    FULL = FULL.with_items(_name, [f"{_name}: {LONG} {n}" for n in range(400)])


def tokens(text: str) -> int:
    return sum(weight(line) for line in text.splitlines())


def words(text: str) -> int:
    return len(text.split())


def test_what_is_within_the_limits_stays_as_it_is() -> None:
    document = Document("boats", 3).with_items("errors", ["e" * 390], 2)
    assert within_limits(document) == document


def test_a_section_lets_go_of_its_oldest_items_and_counts_them() -> None:
    document = within_limits(Document().with_items("facts", [f"{LONG} {n}" for n in range(400)], 5))
    kept = document.of("facts")
    assert kept[-1] == f"{LONG} 399"
    assert 100 < len(kept) < 200
    assert document.left == {"facts": 5 + 400 - len(kept)}
    assert len(render(document)) <= SECTION_CHARS + len("# conversation\n\n")


def test_what_the_session_began_with_stays() -> None:
    document = within_limits(Document().with_items("task", ["began", *(f"{LONG} {n}" for n in range(400))]))
    assert document.of("task")[0] == "began"
    assert document.of("task")[-1] == f"{LONG} 399"


def test_errors_are_shortened_before_one_is_let_go_of() -> None:
    errors = [f"[{n}] bash failed: " + "x" * 300 for n in range(60)]
    document = within_limits(Document().with_items("errors", errors))
    assert len(document.of("errors")) == 60
    assert document.left == {}
    assert document.of("errors")[0].endswith("…")
    assert document.of("errors")[-1] == errors[-1]


def test_all_sections_together_are_limited_too() -> None:
    document = within_limits(FULL)
    assert len(render(document)) <= TOTAL_CHARS
    assert tokens(render(document)) <= TOTAL_TOKENS
    assert tokens(render(document)) > TOTAL_TOKENS * 0.8
    assert all(len(document.of(name)) + document.left[name] == 400 for name in SECTIONS)


def test_chinese_is_bounded_by_tokens() -> None:
    document = within_limits(Document().with_items("facts", [f"第{n}条" + "事" * 90 for n in range(100)]))
    assert tokens(render(document)) <= SECTION_TOKENS + 10
    assert len(render(document)) < SECTION_CHARS / 3


@given(
    st.dictionaries(
        st.sampled_from(SECTIONS),
        st.lists(st.text(alphabet="ab 漢🙂\n", max_size=500), max_size=80),
    )
)
@settings(max_examples=60, deadline=None)
def test_no_document_is_over_a_limit_and_doing_it_twice_changes_nothing(items: dict[str, list[str]]) -> None:
    document = Document("t", 9)
    for name in SECTIONS:
        document = document.with_items(name, items.get(name, []))
    held = within_limits(document)
    assert len(render(held)) <= TOTAL_CHARS
    assert tokens(render(held)) <= TOTAL_TOKENS
    assert within_limits(held) == held
    assert parse(render(held)) == held
    for name in SECTIONS:
        alone = render(Document().with_items(name, held.of(name), held.left.get(name, 0)))
        assert len(alone) <= SECTION_CHARS + len("# conversation\n\n")
        assert len(held.of(name)) + held.left.get(name, 0) == len(document.of(name))


def test_a_document_that_fits_is_shown_whole() -> None:
    document = Document("boats", 3).with_items("facts", ["one", "two"])
    assert cut_to(document, words(render(document)), words) == render(document)


def test_what_is_needed_to_go_on_comes_first() -> None:
    document = Document("boats", 3)
    for name in SECTIONS:
        document = document.with_items(name, [f"{name} {n}" for n in range(5)])
    shown = parse(cut_to(document, 60, words))
    assert shown.of("state") == document.of("state")
    assert shown.of("task")[0] == "task 0"
    assert shown.left["task"] == 5 - len(shown.of("task"))
    assert "worklog" not in shown.items
    more = parse(cut_to(document, 190, words))
    assert more.of("open")[-1] == "open 4"
    assert more.of("errors")[-1] == "errors 4"
    assert more.of("worklog")[-1:] == ("worklog 4",)


def test_nothing_fits_into_nothing() -> None:
    assert cut_to(FULL, 0, words) == ""
    assert cut_to(FULL, -1, words) == ""


@pytest.mark.parametrize("budget", [5, 20, 50, 200, 1_000, 5_000])
def test_the_cut_keeps_to_its_budget_and_uses_most_of_it(budget: int) -> None:
    shown = cut_to(within_limits(FULL), budget, words)
    assert words(shown) <= budget
    assert words(shown) >= min(budget - 40, 0.7 * budget) or budget < 50


@given(st.integers(0, 400), st.lists(st.text(alphabet="ab 漢🙂-#", max_size=90), max_size=30))
@settings(max_examples=100, deadline=None)
def test_any_cut_keeps_to_its_budget(budget: int, items: list[str]) -> None:
    document = Document("t", 9).with_items("facts", items[:15], 4).with_items("errors", items[15:])
    assert len(cut_to(document, budget, len)) <= budget
