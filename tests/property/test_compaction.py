"""Random sessions, whatever is in them: the context fits, holds together, and is the same again."""

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from strandline.domain.compaction.assemble import assemble
from strandline.domain.compaction.assembly import Ask, Assembled, Room
from strandline.domain.compaction.limits import Limits, resolve
from strandline.domain.compaction.reading import speaks, unread
from strandline.domain.compaction.sizes import characters, counted, overhead
from strandline.domain.compaction.state import ContextState, covered

NOW = datetime(2026, 1, 2, tzinfo=UTC)
TOOLS = ["Read", "Bash", "Grep", "Deploy", ""]
Message = dict[str, Any]


def count(text: str) -> int:
    """Every character beyond Latin is a token, four others are one."""
    wide = sum(ord(char) > 0x2E80 for char in text)
    return wide + math.ceil((len(text) - wide) / 4)


TEXT = st.one_of(
    st.sampled_from(
        ["", "Hi.", "Is the boat green?\n", "船是绿色的。", "x" * 300, "一" * 200, "line\n" * 90, "y" * 5_000]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
)
OUTPUT = st.one_of(TEXT, st.sampled_from(["out\n" * 2_000, "出" * 3_000, "z" * 30_000]))
IDS = st.sampled_from(["", "c1", "c2", "c3"])


def _call(identity: str, tool: str, given_input: Any = None) -> Message:
    part = {"type": "tool", "tool_id": identity, "tool_name": tool, "tool_status": "pending"}
    return part if given_input is None else {**part, "tool_input": given_input}


def _result(identity: str, tool: str, output: str) -> Message:
    return {"type": "tool", "tool_id": identity, "tool_name": tool, "tool_output": output}


@st.composite
def turns(draw: st.DrawFn) -> list[Message]:
    """A few messages of one kind or another."""
    kind = draw(
        st.sampled_from(["user", "answer", "calls", "spoken", "both in one", "stray", "mixed", "system"])
    )
    text, out = draw(TEXT), draw(OUTPUT)
    identity, tool = draw(IDS), draw(st.sampled_from(TOOLS))
    if kind == "calls":
        ids = draw(st.lists(IDS, min_size=1, max_size=4))
        results = [_result(each, draw(st.sampled_from(["", tool])), draw(OUTPUT)) for each in ids]
        asked = {"role": "assistant", "parts": [_call(each, tool, {"q": text}) for each in ids]}
        answered = [{"role": draw(st.sampled_from(["user", "tool"])), "parts": [each]} for each in results]
        return [asked, *answered[: draw(st.integers(0, len(answered)))]]
    kinds: Mapping[str, Sequence[Message]] = {
        "user": [{"role": "user", "content": text}],
        "answer": [{"role": "assistant", "parts": [{"type": "text", "text": text}]}],
        "spoken": [{"role": "assistant", "parts": [_call("", tool)]}, {"role": "tool", "content": out}],
        "both in one": [{"role": "assistant", "parts": [_result(identity, tool, out)]}],
        "stray": [{"role": "tool", "content": out}],
        "mixed": [{"role": "user", "parts": [{"type": "text", "text": text}, _result(identity, tool, out)]}],
        "system": [{"role": "system", "content": text}],
    }
    return list(kinds[kind])


@st.composite
def sessions(draw: st.DrawFn, max_size: int = 12) -> list[Message]:
    """Stored messages, some minutes apart."""
    said = [message for turn in draw(st.lists(turns(), max_size=max_size)) for message in turn]
    at = NOW - timedelta(hours=3)
    for seq, message in enumerate(said, start=1):
        at += timedelta(seconds=draw(st.sampled_from([1, 60, 1_800])))
        message |= {
            "seq": seq,
            "id": f"m{seq}",
            "created_at": at.isoformat(),
            "tokens": counted(message, count),
        }
    return said


ROOMS = st.builds(
    Room,
    window=st.one_of(st.none(), st.integers(200, 3_000), st.sampled_from([8_000, 128_000, 1_000_000])),
    max_output=st.sampled_from([0, 50]),
    reserved=st.sampled_from([0, 60]),
)
LIMITS = st.builds(
    lambda budget, group, trigger, blocking, many: resolve(
        {
            "tool_result_budget": {"max_chars": budget, "group_chars": group, "preview_chars": budget // 2},
            "history_snip": {"trigger_chars": trigger, "target_chars": trigger // 2},
            "micro_compact": {"trigger_count": many, "keep_recent": many - 1},
            "auto_compact": {
                "blocking_chars": blocking,
                "trigger_chars": blocking - 10,
                "target_chars": blocking // 3,
            },
        },
        None,
    ),
    budget=st.sampled_from([1, 40, 400, 4_000, 50_000]),
    group=st.sampled_from([100, 6_000, 200_000]),
    trigger=st.sampled_from([1_000, 20_000, 600_000]),
    blocking=st.sampled_from([100, 5_000, 780_000]),
    many=st.sampled_from([2, 20]),
)
ASKS = st.builds(
    Ask,
    room=ROOMS,
    limits=LIMITS,
    now=st.sampled_from([NOW - timedelta(hours=2), NOW]),
    usage=st.one_of(st.none(), st.tuples(st.integers(0, 3_000), st.sampled_from(["f", "g"]))),
    beside=st.sampled_from([0, 30]),
    beside_chars=st.sampled_from([0, 40]),
)
FRESH = ContextState("life")


def _tools(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [part for part in message.get("parts") or () if part["type"] == "tool"]


def _orphans(messages: Sequence[Mapping[str, Any]]) -> list[int]:
    """Seqs of results in messages of others than the assistant for which there is no call before them."""
    calls = 0
    ids: set[str] = set()
    stray = []
    for message in messages:
        tools = _tools(message)
        if message["role"] == "assistant":
            calls += len(tools)
            ids |= {part["tool_id"] for part in tools}
            continue
        stray += [
            message["seq"]
            for part in tools
            if part["tool_id"] not in ids and "" not in ids and part["tool_id"]
        ]
        nameless = [part for part in tools if not part["tool_id"]]
        if (nameless or message["role"] == "tool") and not calls:
            stray.append(message["seq"])
    return stray


def _size(made: Assembled, ask: Ask) -> int:
    if made.thresholds is None:
        return sum(map(characters, made.messages)) + ask.beside_chars
    return sum(counted(message, count) + overhead(message) for message in made.messages) + ask.beside


def _most(made: Assembled, ask: Ask) -> int:
    return made.thresholds.effective if made.thresholds else ask.limits.auto_compact.blocking_chars


@settings(max_examples=400, deadline=None)
@given(sessions(), ASKS)
def test_a_context_fits_and_holds_together(messages: list[Message], ask: Ask) -> None:
    before = copy.deepcopy(messages)
    made = assemble(messages, ask, FRESH, count)

    assert messages == before
    assert _size(made, ask) <= _most(made, ask)
    if made.thresholds:
        assert made.tokens == _size(made, ask)
    assert not _orphans(made.messages)
    shown = [message["seq"] for message in made.messages]
    assert shown == sorted(shown)
    left = [seq for part in made.left for seq in range(part.seq_from, part.seq_to + 1)]
    assert sorted([*shown, *left]) == [message["seq"] for message in messages]
    spoken = [message["seq"] for message in messages if speaks(message)]
    assert not spoken or spoken[-1] in shown


@settings(max_examples=200, deadline=None)
@given(sessions(), ASKS, LIMITS, st.integers(1, 5))
def test_it_is_the_same_again(messages: list[Message], ask: Ask, limits: Limits, hours: int) -> None:
    made = assemble(messages, ask, FRESH, count)
    later = replace(ask, now=ask.now + timedelta(hours=hours))
    assert assemble(messages, later, made.state, count) == made


@settings(max_examples=200, deadline=None)
@given(sessions(), st.lists(st.tuples(ASKS, st.integers(0, 8)), min_size=2, max_size=5))
def test_no_decision_is_ever_undone(messages: list[Message], calls: list[tuple[Ask, int]]) -> None:
    state, said, first = FRESH, 0, {}
    for ask, more in calls:
        said = min(len(messages), said + more)
        made = assemble(messages[:said], ask, state, count)
        assert state.decisions.items() <= made.state.decisions.items()
        assert _size(made, ask) <= _most(made, ask)
        assert not _orphans(made.messages)
        assert assemble(messages[:said], ask, made.state, count) == made
        state = made.state
        for message in made.messages:
            for place in [
                p for p in state.decisions if p[0] == message["seq"] and message["seq"] not in made.cut
            ]:
                text = message["content"] if place[1] is None else message["parts"][place[1]]
                assert first.setdefault(place, text) == text


@settings(max_examples=200, deadline=None)
@given(sessions(), ASKS, LIMITS)
def test_what_was_sent_whole_stays_so_whatever_the_budget_is_then(
    messages: list[Message], ask: Ask, limits: Limits
) -> None:
    made = assemble(messages, ask, FRESH, count)
    other = ask.limits.model_copy(update={"tool_result_budget": limits.tool_result_budget})
    again = assemble(messages, replace(ask, limits=other), made.state, count)
    if len(made.messages) == len(messages):
        assert again.messages == made.messages


@settings(max_examples=200, deadline=None)
@given(sessions(), ASKS)
def test_no_message_is_smaller_than_its_floor(messages: list[Message], ask: Ask) -> None:
    made = assemble(messages, ask, FRESH, count)
    by_seq = {message["seq"]: message for message in messages}
    for message in made.messages:
        if message["seq"] not in made.cut:
            stored = by_seq[message["seq"]]
            assert unread(stored, in_tokens=False) <= characters(message)
            assert unread(stored, in_tokens=True) <= counted(message, count) + overhead(message)


@settings(max_examples=200, deadline=None)
@given(sessions(), ASKS, st.integers(0, 20))
def test_the_state_of_what_is_covered_is_gone(messages: list[Message], ask: Ask, through: int) -> None:
    state = assemble(messages, ask, FRESH, count).state
    moved = covered(state, through)
    assert all(seq > through for seq, _ in moved.decisions)
    assert covered(moved, through) == moved
    made = assemble([m for m in messages if m["seq"] > through], ask, moved, count)
    assert made.estimate.source == "estimated" or not through
