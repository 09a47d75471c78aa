"""A message's own day: `created_at` is kept in UTC, with the offset it was sent with."""

from datetime import UTC, datetime

import pytest

from strandline.domain import rules
from strandline.domain.admission import check
from strandline.domain.extraction import Transcript
from strandline.domain.memory_policy import MemoryPolicy
from strandline.domain.message import MessageIn, draft, read_line, said_at
from strandline.domain.transcribing import transcribe

NOW = datetime(2026, 3, 20, tzinfo=UTC)


def stored(text: str, created_at: str) -> dict[str, object]:
    message = MessageIn.model_validate({"role": "user", "content": text, "created_at": created_at})
    return read_line(draft(message, message_id="m", now=NOW, tokens=1).line(1))


@pytest.mark.parametrize(
    ("created_at", "kept", "offset"),
    [
        ("2026-03-01T17:00:00-08:00", "2026-03-02T01:00:00.000Z", -480),
        ("2026-03-11T00:30:00+09:00", "2026-03-10T15:30:00.000Z", 540),
        ("2026-03-11T00:30:00+05:45", "2026-03-10T18:45:00.000Z", 345),
        ("2026-03-11T00:30:00Z", "2026-03-11T00:30:00.000Z", None),
        ("2026-03-11T00:30:00", "2026-03-11T00:30:00.000Z", None),
    ],
)
def test_the_offset_is_kept_beside_the_time(created_at: str, kept: str, offset: int | None) -> None:
    message = stored("x", created_at)
    assert (message["created_at"], message.get("utc_offset")) == (kept, offset)
    assert said_at(message).replace(tzinfo=None).isoformat() == created_at[:19]


@pytest.mark.parametrize(
    ("text", "created_at", "said", "folder"),
    [
        (
            "Yesterday I bought a canoe.",
            "2026-03-01T17:00:00-08:00",
            "28 February 2026",
            "events/2026/03/01/",
        ),
        ("昨日、ラーメンを食べました。", "2026-03-11T00:30:00+09:00", "2026-03-10", "events/2026/03/11/"),
    ],
)
def test_yesterday_counts_from_the_speakers_own_day(
    text: str, created_at: str, said: str, folder: str
) -> None:  # B-C2
    turns = tuple(transcribe([stored(text, created_at)]))
    transcript = Transcript(session_id="s", archive=1, turns=turns)
    candidates = check(rules.extract(transcript), transcript, MemoryPolicy(), "0" * 12)
    (file,) = candidates.files
    assert said in file.lines[0].text
    assert file.path.startswith(folder)
