"""Builds transcripts for these tests."""

from datetime import UTC, datetime

from strandline.domain.extraction import Extraction, Transcript, Turn

AT = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)  # a Monday


def transcript(*said: tuple[str, str | None, str], at: datetime = AT) -> Transcript:
    """A transcript of (role, speaker, text) messages, all sent at one time."""
    turns = tuple(
        Turn(seq=i, role=role, speaker=speaker, text=text, at=at)
        for i, (role, speaker, text) in enumerate(said, 1)
    )
    return Transcript(session_id="s1", archive=1, turns=turns)


def texts(extraction: Extraction) -> list[str]:
    return [c.text for p in extraction.proposals for c in p.claims]
