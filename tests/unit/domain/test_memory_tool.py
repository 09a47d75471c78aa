"""The memory tool's texts: what a model sees of a file, and what its edits make of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strandline.domain.memory import Line, Source
from strandline.domain.memory_tool import (
    LISTED,
    MAX_LINES,
    VIEW_CHARS,
    Edited,
    Refusal,
    insert_at,
    listing,
    replace_once,
    seen,
    snippet,
    unseen,
    view,
)

PATH = "/memories/boat.md"
AT = "2026-05-08T11:56:00.000Z"
GREEN = str(Line(Source(AT, "trip", 1, 3, 3, "0123456789ab"), "The boat is green."))
SOLD = str(Line(Source(AT, "trip", 1, 7, 9, "ba9876543210"), "The boat was sold."))
BODY = f"# Boat\n\nmine\n{GREEN}\n{SOLD}\n"
SEEN = "# Boat\n\nmine\n- The boat is green.\n- The boat was sold.\n"


def told(path: str, text: str, span: tuple[int, int] | None = None) -> list[str]:
    return view(path, text, span).split("\n")


def test_a_model_sees_lines_without_their_sources() -> None:
    assert seen(BODY) == SEEN
    assert view(PATH, seen(BODY), None) == (
        "Here's the content of /memories/boat.md with line numbers:\n"
        "     1\t# Boat\n     2\t\n     3\tmine\n     4\t- The boat is green.\n     5\t- The boat was sold."
    )


@pytest.mark.parametrize(
    ("new", "body"),
    [
        (SEEN, BODY),
        (SEEN.replace("mine", "ours"), BODY.replace("mine", "ours")),
        (SEEN.replace("green", "blue"), BODY.replace(GREEN, "- The boat is blue.")),
        (SEEN.replace("- The boat is green.\n", ""), BODY.replace(f"{GREEN}\n", "")),
        (SEEN.replace("mine\n", "mine\nand more\n"), BODY.replace("mine\n", "mine\nand more\n")),
        (SEEN + "end", BODY + "end"),
        ("", ""),
        ("# New\n", "# New\n"),
    ],
)
def test_lines_that_are_left_alone_keep_their_sources(new: str, body: str) -> None:
    assert unseen(BODY, new) == body


LINES = st.lists(st.sampled_from(["", "a", "- The boat is green.", GREEN, SOLD, "# Boat"]))


@given(LINES, LINES, LINES, LINES)
def test_whatever_is_edited_is_seen_as_edited(
    head: list[str], old: list[str], new: list[str], tail: list[str]
) -> None:
    body = "\n".join([*head, *old, *tail])
    wanted = "\n".join([*map(seen, head), *map(seen, new), *map(seen, tail)])
    changed = unseen(body, wanted)
    assert seen(changed) == wanted
    assert changed.count("<!--") <= body.count("<!--")  # no source is made up


@pytest.mark.parametrize(
    ("span", "numbers"),
    [((2, 3), [2, 3]), ((4, -1), [4, 5]), ((5, 5), [5]), ((1, 99), [1, 2, 3, 4, 5])],
)
def test_a_range_of_lines(span: tuple[int, int], numbers: list[int]) -> None:
    assert [int(line[:6]) for line in told(PATH, SEEN, span)[1:]] == numbers


@pytest.mark.parametrize("span", [(0, 2), (6, 7), (3, 2), (-1, -1), (2, 0), (1, -2)])
def test_a_range_that_is_none(span: tuple[int, int]) -> None:
    with pytest.raises(Refusal, match=r"Invalid `view_range` parameter.*within \[1, 5\]"):
        view(PATH, SEEN, span)


def test_an_empty_file_has_no_lines() -> None:
    assert told(PATH, "") == ["Here's the content of /memories/boat.md with line numbers:"]
    assert told(PATH, "a\n\n")[1:] == ["     1\ta", "     2\t"]


def test_a_long_file_is_cut_at_a_line_and_can_be_read_on() -> None:
    text = "".join(f"line {n:05}\n" for n in range(1, 10_001))
    read: list[str] = []
    span = None
    for _ in range(10):
        output = view(PATH, text, span)
        assert len(output) < VIEW_CHARS + 300
        lines = output.split("\n")[1:]
        if not lines[-1].startswith("("):
            read += lines
            break
        read += lines[:-1]
        assert lines[-1].startswith("(the file has 10000 lines; to see the rest, view it with view_range [")
        span = (int(lines[-1].split("[")[1].split(",")[0]), -1)
    assert [line.split("\t")[1] for line in read] == text.splitlines()


def test_a_line_that_is_too_long_is_cut() -> None:
    lines = told(PATH, "x" * (VIEW_CHARS * 2) + "\nnext\n")
    assert lines[2] == "(line 1 is cut at 50,000 characters)"
    assert lines[3].endswith("view_range [2, -1])")
    assert told(PATH, "x" * (VIEW_CHARS * 2) + "\nnext\n", (2, -1))[1:] == ["     2\tnext"]


def test_too_many_lines() -> None:
    with pytest.raises(
        Refusal, match=r"File /memories/boat\.md exceeds maximum line limit of 999,999 lines\."
    ):
        view(PATH, "\n" * (MAX_LINES + 1), None)


def test_replace_once() -> None:
    assert replace_once(PATH, "a\nb\nc\n", "b", "x\ny") == Edited("a\nx\ny\nc\n", 2, 2)
    assert replace_once(PATH, "a\nb\n", "a\n", "") == Edited("b\n", 1, 1)
    assert replace_once(PATH, "$1 (x)\n", "$1 (x)", r"\1 $&") == Edited("\\1 $&\n", 1, 1)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("z", "y", "No replacement was performed, old_str `z` did not appear verbatim in /memories/boat.md."),
        (
            "b",
            "y",
            "No replacement was performed. Multiple occurrences of old_str `b` in lines: 2, 3. Please ensure it"
            " is unique",
        ),
        ("aa", "y", "Multiple occurrences of old_str `aa` in lines: 1"),
        ("", "y", "old_str is empty"),
        ("c", "c", "are the same"),
    ],
)
def test_what_is_not_replaced(old: str, new: str, told: str) -> None:
    with pytest.raises(Refusal) as refused:
        replace_once(PATH, "aaa\nb\nb b\nc\n", old, new)
    assert told in str(refused.value)


def test_a_long_old_str_is_not_echoed_whole() -> None:
    with pytest.raises(Refusal) as refused:
        replace_once(PATH, "a", "x" * 100_000, "")
    assert len(str(refused.value)) < 1_200


@pytest.mark.parametrize(
    ("text", "line", "added", "changed"),
    [
        ("a\nb\n", 0, "x\n", "x\na\nb\n"),
        ("a\nb\n", 1, "x", "a\nx\nb\n"),
        ("a\nb\n", 2, "x\ny\n", "a\nb\nx\ny\n"),
        ("a\nb", 2, "x", "a\nb\nx"),
        ("a\nb", 2, "x\n", "a\nb\nx\n"),
        ("", 0, "x\n", "x\n"),
        ("a\n", 1, "", "a\n\n"),
        ("a\r\nb\r\n", 1, "x", "a\r\nx\nb\r\n"),
    ],
)
def test_insert_at(text: str, line: int, added: str, changed: str) -> None:
    assert insert_at(text, line, added).text == changed


@pytest.mark.parametrize("line", [-1, 3, 10**9])
def test_insert_behind_the_end(line: int) -> None:
    with pytest.raises(Refusal) as refused:
        insert_at("a\nb\n", line, "x")
    assert str(refused.value) == (
        f"Error: Invalid `insert_line` parameter: {line}. It should be within the range of lines of the file: [0, 2]"
    )


def test_a_snippet_shows_what_is_around() -> None:
    text = "".join(f"{n}\n" for n in range(1, 21))
    assert [line[:6].strip() for line in snippet(Edited(text, 10, 2)).split("\n")] == list(
        map(str, range(7, 15))
    )
    assert snippet(Edited("a\n", 1, 1)) == "     1\ta"
    assert len(snippet(Edited("x" * 10**6, 1, 1))) < VIEW_CHARS + 10


def rows(*paths: str, size: int = 100) -> dict[str, dict[str, int]]:
    return {path: {"size": size} for path in paths}


def test_a_directory_is_listed_two_levels_deep() -> None:  # B-C18
    shown = listing("/memories", rows("a.md", "b/c.md", "b/d/e/f.md", ".hidden/x.md", "b/.h.md", size=600))
    assert shown.split("\n") == [
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:",
        "1.8K\t/memories",
        "600B\t/memories/a.md",
        "1.2K\t/memories/b",
        "600B\t/memories/b/c.md",
        "600B\t/memories/b/d",
    ]


def test_sizes() -> None:
    text = listing("/memories", {"a": {"size": 0}, "b": {"size": 1023}, "c": {"size": 3 * 1024**2}, "d": {}})
    assert [line.split("\t")[0] for line in text.split("\n")[1:]] == ["3.0M", "0", "1023B", "3.0M", "0"]


def test_a_directory_of_many_is_cut() -> None:
    lines = listing("/memories", rows(*(f"{n:05}.md" for n in range(50_000)))).split("\n")
    assert len(lines) == LISTED + 3
    assert lines[-1] == "(… and 49000 more; view a directory to see what is in it)"
