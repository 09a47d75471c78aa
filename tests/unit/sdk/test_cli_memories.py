from collections.abc import Sequence
from pathlib import Path

import pytest

from strandline_sdk.cli.output import for_terminal
from tests.unit.sdk.commands import document, run
from tests.unit.sdk.fake_service import FRONT, MEMORY, FakeService


def test_memories_are_listed_and_printed(service: FakeService) -> None:
    assert run(service, "memories", "ls", "events/").stdout == (
        "2024-03-02 09:30  events        events/2024/03/02/pottery.md\n"
    )
    assert run(service, "memories", "cat", str(MEMORY["path"])).stdout == FRONT + str(MEMORY["content"])
    assert run(service, "memories", "cat", str(MEMORY["uri"])).stdout == FRONT + str(MEMORY["content"])


def test_a_memory_is_printed_byte_for_byte(service: FakeService) -> None:
    content = "red \x1b[31m text\r\nwithout an end"
    service.memories[0]["content"] = content
    assert (
        run(service, "memories", "cat", str(MEMORY["path"])).stdout_bytes == FRONT.encode() + content.encode()
    )


def test_a_memory_cannot_steer_a_terminal() -> None:
    assert for_terminal("# 陶芸 🏺\r\n\tred \x1b[31m\x07 text\n") == "# 陶芸 🏺\n\tred \ufffd[31m\ufffd text"


def test_memories_as_json(service: FakeService) -> None:
    assert document(service, "memories", "ls", "--type", "profile") == []
    assert document(service, "memories", "ls") == [MEMORY]
    assert document(service, "memories", "cat", str(MEMORY["path"])) == MEMORY


def test_a_memory_is_removed_by_path_or_uri(service: FakeService) -> None:
    assert run(service, "memories", "rm", str(MEMORY["uri"])).stdout == f"deleted {MEMORY['path']}\n"
    assert service.memories == []
    assert run(service, "memories", "rm", str(MEMORY["path"])).exit_code == 1


@pytest.mark.parametrize("command", ["rm", "cat"])
def test_a_uri_of_somebody_else_is_not_ones_own(service: FakeService, command: str) -> None:
    result = run(service, "memories", command, str(MEMORY["uri"]).replace("mia", "ben"))
    assert (result.exit_code, result.stdout) == (1, "")
    assert "belongs to somebody else" in result.stderr
    assert len(service.memories) == 1


def test_a_memory_is_written_from_a_file_or_stdin(service: FakeService, tmp_path: Path) -> None:
    file = tmp_path / "text.md"
    file.write_bytes(b"\xef\xbb\xbf# \xe9\x99\xb6\r\n")
    written = f"profile.md  {MEMORY['sha256']}\n"
    assert run(service, "memories", "put", "profile.md", str(file), "--new").stdout == written
    assert service.memories[-1]["content"] == "# 陶\r\n"
    assert run(service, "memories", "put", "profile.md", stdin=b"from stdin").stdout == written
    assert service.memories[-1]["content"] == "from stdin"
    match = ("--if-match", str(MEMORY["sha256"]))
    assert run(service, "memories", "put", "profile.md", "-", *match, stdin=b"again").stdout == written


@pytest.mark.parametrize(
    ("options", "exit_code", "problem"),
    [
        (["--new"], 1, "FAILED_PRECONDITION"),
        (["--if-match", "4" * 64], 1, "FAILED_PRECONDITION"),
        (["--if-match", "ü"], 2, "64 hexadecimal digits"),
        (["--if-match", "5" * 64, "--new"], 2, "exclude each other"),
    ],
)
def test_a_memory_is_not_written_over_another(
    service: FakeService, options: Sequence[str], exit_code: int, problem: str
) -> None:
    result = run(service, "memories", "put", str(MEMORY["path"]), *options, stdin=b"text")
    assert (result.exit_code, result.stdout) == (exit_code, "")
    assert problem in result.stderr
    assert service.memories == [MEMORY]


def test_a_memory_is_written_to_a_path_and_in_utf_8(service: FakeService) -> None:
    assert run(service, "memories", "put", str(MEMORY["uri"]), stdin=b"text").exit_code == 2
    result = run(service, "memories", "put", "profile.md", stdin=b"\xff")
    assert (result.exit_code, result.stderr) == (1, "Error: not UTF-8 (byte 0): convert the text to UTF-8\n")
