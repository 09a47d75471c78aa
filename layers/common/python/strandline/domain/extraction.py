"""What an extractor is given and what it must answer: the values on both sides of the `Model` port.

An extraction is a proposal. It is stored once per archive as `candidates.json`; the merge stage turns it into
memory files. Every line cites the messages it was taken from, and a line whose quote is not in them is rejected.
"""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from strandline.domain.line import CONTENT
from strandline.domain.memory_types import BY_DEFAULT, MemoryType


class ToolCall(BaseModel):
    """A tool that was called in a message, or its result."""

    model_config = ConfigDict(frozen=True)

    tool: str
    call: str = Field(default="", description="the same for a call and its result; may be missing")
    failed: bool = False
    skill: str | None = Field(default=None, description="the skill it was called for")


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
    tools: tuple[ToolCall, ...] = ()


class Transcript(BaseModel):
    """The archived messages to extract from, in seq order, and what to look for: memory types, and tasks."""

    model_config = ConfigDict(frozen=True)

    session_id: str
    archive: int = Field(ge=1)
    turns: tuple[Turn, ...]
    types: tuple[MemoryType, ...] = BY_DEFAULT
    kinds: tuple[str, ...] | None = Field(
        default=None, description="kinds of task that are known; None: a model looks for no tasks in it"
    )

    def looks_for(self, memory_type: str) -> bool:
        return any(kind.name == memory_type for kind in self.types)


class Claim(BaseModel):
    """One memory line: a sentence that stands on its own, and where it was said."""

    model_config = ConfigDict(frozen=True)

    text: str = Field(
        min_length=1, max_length=2000, description="one line; relative dates resolved, speaker named"
    )
    seq_from: int = Field(ge=1)
    seq_to: int = Field(ge=1)
    quote: str = Field(min_length=1, description="verbatim text of one of the cited messages")
    field: str = Field(default=CONTENT, description="the patch field of the memory type that it belongs to")
    attribute: str = Field(
        default="", max_length=60, description="what it says of its subject: `home`, `job`"
    )
    value: str = Field(default="", max_length=200, description="what that is now: `Oslo`; ends other values")


class Patch(BaseModel):
    """Lines of a memory that are to be replaced by these claims; none: they hold no longer."""

    model_config = ConfigDict(frozen=True)

    search: tuple[str, ...] = Field(
        min_length=1, max_length=50, description="texts of lines, one after the other"
    )
    claims: tuple[Claim, ...] = ()
    field: str = CONTENT
    seq_from: int = Field(ge=1)
    seq_to: int = Field(ge=1)


class Setting(BaseModel):
    """A value for a field that holds no lines. Text needs a quote, a number to be added does not."""

    model_config = ConfigDict(frozen=True)

    field: str
    value: str | int
    seq_from: int = Field(ge=1)
    seq_to: int = Field(ge=1)
    quote: str = ""


class Proposal(BaseModel):
    """What is proposed for one memory file."""

    model_config = ConfigDict(frozen=True)

    memory_type: str = Field(description="a registered memory type, e.g. preferences")
    peer: str | None = Field(default=None, description="whose memory: a peer id, or None for the user")
    fields: dict[str, str] = Field(default_factory=dict, description="the type's identity fields, e.g. topic")
    claims: tuple[Claim, ...] = ()
    patches: tuple[Patch, ...] = ()
    settings: tuple[Setting, ...] = ()


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
    proposals: tuple[Proposal, ...]
    dropped: tuple[Dropped, ...] = ()
    usage: Usage | None = Field(default=None, description="None where no language model was asked")
