"""The visible messages as the decisions so far show them. Stored messages stay as they are; the sizes are kept up to
date, so a stage pays only for what it changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strandline.domain.compaction.assembly import Stored
from strandline.domain.compaction.orphans import Paired
from strandline.domain.compaction.pairs import Result
from strandline.domain.compaction.replacement import replacement
from strandline.domain.compaction.sizes import Count, characters, counted, overhead, part_texts
from strandline.domain.compaction.state import Decision, Place


@dataclass
class _Altered:
    """What of a message is shown otherwise: text by number of the part (None: the content); tokens of every part."""

    tokens: dict[int | None, int]
    shown: dict[int | None, tuple[Result, str]]


class View:
    """`tokens` and `characters` of all messages as they are shown; `tokens_at` and `chars_at` of each."""

    def __init__(self, paired: Paired, decisions: Mapping[Place, Decision], count: Count) -> None:
        messages, found = paired.messages, paired.found
        self.messages, self.results, self.links = messages, found.results, found.links
        self.decisions = dict(decisions)
        self._count = count
        self._altered: dict[int, _Altered] = {}
        self.chars_at = list(map(characters, messages))
        self.tokens_at = [self._stored(message) + overhead(message) for message in messages]
        self.tokens, self.characters = sum(self.tokens_at), sum(self.chars_at)
        for index, decided in self._otherwise().items():
            self._take_apart(index, decided)

    def undecided(self) -> list[Result]:
        """The results that are shown whole."""
        return [result for result in self.results if result.place not in self.decisions]

    def shown_chars(self, result: Result) -> int:
        """Characters of what is shown of the result; of the whole one, where it is not decided."""
        altered = self._altered.get(result.at)
        number = result.place[1]
        return len(altered.shown[number][1]) if altered and number in altered.shown else result.chars

    def decide(self, result: Result, decision: Decision) -> None:
        """From now on the result is shown so."""
        self.decisions[result.place] = decision
        altered = self._altered.get(result.at)
        if altered is None:
            self._take_apart(result.at, [result])
            return
        number, text = result.place[1], replacement(result, decision)
        altered.shown[number] = (result, text)
        tokens = self._part_tokens(result, text)
        self._grow(result.at, len(text) - len(result.text), tokens - altered.tokens[number])
        altered.tokens[number] = tokens

    def message(self, index: int) -> Stored:
        """The message as it is shown: the stored one itself where nothing is altered."""
        altered = self._altered.get(index)
        if altered is None:
            return self.messages[index]
        message = {**self.messages[index], "tokens": sum(altered.tokens.values())}
        for number, (result, text) in altered.shown.items():
            if number is None:
                message["content"] = text
            else:
                parts = [*message["parts"]]
                parts[number] = _with_output(parts[number], result, text, self.decisions[result.place])
                message["parts"] = parts
        return message

    def _stored(self, message: Stored) -> int:
        tokens = message.get("tokens")
        return counted(message, self._count) if tokens is None else tokens

    def _otherwise(self) -> dict[int, list[Result]]:
        """Messages that are not what their stored tokens count, and results in them that are decided."""
        found: dict[int, list[Result]] = {}
        for result in self.results:
            if result.place in self.decisions:
                found.setdefault(result.at, []).append(result)
            elif result.ref and result.whole:
                found.setdefault(result.at, [])
        return found

    def _take_apart(self, index: int, decided: Sequence[Result]) -> None:
        """Counts a message part by part. The whole of what is decided is not counted again."""
        shown = {each.place[1]: (each, replacement(each, self.decisions[each.place])) for each in decided}
        tokens = self._of_parts(index, shown)
        self._altered[index] = _Altered(tokens, shown)
        more = sum(len(text) - len(result.text) for result, text in shown.values())
        self._grow(index, more, sum(tokens.values()) - self._stored(self.messages[index]))

    def _of_parts(self, index: int, shown: Mapping[int | None, tuple[Result, str]]) -> dict[int | None, int]:
        message, count = self.messages[index], self._count
        tokens = {number: self._part_tokens(*each) for number, each in shown.items()}
        if None not in shown:
            tokens[None] = count(message.get("content") or "")
        for number, part in enumerate(message.get("parts") or ()):
            if number not in shown:
                tokens[number] = sum(map(count, part_texts(part)))
        return tokens

    def _grow(self, index: int, chars: int, tokens: int) -> None:
        self.chars_at[index] += chars
        self.characters += chars
        self.tokens_at[index] += tokens
        self.tokens += tokens

    def _part_tokens(self, result: Result, text: str) -> int:
        number = result.place[1]
        if number is None:
            return self._count(text)
        part = self.messages[result.at]["parts"][number]
        field_name = "tool_output" if part["type"] == "tool" else "text"
        return sum(map(self._count, part_texts({**part, field_name: text})))


def _with_output(part: Mapping[str, Any], result: Result, text: str, decision: Decision) -> Mapping[str, Any]:
    if part["type"] != "tool":
        return {**part, "text": text}
    return {
        **part,
        "tool_output": text,
        "tool_output_truncated": True,
        "tool_output_original_chars": result.chars,
        "tool_output_preview_chars": decision.chars,
    }
