"""Memories as a directory tree."""

import pytest

from strandline.domain import tree

ROWS = {
    "profile.md": {
        "type": "profile",
        "title": "Profile",
        "updated_at": "2026-05-08T07:00:00.000Z",
        "size": 10,
    },
    "events/2026/a.md": {
        "type": "events",
        "title": "A",
        "updated_at": "2026-05-09T07:00:00.000Z",
        "lines": 1,
        "size": 20,
    },
    "events/2026/b.md": {
        "type": "events",
        "title": "B",
        "updated_at": "2026-05-07T07:00:00.000Z",
        "lines": 3,
    },
    "events-old.md": {"type": "note", "title": "Old", "updated_at": "2020-01-01T00:00:00.000Z"},
}


def test_a_directory_comes_before_what_is_in_it() -> None:
    assert [(n.path, n.is_dir, n.depth, n.name) for n in tree.nodes(ROWS, ["sessions"])] == [
        ("events", True, 1, "events"),
        ("events/2026", True, 2, "2026"),
        ("events/2026/a.md", False, 3, "a.md"),
        ("events/2026/b.md", False, 3, "b.md"),
        ("events-old.md", False, 1, "events-old.md"),
        ("profile.md", False, 1, "profile.md"),
        ("sessions", True, 1, "sessions"),
    ]


def test_a_directory_sums_up_what_is_in_it() -> None:
    found = {node.path: node for node in tree.nodes(ROWS)}
    events = found["events"]
    assert (events.size, events.at, len(events.rows)) == (20, "2026-05-09T07:00:00.000Z", 2)
    assert sorted(events.rows) == ["2026/a.md", "2026/b.md"]
    assert (found["events/2026/b.md"].size, found["profile.md"].size) == (None, 10)


def test_a_file_that_is_called_like_a_directory_stays_a_file() -> None:
    row = ROWS["profile.md"]
    for rows in ({"x.md": row, "x.md/y.md": row}, {"x.md/y.md": row, "x.md": row}):
        assert [(n.path, n.is_dir) for n in tree.nodes(rows)] == [("x.md", False), ("x.md/y.md", False)]


def test_under_takes_whole_names() -> None:
    assert sorted(tree.under(ROWS, "events")) == ["2026/a.md", "2026/b.md"]
    assert tree.under(ROWS, "") == ROWS
    assert tree.under(ROWS, "event") == {}


def test_an_abstract_counts() -> None:
    assert tree.abstract(ROWS) == "4 memories: 2 events, 1 note, 1 profile. The newest is of 2026-05-09."
    assert tree.abstract(tree.under(ROWS, "nowhere")) == "No memories."
    assert (
        tree.abstract({"profile.md": ROWS["profile.md"]})
        == "1 memory: 1 profile. The newest is of 2026-05-08."
    )


def test_an_overview_names_each_memory() -> None:
    assert tree.overview(ROWS, "memories") == (
        "# memories\n\n"
        "4 memories: 2 events, 1 note, 1 profile. The newest is of 2026-05-09.\n\n"
        "- events-old.md: Old (2020-01-01)\n"
        "- events/2026/a.md: A (1 line, 2026-05-09)\n"
        "- events/2026/b.md: B (3 lines, 2026-05-07)\n"
        "- profile.md: Profile (2026-05-08)\n"
    )
    assert tree.overview({}, "memories") == "# memories\n\nNo memories.\n"


@pytest.mark.parametrize("limit", [1, 50, 100, 130, 137, 150, 170, 190, 210, 260, 4000])
def test_an_overview_is_cut_at_a_whole_line_and_says_so(limit: int) -> None:
    whole = tree.overview(ROWS, "memories")
    cut = tree.overview(ROWS, "memories", limit)
    shown = cut.count("\n- ") - cut.count("- … and ")
    assert cut == whole or cut.endswith(f"- … and {4 - shown} more\n")
    assert cut == whole or len(whole) > limit
    assert len(cut) <= max(limit, 110)
