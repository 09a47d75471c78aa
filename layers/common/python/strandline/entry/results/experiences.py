"""Experiences as they are shown."""

from typing import Literal

from typing_extensions import TypedDict


class Gist(TypedDict):
    """What an agent sees of an experience before it reads it: when it applies, and where it is."""

    name: str
    uri: str
    situation: str


class FoundCase(TypedDict):
    """A case, best first; scores compare within one answer only. An experience without a case is listed by itself."""

    uri: str
    name: str
    task_signature: str
    input: str
    score: float
    experiences: list[Gist]


class FoundCases(TypedDict):
    cases: list[FoundCase]


class Experience(TypedDict):
    """`content` is its text, framed as data rather than orders. `confidence` is between 0 and 1. Both are of its own
    runs and those of the `related` ones, whose cases ask the same in other words; `sha256` and `version` are of its
    own file. `superseded_by` names what has taken its place."""

    uri: str
    name: str
    situation: str
    confidence: float
    content: str
    related: list[str]
    superseded_by: list[str]
    sha256: str
    version: int
    flags: list[str]


class Trajectory(TypedDict):
    """A run: one that the experience was learnt from (`source`), or that had read it (`used`). `judged_by` names the
    model that said how it came out, where nobody else did."""

    uri: str
    relation: Literal["source", "used"]
    outcome: str
    judged_by: str | None
    score: float | None
    confidence: float
    case_uri: str | None
    task: str
    at: str


class Trajectories(TypedDict):
    experience_uri: str
    total: int
    limit: int
    offset: int
    trajectories: list[Trajectory]


class Tally(TypedDict):
    success: int
    failure: int
    partial: int
    unfinished: int
    unknown: int


class Outcomes(TypedDict):
    """`outcomes` are of the runs that had read it, `total` their number; `learned_from` of those it was learnt from."""

    experience_uri: str
    outcomes: Tally
    total: int
    learned_from: Tally
