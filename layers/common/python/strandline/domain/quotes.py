"""Where in an archive a quote stands, so that it can be read again and held against its hash."""

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict

from strandline.domain.line import quote_hash


class Quoted(BaseModel):
    """The place of a quote: `chars` characters of a message's text, from `start` (0) on."""

    model_config = ConfigDict(frozen=True)

    seq: int
    start: int
    chars: int


def place(quote: str, texts: Mapping[int, str]) -> Quoted | None:
    """Where the quote stands in these messages (texts by seq): the first place of it; None when it is in none."""
    for seq, text in texts.items():
        start = text.find(quote)
        if start >= 0:
            return Quoted(seq=seq, start=start, chars=len(quote))
    return None


def read_quote(quoted: Quoted, digest: str, texts: Mapping[int, str]) -> str | None:
    """The text at that place; None when it is not the one that was quoted."""
    found = texts.get(quoted.seq, "")[quoted.start : quoted.start + quoted.chars]
    return found if found and quote_hash(found) == digest else None


def find_quote(digest: str, texts: Mapping[int, str]) -> tuple[int, str] | None:
    """A quote by its hash alone, as (seq, text): a whole message, or one of its lines."""
    for seq, text in texts.items():
        for part in (text, *text.split("\n")):
            if quote_hash(part) == digest:
                return seq, part
    return None
