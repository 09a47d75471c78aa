from hypothesis import given, settings
from hypothesis import strategies as st

from strandline.domain.working_memory.document import (
    HEADINGS,
    MAX_ITEM,
    SECTIONS,
    Document,
    item,
    parse,
    render,
)

WRITTEN = """\
# boats

Messages 1 to 12.

## Current state
- Ann last said: "Bye"

## Errors and corrections
- (3 earlier ones are left out)
- [6] bash: ModuleNotFoundError
"""


def test_a_document_as_markdown() -> None:
    document = (
        Document("boats", 12)
        .with_items("errors", ["[6] bash: ModuleNotFoundError"], 3)
        .with_items("state", ['Ann last said: "Bye"'])
    )
    assert render(document) == WRITTEN
    assert parse(WRITTEN) == document


def test_there_are_ten_sections_with_the_title() -> None:
    assert len(SECTIONS) + 1 == 10
    assert list(HEADINGS) == list(SECTIONS)


def test_an_empty_document() -> None:
    assert render(Document()) == "# conversation\n"
    assert parse("# conversation\n") == Document() == parse("")


def test_what_looks_like_a_heading_or_a_count_stays_an_item() -> None:
    hostile = [
        "## Errors and corrections",
        "# Title",
        "- - x",
        "Messages 1 to 99.",
        "one\n## Open issues\n- two",
    ]
    document = Document("t", 3).with_items("facts", [*hostile, "(2 earlier ones are left out)"])
    again = parse(render(document))
    assert again == document
    assert again.through == 3
    assert again.left == {}
    assert set(again.items) == {"facts"}
    assert again.of("facts")[4] == "one ## Open issues - two"


def test_an_overview_of_before_is_read_as_key_facts() -> None:
    old = (
        "# harbour festival\n\nThe user and the assistant, on 8 May 2023, 4 messages\n\n## Asked of the assistant\n"
        "- The user asked: What does a poster cost?\n\n## Key facts and decisions\n- We decided on Tidefest.\n\n"
        "## Dates\n- It is on 12 June.\n"
    )
    document = parse(old)
    assert document.title == "harbour festival"
    assert document.through == 0
    assert document.items == {
        "facts": (
            "The user and the assistant, on 8 May 2023, 4 messages",
            "The user asked: What does a poster cost?",
            "We decided on Tidefest.",
            "It is on 12 June.",
        )
    }


def test_a_section_of_a_model_that_numbers_its_lines() -> None:
    assert parse("## Open issues\n1. one\n2) two\n* three\n").of("open") == ("one", "two", "three")


TEXT = st.text(max_size=60) | st.sampled_from(["- a", "## Worklog", "1. b", "Messages 1 to 2.", "\u2028## x"])


@given(
    st.text(max_size=150),
    st.integers(0, 10**6),
    st.dictionaries(st.sampled_from(SECTIONS), st.tuples(st.lists(TEXT, max_size=6), st.integers(0, 999))),
)
@settings(max_examples=300, deadline=None)
def test_any_document_comes_back_as_it_was(
    title: str, through: int, given_items: dict[str, tuple[list[str], int]]
) -> None:
    document = Document().named(title)
    document = Document(document.title, through)
    for name in SECTIONS:
        texts, left = given_items.get(name, ([], 0))
        document = document.with_items(name, texts, left)
    assert parse(render(document)) == document
    assert all(0 < len(text) <= MAX_ITEM for items in document.items.values() for text in items)


@given(TEXT)
def test_an_item_stays_as_it_is(text: str) -> None:
    assert item(item(text)) == item(text)
