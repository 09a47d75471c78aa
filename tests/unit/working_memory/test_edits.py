import pytest

from strandline.domain.errors import ExtractionFailed
from strandline.domain.working_memory.document import Document
from strandline.domain.working_memory.edits import Edits, apply, numbered
from strandline.domain.working_memory.guards import refusal
from strandline.domain.working_memory.update import Update
from tests.unit.working_memory.stored import call, log, result, user

BEFORE = (
    Document("boats", 4)
    .with_items("state", ["They row."])
    .with_items("task", ["Row to Oslo", "Buy oars"])
    .with_items("facts", ["Ann has a boat", "Ben has none", "It rains"])
    .with_items("files", ["src/a.py (read)", "b.md"])
    .with_items("errors", ["[2] bash: no such file"])
    .with_items("open", ["[3] Ann asked: When?", "[4] bash failed: no"])
    .with_items("worklog", ["[1] begun"])
)
UPDATE = Update(BEFORE, log(user("x"), first=5))
N = {BEFORE.of(name)[n]: number for number, (name, n) in numbered(BEFORE).items()}


def edited(**fields: object) -> Document:
    return apply(UPDATE, Edits(**{"title": "", "state": ["They rest."], **fields}))  # type: ignore[arg-type]


def test_what_is_not_spoken_of_stays() -> None:
    after = edited(added={"facts": ["Ben bought one", "It rains"]})
    assert after.title == "boats"
    assert after.through == 5
    assert after.of("state") == ("They rest.",)
    assert after.of("facts") == ("Ann has a boat", "Ben has none", "It rains", "Ben bought one")
    assert after.of("files") == BEFORE.of("files")


def test_an_outdated_fact_goes() -> None:
    after = edited(
        title="rowing", outdated=frozenset([N["Ben has none"], 99]), added={"facts": ["Ben has one"]}
    )
    assert after.title == "rowing"
    assert after.of("facts") == ("Ann has a boat", "It rains", "Ben has one")


@pytest.mark.parametrize("text", ["[2] bash: no such file", "[1] begun", "Row to Oslo"])
def test_errors_the_worklog_and_how_it_began_do_not_go(text: str) -> None:
    after = edited(outdated=frozenset([N[text]]))
    assert any(text in items for items in after.items.values())


def test_a_file_that_goes_is_counted() -> None:
    after = edited(outdated=frozenset([N["b.md"]]))
    assert after.of("files") == ("src/a.py (read)",)
    assert after.left == {"files": 1}


def test_an_open_issue_that_is_settled_stands_in_the_results() -> None:
    after = edited(
        settled={N["[3] Ann asked: When?"]: "on Monday"}, outdated=frozenset([N["[4] bash failed: no"]])
    )
    assert after.of("open") == ()
    assert after.of("results") == (
        "[3] Ann asked: When? — settled: on Monday",
        "[4] bash failed: no — settled",
    )


def test_most_of_the_facts_may_not_go() -> None:
    every = frozenset(N[text] for text in ("Ann has a boat", "Ben has none", "It rains"))
    with pytest.raises(ExtractionFailed, match="most of the facts"):
        edited(outdated=every)


def test_an_answer_without_a_state_is_none() -> None:
    with pytest.raises(ExtractionFailed, match="current state"):
        edited(state=[" "])


def test_files_that_tools_worked_on_are_there_whatever_the_model_says() -> None:
    said = log(call("edit", "a", path="src/new.py"), result("a", "ok"), user("see src/named.py"), first=5)
    after = apply(Update(BEFORE, said), Edits("", ["x"], {"files": ["src/a.py: the rowing"]}))
    assert after.of("files") == ("src/a.py (read)", "b.md", "src/a.py: the rowing", "src/new.py (edit)")


def test_what_is_refused() -> None:
    def without(name: str, keep: int = 0) -> Document:
        return BEFORE.with_items(name, BEFORE.of(name)[:keep])  # type: ignore[arg-type]

    assert refusal(BEFORE, BEFORE) is None
    assert refusal(BEFORE, without("errors")) == "an error would be forgotten"
    assert refusal(BEFORE, without("files", 1)) == "a file would be forgotten"
    assert refusal(BEFORE, without("open", 1)) == "an open issue would be forgotten"
    assert refusal(BEFORE, without("facts")) == "most of the facts would be forgotten"
    assert refusal(BEFORE, without("facts", 1)) is None
    assert refusal(BEFORE, BEFORE.with_items("errors", [], 1)) is None
    assert refusal(BEFORE, BEFORE.with_items("files", ["src/a.py: other words", "b.md"])) is None


def test_an_error_that_was_shortened_is_still_there() -> None:
    long = "[2] bash: " + "x" * 300
    before = Document().with_items("errors", [long])
    assert refusal(before, Document().with_items("errors", [long[:99] + "…"])) is None
    assert refusal(before, Document().with_items("errors", ["[3] bash: " + "x" * 300])) is not None
