"""The shapes of the rollout protocol: plain dicts, typed. Unknown fields of a peer are kept and passed over.

    GET  /health                        -> Health
    POST /v1/cases/query                CasesQuery -> CasePage
    POST /v1/rollouts/execute           ExecuteRequest -> Execution
    GET  /v1/rollouts/executions/{id}   -> Execution, with duration_ms and, once completed, the rollout

None of them has a place for a credential. What lets a service read the policies of a snapshot travels in the header
`Strandline-Policy-Token`, opens that snapshot alone, and ends by itself.
"""

from typing import Any, Literal, NotRequired, Required, TypedDict

from strandline_sdk.model import Message

ExecutionStatus = Literal["running", "completed", "failed"]
PolicyStatus = Literal["draft", "staging", "production", "deprecated", "archived"]

POLICY_TOKEN = "Strandline-Policy-Token"  # noqa: S105 - a header's name
IDEMPOTENCY_KEY = "Idempotency-Key"


class Counts(TypedDict):
    running: int
    completed: int
    failed: int


class Health(TypedDict):
    """`max_rollout_concurrency`: how many rollouts the service runs at a time; more of them wait."""

    status: str
    service: str
    max_rollout_concurrency: int
    rollout_executions: Counts


class Criterion(TypedDict, total=False):
    name: Required[str]
    description: str
    required: bool
    weight: float
    metadata: dict[str, Any]


class Rubric(TypedDict, total=False):
    name: str
    description: str
    criteria: list[Criterion]


class Case(TypedDict, total=False):
    """A task that can be tried: its kind (`task_signature`), what is asked, and what is looked at afterwards."""

    name: Required[str]
    task_signature: Required[str]
    input: Required[Any]
    rubric: Rubric
    metadata: dict[str, Any]


class CasesQuery(TypedDict, total=False):
    dataset: Required[str]
    domain: Required[str]
    split: Required[str]
    cursor: str | None
    limit: int
    filters: dict[str, Any]


class CasePage(TypedDict):
    cases: list[Case]
    next_cursor: str | None


class PolicyEntry(TypedDict, total=False):
    """One experience. Without `content` it is read where the set's metadata says (`snapshot_url`), with the token."""

    name: Required[str]
    uri: Required[str]
    version: int
    status: PolicyStatus
    content: str
    metadata: dict[str, Any]


class PolicySetDocument(TypedDict):
    root_uri: str
    policies: list[PolicyEntry]
    metadata: dict[str, Any]


class ExecutionContext(TypedDict):
    policy_snapshot_id: str
    metadata: dict[str, Any]


class ExecuteRequest(TypedDict):
    case: Case
    policy_set: PolicySetDocument
    execution_context: ExecutionContext
    options: dict[str, Any]


class CriterionResult(TypedDict, total=False):
    name: Required[str]
    passed: Required[bool]
    score: float
    feedback: str


class Evaluation(TypedDict, total=False):
    """What came of it: `score` from 0 to 1. `feedback` is what a verifier says to whoever tries it again."""

    passed: Required[bool]
    score: Required[float]
    criterion_results: list[CriterionResult]
    feedback: list[str]


class Usage(TypedDict, total=False):
    """What a rollout has cost."""

    prompt_tokens: int
    completion_tokens: int
    cost_usd: float


class MemoryUse(TypedDict, total=False):
    """What a rollout has taken from its policies: the text it was given, and which were read in how many calls."""

    context: str
    read: list[str]
    tool_calls: int


class RolloutMetadata(TypedDict, total=False):
    usage: Usage
    memory: MemoryUse


class Rollout(TypedDict, total=False):
    """A case that was tried: what was said and done, as messages that the API takes, and what came of it."""

    case: Required[Case]
    messages: Required[list[Message]]
    policy_snapshot_id: Required[str]
    evaluation: Required[Evaluation]
    metadata: RolloutMetadata


class Execution(TypedDict, total=False):
    """How far a rollout is. `created_at` and `updated_at` are RFC 3339; `error` says why it has failed."""

    execution_id: Required[str]
    status: Required[ExecutionStatus]
    case_name: Required[str]
    created_at: Required[str]
    updated_at: Required[str]
    error: Required[str | None]
    duration_ms: NotRequired[int | None]
    rollout: NotRequired[Rollout | None]
