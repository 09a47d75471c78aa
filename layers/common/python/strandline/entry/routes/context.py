"""What a model is to be given of a session before its next call."""

from dataclasses import asdict
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from strandline.domain.address import memory_uri
from strandline.domain.block import Taken
from strandline.domain.compaction.assembly import Room
from strandline.domain.errors import Aborted, ContextBlocked
from strandline.domain.message import Moment
from strandline.domain.scalars import Whole
from strandline.entry.answers import answers
from strandline.entry.http import InvalidFields, ok
from strandline.entry.repeat import run_again
from strandline.entry.results.context import ModelContext
from strandline.entry.routes.asking import acting_peer, new_router, owner, past, session_of
from strandline.entry.routes.exact import Exact
from strandline.entry.wiring import library
from strandline.pipeline import block
from strandline.pipeline.archive import shown
from strandline.pipeline.beside import WantedMemories
from strandline.pipeline.prompt import Prompt, Wanted, run_prompt
from strandline.storage.layout import User

router = new_router()

MAX_TOKENS = 100_000_000
MAX_MEMORY_TOKENS = 100_000
Answer = dict[str, Any]


class MemoryBudget(BaseModel):
    """How many tokens of memories, of which types (without `types` of all, of cases and trajectories only where
    `quotas` names them), and at most how many of a type (`quotas`)."""

    model_config = ConfigDict(extra="forbid")

    max_tokens: Whole = Field(default=block.MAX_TOKENS, ge=0, le=MAX_MEMORY_TOKENS)
    types: Annotated[list[str], Field(max_length=100)] | None = None
    quotas: Annotated[dict[str, Annotated[Whole, Field(ge=0)]], Field(max_length=100)] = Field(
        default_factory=dict
    )

    def wanted(self) -> WantedMemories:
        types = None if self.types is None else frozenset(self.types)
        return WantedMemories(self.max_tokens, types, self.quotas)


class Usage(BaseModel):
    """The tokens of the last call of the model, its whole prompt included, and a hash of what the caller puts around
    the messages (system prompt, tools, model). A count that belongs to another hash is not used."""

    model_config = ConfigDict(extra="forbid")

    input_tokens: Whole = Field(ge=0, le=MAX_TOKENS)
    fingerprint: str = Field(min_length=1, max_length=256)


class BuildContext(Exact):
    """The model's window, its longest answer and the caller's own prompt, in tokens; without a window, characters
    are counted. Memories are chosen by `query`, or else by the newest user message; `memory` null asks for none.
    `compaction` overrides the session's limits, field by field. `as_of` shows the context as it was at that time."""

    model_context_window_tokens: Whole | None = Field(default=None, ge=1, le=MAX_TOKENS)
    max_output_tokens: Whole = Field(default=0, ge=0, le=MAX_TOKENS)
    reserved_tokens: Whole = Field(default=0, ge=0, le=MAX_TOKENS)
    query: str | None = Field(default=None, max_length=10_000)
    memory: MemoryBudget | None = Field(default_factory=MemoryBudget)
    usage: Usage | None = None
    compaction: Annotated[dict[str, dict[str, Any]], Field(max_length=10)] | None = None
    as_of: Moment | None = None

    def wanted(self, acting_peer: str | None) -> Wanted:
        return Wanted(
            room=Room(self.model_context_window_tokens, self.max_output_tokens, self.reserved_tokens),
            compaction=self.compaction,
            query=self.query,
            memories=self.memory.wanted() if self.memory else None,
            usage=(self.usage.input_tokens, self.usage.fingerprint) if self.usage else None,
            as_of=past(self.as_of, library().clock),
            acting_peer=acting_peer,
        )


@router.post("/api/v1/sessions/<session_id>/context")
@answers(ModelContext, ContextBlocked, Aborted)
def build_context(session_id: str, body: BuildContext | None = None) -> Answer:
    """What fits into a model's window before its next call: the newest messages, a summary of those before them, and
    memories. Without new messages the answer stays the same, and a decision about a message is never changed. The
    session has used the experiences that the memory block shows: the outcome of its next commit is theirs, too."""
    run_again()
    whose = owner(router)
    known = library()
    name = session_of(session_id)
    try:
        made = run_prompt(known, whose, name, (body or BuildContext()).wanted(acting_peer(router)))
    except ValidationError as error:
        raise InvalidFields(_limits_of(error)) from error
    return ok({"session_id": name, **_messages(made), **_beside(made, whose), **_state(made)}, known.clock)


def _limits_of(error: ValidationError) -> list[dict[str, Any]]:
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    return [{**problem, "loc": ("compaction", *problem["loc"])} for problem in problems]


def _messages(made: Prompt) -> Answer:
    seen = made.assembled
    return {
        "messages": [shown(message) for message in seen.messages],
        "decisions": [asdict(row) for row in seen.reduced],
        "dropped": [asdict(row) for row in made.left],
        "cut": [{"seq": seq, "chars": chars} for seq, chars in sorted(seen.cut.items())],
    }


def _beside(made: Prompt, whose: User) -> Answer:
    covered, beside = made.covered_through, made.beside
    memories = beside.memories
    return {
        "summary": {"text": beside.summary, "covered_through_seq": covered} if covered else None,
        "memories": [_taken(each, whose) for each in memories.taken],
        "memory_block": {
            "text": memories.text,
            "tokens": memories.tokens,
            "left_out": memories.left_out,
        },
    }


def _taken(taken: Taken, whose: User) -> Answer:
    best = taken.best
    return {
        "uri": memory_uri(whose.user_id, best.path),
        "type": best.type,
        "score": best.score,
        "lines": taken.lines,
        "tokens": taken.tokens,
        "best": best.text,
        "explain": dict(best.explain),
    }


def _state(made: Prompt) -> Answer:
    marks, estimate, state = made.assembled.thresholds, made.assembled.estimate, made.state
    asked = made.state.compaction if made.status in ("scheduled", "running") else None
    return {
        "tokens": {
            "estimate": estimate.tokens,
            "source": estimate.source,
            "used": made.assembled.tokens,
            "effective_window": marks.effective if marks else None,
            **{name: getattr(marks, name, None) for name in ("warning", "auto", "blocking")},
        },
        "compaction": {
            "status": made.status,
            "failures": state.failures,
            "last_error": state.last_error,
            "retry_at": state.retry_at,
            **({"task_id": asked.task_id, "through_seq": asked.through} if asked else {}),
        },
        "degraded": made.degraded,
    }
