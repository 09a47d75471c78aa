"""Tasks that a language model has found in a conversation whose metadata names none.

Their cases were proposed, held against the archive and stored like anything else that it holds, each with the words in
which the task was given. What is learnt from follows from these candidates alone, however often it is tried.
"""

import math
from collections.abc import Iterable, Iterator, Sequence

from strandline.domain.candidates import CandidateFile
from strandline.domain.extraction import Dropped, Extraction, Proposal
from strandline.domain.learning.task import MAX_TASKS, Given, Message, Request, Task
from strandline.domain.memory_types.cases import CASES

UNTOUCHED = "nobody worked on that task in this archive"
TOO_MANY = f"more than {MAX_TASKS} tasks in one archive"


def worked_on(extraction: Extraction, messages: Sequence[Message]) -> Extraction:
    """The extraction without cases on which nobody worked before the next was given, or that are too many."""
    seqs = sorted(_seq(each) for each in extraction.proposals if each.memory_type == CASES.name)
    told = [(each, _useless(each, messages, seqs)) for each in extraction.proposals]
    kept = tuple(each for each, why in told if why is None)
    dropped = (_dropped(each, why) for each, why in told if why is not None)
    return extraction.model_copy(update={"proposals": kept, "dropped": (*extraction.dropped, *dropped)})


def _useless(proposal: Proposal, messages: Sequence[Message], seqs: Sequence[int]) -> str | None:
    if proposal.memory_type != CASES.name:
        return None
    if _seq(proposal) not in seqs[:MAX_TASKS]:
        return TOO_MANY
    span = _span(messages, _seq(proposal), seqs)
    return None if any(message["role"] in ("assistant", "tool") for message in span) else UNTOUCHED


def _seq(proposal: Proposal) -> int:
    return proposal.claims[0].seq_from


def _dropped(proposal: Proposal, reason: str) -> Dropped:
    seq = _seq(proposal)
    return Dropped(reason=reason, memory_type=CASES.name, seq_from=seq, seq_to=seq)


def found_tasks(messages: Sequence[Message], files: Sequence[CandidateFile]) -> Iterator[Task]:
    """The tasks whose cases are among an archive's candidates: to each what was said from its request on, up to the
    next one's."""
    requests = {file.path: file.lines[0].seq_from for file in files if file.type == CASES.name and file.lines}
    for file in files:
        span = _span(messages, requests[file.path], requests.values()) if file.path in requests else ()
        if span:
            given = _given(file)
            yield Task(given, Request(requests[file.path], given.input), span, None)


def _span(messages: Sequence[Message], seq: int, seqs: Iterable[int]) -> list[Message]:
    """From a request on, up to the next one in a later message."""
    end = min((other for other in seqs if other > seq), default=math.inf)
    return [message for message in messages if seq <= message["seq"] < end]


def _given(file: CandidateFile) -> Given:
    said = {value.field: str(value.value) for value in file.values}
    return Given.model_validate({**said, "name": file.title})
