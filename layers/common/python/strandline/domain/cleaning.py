"""Things that are stored already, without their secrets: by the rules of `redaction`, each in its own form.

What is clean comes back as the same object. Ids, paths and addresses stay as they are: what they name would not be
found again. A line whose text changes says no more what it quoted (`NO_QUOTE`), since a hash lets anybody check a
guess; one whose text stays keeps its hash, and is shown as `redacted` when its quote is no longer there.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from strandline.domain.field_value import FieldValue
from strandline.domain.line import NO_QUOTE, Line, Source, read_line, read_lines
from strandline.domain.memory import Memory
from strandline.domain.merging import made_of
from strandline.domain.message import dumps
from strandline.domain.patch import Patch
from strandline.domain.redaction import MARKER, Allowed, is_allowed, redact, redact_value
from strandline.domain.session import Archive, Head
from strandline.domain.tool_output import ToolOutput, preview

V = TypeVar("V")
_KEPT = frozenset(
    "id seq peer_id tool_id role type created_at utc_offset tokens tool_status flags ref tool_output_ref"
    " tool_output_sha256".split()
)
_ADDRESS = "viking://"
_KEY = "private_key"
_PIECE = re.compile(r"[A-Za-z0-9+/=]{24,}")

Outputs = Mapping[str, ToolOutput]
"""Tool outputs by their id, as they are when they are clean."""


@dataclass
class Cleaner:
    """Takes secrets out, but for those that are `allowed`, and notes of which kinds they were."""

    allowed: Allowed = ()
    kinds: dict[str, None] = field(default_factory=dict)

    def text(self, text: str) -> str:
        found = redact(text, self.allowed)
        self.kinds.update(dict.fromkeys(found.kinds))
        return found.text

    def derived(self, text: str) -> str:
        """What an extraction made of a text: also without lines of a key, of which it has left out the beginning."""
        clean = self.text(text)
        pieces = [
            each[0]
            for each in _PIECE.finditer(clean)
            if _is_chance(each[0]) and not is_allowed(each[0], self.allowed)
        ]
        for piece in pieces:
            self.kinds[_KEY] = None
            clean = clean.replace(piece, f"{MARKER}{_KEY}]")
        return clean

    def value(self, value: Any) -> Any:
        """A JSON value, where a key may say that a secret stands below it."""
        clean, kinds = redact_value(value, self.allowed)
        self.kinds.update(dict.fromkeys(kinds))
        return clean if kinds else value

    # ---- messages

    def messages(self, body: bytes, outputs: Outputs) -> bytes:
        """Stored lines, joined by newlines."""
        return b"\n".join([self.message(line, outputs) if line else line for line in body.split(b"\n")])

    def message(self, line: bytes, outputs: Outputs) -> bytes:
        """One stored line. Its parts that refer to a tool output show the beginning of the clean one."""
        message: dict[str, Any] = json.loads(line)
        seen = Cleaner(self.allowed)
        clean = seen._fields(message)
        clean |= {"parts": [seen._fields(part) for part in message["parts"]]} if "parts" in message else {}
        clean = _referring(clean, outputs)
        if clean == message:
            return line
        self.kinds.update(seen.kinds)
        flags = (*message.get("flags", ()), *(f"secret:{kind}" for kind in seen.kinds))
        return dumps({**clean, **({"flags": list(dict.fromkeys(flags))} if flags else {})})

    def _fields(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: value if name in _KEPT or name == "parts" else self.value(value)
            for name, value in fields.items()
        }

    def output(self, output: ToolOutput) -> ToolOutput:
        content, name = self.text(output.content), self.text(output.tool_name)
        if (content, name) == (output.content, output.tool_name):
            return output
        digest = hashlib.sha256(content.encode()).hexdigest()
        return replace(output, content=content, tool_name=name, sha256=digest)

    def head(self, head: Head, outputs: Outputs) -> Head:
        tail = tuple(self.message(line, outputs) for line in head.tail)
        error = head.auto_commit_last_error
        clean = replace(
            head,
            tail=tail,
            tail_bytes=sum(map(len, tail)),
            metadata=self.value(head.metadata),
            pending=tuple(map(self._archive, head.pending)),
            failed=tuple(map(self._archive, head.failed)),
            auto_commit_last_error=error and self.text(error),
        )
        return head if replace(clean, tail_bytes=head.tail_bytes) == head else clean

    def _archive(self, archive: Archive) -> Archive:
        return replace(archive, reason=self.text(archive.reason)) if archive.reason else archive

    # ---- memories

    def memory(self, memory: Memory) -> Memory:
        topic = memory.topic
        body = self.body(memory.body)
        clean = replace(
            memory,
            title=self.text(memory.title),
            body=body,
            topic=topic and replace(topic, **{name: self.text(text) for name, text in vars(topic).items()}),
            values=tuple(map(self._value, memory.values)),
            patches=tuple(map(self._patch, memory.patches)),
        )
        if clean == memory:
            return memory
        lines, _ = read_lines(body)
        if lines == read_lines(memory.body)[0] and clean.values == memory.values:
            return clean
        return made_of(clean, lines) or clean

    def body(self, body: str) -> str:
        """The text of a memory, or any other: first each line as it was merged, then all of it."""
        return self.text("\n".join(map(self._body_line, body.split("\n"))))

    def _body_line(self, text: str) -> str:
        line = read_line(text)
        clean = line and self.line(line)
        return text if clean is line else str(clean)

    def line(self, line: Line) -> Line:
        text = self.derived(line.text)
        return line if text == line.text else replace(line, text=text, source=unquoted(line.source))

    def _value(self, value: FieldValue) -> FieldValue:
        return replace(value, value=self.text(value.value)) if isinstance(value.value, str) else value

    def _patch(self, patch: Patch) -> Patch:
        search = tuple(map(self.derived, patch.search))
        source = patch.source if search == patch.search else unquoted(patch.source)
        return replace(patch, source=source, search=search, lines=tuple(map(self.line, patch.lines)))

    # ---- anything else

    def json(self, text: str) -> str:
        """A JSON text of our own, in which no key means anything; or what is none, as a text."""
        try:
            value = json.loads(text)
        except ValueError:
            return self.text(text)
        clean = self._texts(value)
        return text if clean == value else json.dumps(clean, ensure_ascii=False, indent=1)

    def json_lines(self, text: str) -> str:
        return "\n".join(self.record(line) if line else line for line in text.split("\n"))

    def record(self, line: str) -> str:
        value = json.loads(line)
        clean = self._texts(value)
        return line if clean == value else json.dumps(clean, ensure_ascii=False, separators=(",", ":"))

    def _texts(self, value: Any) -> Any:
        match value:
            case str():
                return value if value.startswith(_ADDRESS) else self.derived(self.body(value))
            case dict():
                return {key: value if key in _NAMES else self._texts(value) for key, value in value.items()}
            case list():
                return [self._texts(item) for item in value]
        return value

    def answer(self, text: str) -> str:
        """An answer that was kept, or any text that may be JSON."""
        try:
            value = json.loads(text)
        except ValueError:
            return self.text(text)
        clean = self.value(value)
        return text if clean is value else json.dumps(clean, ensure_ascii=False)


_NAMES = frozenset({"id", "path", "session_id", "session", "task_id", "resource"})


def _is_chance(piece: str) -> bool:
    """Whether it is like a line of base64: capitals, small letters and digits in about their shares, and no path."""
    shares = [sum(map(kind, piece)) / len(piece) for kind in (str.isupper, str.islower, str.isdigit)]
    return shares[0] > 0.2 and shares[1] > 0.2 and shares[2] > 0.06


def unquoted(source: Source) -> Source:
    """The source, without the hash of the quote."""
    return replace(source, quote=NO_QUOTE)


def references(lines: Iterable[bytes]) -> set[str]:
    """The ids of the tool outputs that stored messages refer to."""
    found = set()
    for line in lines:
        if b'"ref":{' in line:
            message = json.loads(line)
            found |= {each["ref"]["id"] for each in (message, *message.get("parts", ())) if "ref" in each}
    return found


def _referring(message: dict[str, Any], outputs: Outputs) -> dict[str, Any]:
    """The message with what it says of tool outputs as they are now."""
    if "parts" in message:
        message["parts"] = [_shortened(part, outputs, "text") for part in message["parts"]]
    return _shortened(message, outputs, "content")


def _shortened(part: dict[str, Any], outputs: Outputs, text: str) -> dict[str, Any]:
    ref = part.get("ref")
    output = outputs.get(ref["id"]) if ref else None
    if ref is None or output is None or output.sha256 == ref["sha256"]:
        return part
    short = preview(output.content)
    known = {"id": output.id, "total_chars": output.total_chars, "sha256": output.sha256}
    if part.get("type") != "tool":
        return {**part, text: short, "ref": known}
    told = {
        "tool_output": short,
        "tool_output_original_chars": output.total_chars,
        "tool_output_preview_chars": len(short),
        "tool_output_sha256": output.sha256,
    }
    return {**part, **told, "ref": known}
