"""What an extractor is given and what it must answer: the values on both sides of the `Model` port.

An extraction is a proposal. It is stored once per archive as `candidates.json`; the merge stage turns it into
memory files. Every line cites the messages it was taken from, and a line whose quote is not in them is rejected.
"""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field


class Turn(BaseModel):
    """One archived message as an extractor sees it: text only, with who said it and when."""

    model_config = ConfigDict(frozen=True)

    seq: int = Field(ge=1, description="position in the session, from 1")
    role: str = Field(description="user, assistant, system or tool")
    speaker: str | None = Field(
        default=None, description="peer id of the speaker; None is the user (or the assistant)"
    )
    text: str
    flags: tuple[str, ...] = Field(
        default=(), description="what was found in it: `injection`, `secret:<kind>`"
    )
    at: datetime = Field(description="the message's own time, with offset; relative dates count from it")


class Transcript(BaseModel):
    """The archived messages to extract from, in seq order."""

    model_config = ConfigDict(frozen=True)

    session_id: str
    archive: int = Field(ge=1)
    turns: tuple[Turn, ...]


class Claim(BaseModel):
    """One memory line: a sentence that stands on its own, and where it was said."""

    model_config = ConfigDict(frozen=True)

    text: str = Field(
        min_length=1, max_length=2000, description="one line; relative dates resolved, speaker named"
    )
    seq_from: int = Field(ge=1)
    seq_to: int = Field(ge=1)
    quote: str = Field(min_length=1, description="verbatim text of one of the cited messages")


class Proposal(BaseModel):
    """Lines proposed for one memory file."""

    model_config = ConfigDict(frozen=True)

    memory_type: str = Field(description="a registered memory type, e.g. preferences")
    peer: str | None = Field(default=None, description="whose memory: a peer id, or None for the user")
    fields: dict[str, str] = Field(default_factory=dict, description="the type's identity fields, e.g. topic")
    claims: tuple[Claim, ...]


class Dropped(BaseModel):
    """A fact that an extractor could not use, and why. The reason quotes nothing."""

    model_config = ConfigDict(frozen=True)

    reason: str
    memory_type: str
    seq_from: int
    seq_to: int


class Usage(BaseModel):
    """What a language model was asked and what it cost: requests sent (each attempt counts) and tokens, as the endpoint
    counted them."""

    model_config = ConfigDict(frozen=True)

    models: tuple[str, ...] = ()
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def plus(self, other: "Usage") -> "Usage":
        return Usage(
            models=tuple(dict.fromkeys((*self.models, *other.models))),
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
        )


class Extraction(BaseModel):
    """An extractor's whole answer for one archive, or for a part of it."""

    model_config = ConfigDict(frozen=True)

    extractor: str = Field(description="what produced it: `rules/1`, or a model's name")
    abstract: str = Field(description="one or two sentences on what the conversation was about")
    overview: str = Field(description="markdown summary of the archive: the working memory")
    proposals: tuple[Proposal, ...]
    dropped: tuple[Dropped, ...] = ()
    usage: Usage | None = Field(default=None, description="None where no language model was asked")
