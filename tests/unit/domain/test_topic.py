"""The index of topics: what a line says, and where the index ends."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from strandline.domain.times import parse, stamp
from strandline.domain.topic import INDEX_BYTES, INDEX_LINES, freshness, index

NOW = parse("2026-06-15T12:00:00.000Z")


def row(**fields: Any) -> dict[str, Any]:
    told = {"title": "Boat", "type": "project", "summary": "It is green.", "description": "the boat"}
    return {**told, "updated_at": "2026-06-15T09:00:00.000Z", **fields}


def ago(**time: float) -> str:
    return stamp(NOW - timedelta(**time))


@pytest.mark.parametrize(
    ("at", "said"),
    [
        (ago(seconds=0), "today"),
        (ago(hours=23, minutes=59), "today"),
        (ago(days=-3), "today"),
        (ago(days=1), "yesterday"),
        (ago(days=1, hours=23), "yesterday"),
        (ago(days=2), "within 7 days"),
        (ago(days=7, hours=23), "within 7 days"),
        (ago(days=8), "within 30 days"),
        (ago(days=30, hours=23), "within 30 days"),
        (ago(days=31), "over 30 days"),
        ("1970-01-01T00:00:00.000Z", "unknown"),
        ("2026-06-15T09:00:00", "unknown"),
        ("some day", "unknown"),
        ("", "unknown"),
        (None, "unknown"),
    ],
)
def test_freshness(at: str | None, said: str) -> None:
    assert freshness(at, NOW) == said


def test_a_line_says_name_file_summary_type_and_freshness() -> None:
    made = index({"topics/boat.md": row()}, NOW)
    assert made.text == "- [Boat](boat.md): It is green. (project, today)\n"
    assert (made.total, made.truncated, list(made.shown)) == (1, False, ["topics/boat.md"])


def test_the_newest_comes_first() -> None:
    rows = {f"topics/{name}.md": row(title=name, updated_at=ago(days=age)) for age, name in enumerate("cab")}
    assert [line[3] for line in index(rows, NOW).text.splitlines()] == ["c", "a", "b"]


@pytest.mark.parametrize(
    "name",
    [
        "a](evil.md): gone",
        "a]（evil.md）:gone",
        "two\nlines",
        "two\u2028lines",
        "a\\",
        "[[x]]",
        "a\r\n- [b](b.md): b",
    ],
)
def test_no_name_breaks_its_line(name: str) -> None:  # B-C13
    rows = {"topics/a.md": row(title=name), "topics/b.md": row(updated_at=ago(days=2))}
    first, second = index(rows, NOW).text.splitlines()
    assert first.endswith("](a.md): It is green. (project, today)")
    label = first.removeprefix("- [").partition("](a.md)")[0]
    assert "](" not in label.replace("\\]", "") and not label.replace("\\\\", "").endswith("\\")
    assert second == "- [Boat](b.md): It is green. (project, within 7 days)"


def test_a_path_cannot_end_its_link() -> None:
    assert "(a%20%28b%29.md)" in index({"topics/a (b).md": row()}, NOW).text


def test_what_sounds_like_an_instruction_is_marked() -> None:  # B-C17
    text = index({"topics/a.md": row(flags=["injection"])}, NOW).text
    assert text == "- [Boat](a.md): It is green. (project, today, flagged: sounds like an instruction)\n"


def test_a_topic_without_front_matter_has_its_name_only() -> None:
    bare = {"title": "Notes", "type": "topics", "updated_at": ago(days=0)}
    assert index({"topics/notes.md": bare}, NOW).text == "- [Notes](notes.md) (today)\n"


def many(count: int, **fields: Any) -> dict[str, Any]:
    return {
        f"topics/{n:04}.md": row(title=f"{n:04}", updated_at=ago(minutes=n), **fields) for n in range(count)
    }


def test_200_topics_fit_and_250_leave_room_for_the_notice() -> None:  # B-C13
    assert (INDEX_LINES, INDEX_BYTES) == (200, 25_000)
    whole = index(many(200), NOW)
    assert (whole.text.count("\n"), whole.truncated) == (200, False)
    cut = index(many(250), NOW)
    lines = cut.text.splitlines()
    assert (len(lines), len(cut.shown), cut.total, cut.truncated) == (200, 199, 250, True)
    assert lines[198].startswith("- [0198](0198.md)")
    assert lines[199] == "- … and 51 more topics that do not fit; list them by the prefix topics/"


@pytest.mark.parametrize("summary", ["x" * 500, "海" * 500])
def test_bytes_are_a_limit_too(summary: str) -> None:  # B-C13
    made = index(many(250, summary=summary), NOW)
    size = len(made.text.encode())
    assert size <= INDEX_BYTES < size + len(f"- [0000](0000.md): {summary} (project, today)\n".encode())
    assert (
        made.text.splitlines()[-1]
        == f"- … and {250 - len(made.shown)} more topics that do not fit; list them by"
        " the prefix topics/"
    )


def test_no_topics_no_lines() -> None:
    assert index({}, NOW).text == ""


def test_the_time_zone_of_now_does_not_matter() -> None:
    assert freshness(ago(hours=25), datetime.fromisoformat("2026-06-15T14:00:00+02:00")) == "yesterday"
