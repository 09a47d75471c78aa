"""Counts tool calls, and the skills they were made for. Only where a session is to be remembered by them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from strandline.domain.extraction import Proposal, Setting, ToolCall, Transcript


@dataclass(frozen=True)
class _Use:
    """One call, from its first message to its last."""

    call: ToolCall
    seq_from: int
    seq_to: int


def tool_uses(transcript: Transcript) -> Iterator[Proposal]:
    """How often each tool was called and failed, and each skill used, as far as the transcript looks for them."""
    uses = list(_uses(transcript))
    if transcript.looks_for("tools"):
        yield from _counted(uses, "tools", "tool_name", "calls")
    if transcript.looks_for("skills"):
        yield from _counted([use for use in uses if use.call.skill], "skills", "skill_name", "uses")


def _uses(transcript: Transcript) -> Iterable[_Use]:
    """A call and its result are one use; it failed when its last word is an error."""
    found: dict[str, _Use] = {}
    for turn in transcript.turns:
        for n, call in enumerate(turn.tools):
            key = call.call or f"{turn.seq}/{n}"
            first = found[key] if key in found else _Use(call, turn.seq, turn.seq)
            skill = call.skill or first.call.skill
            tool = call.tool or first.call.tool
            found[key] = _Use(
                call.model_copy(update={"skill": skill, "tool": tool}), first.seq_from, turn.seq
            )
    return (use for use in found.values() if use.call.tool)


def _counted(uses: Iterable[_Use], memory_type: str, named: str, counted: str) -> Iterator[Proposal]:
    by_name: dict[str, list[_Use]] = {}
    for use in uses:
        by_name.setdefault(str(getattr(use.call, named.removesuffix("_name"))), []).append(use)
    for name, theirs in by_name.items():
        counts = {counted: len(theirs), "errors": sum(use.call.failed for use in theirs)}
        yield Proposal(memory_type=memory_type, fields={named: name}, settings=_settings(counts, theirs))


def _settings(counts: Mapping[str, int], uses: list[_Use]) -> tuple[Setting, ...]:
    first, last = min(use.seq_from for use in uses), max(use.seq_to for use in uses)
    return tuple(
        Setting(field=field, value=count, seq_from=first, seq_to=last) for field, count in counts.items()
    )
