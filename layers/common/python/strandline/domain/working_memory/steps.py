"""What tools did in a range of messages: each call with its result, the files it was about, and what went wrong."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from strandline.domain.text import one_line
from strandline.domain.tool_calls import tool_parts
from strandline.domain.transcribing import text_of
from strandline.domain.working_memory.excerpts import asked, fields
from strandline.domain.working_memory.thresholds import Stored, is_call

SCANNED_CHARS = 20_000
"""Of one text that is looked through, from its beginning."""

SCANNED_END = 4_000
"""And from its end."""

MAX_PATHS = 20
"""Files taken from one text."""

_SUBJECT_CHARS = 80
_ERROR_CHARS = 200
_PATH_FIELDS = (
    "path",
    "file_path",
    "filepath",
    "filename",
    "file_name",
    "file",
    "notebook_path",
    "target_file",
)
_COMMAND_FIELDS = ("command", "cmd")
_URL = re.compile(r"[a-z][a-z0-9+.-]{0,30}://\S*", re.IGNORECASE)
_BARE = (
    "py pyi ipynb js jsx ts tsx mjs java kt go rs c h cc cpp hpp cs rb php swift scala sh bash sql html css scss vue "
    "md rst txt json jsonl yaml yml toml ini cfg conf env lock xml csv tsv log pdf docx xlsx pptx png jpg svg"
)
_PATH = re.compile(
    r"(?<![\w/.~@:\\-])(?:"
    r"(?:~|\.{1,2})?/[\w.@+-]+(?:/[\w.@+-]+)+"  # /testbed/src, ./a/b
    r"|(?:[\w.@+-]+/)+[\w@+-][\w.@+-]*\.[A-Za-z]\w{0,7}"  # src/marshmallow/fields.py
    r"|(?:\.{0,2}/)?[\w@+-][\w.@+-]*\.(?:" + "|".join(_BARE.split()) + r")"  # setup.py, /setup.py
    r"|[A-Za-z]:\\[\w.\\ -]*\w"
    r")(?![\w/])",
    re.ASCII,
)
_ERROR = re.compile(
    r"^[ \t]*(?:[-+*>|] )?("
    r"(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*(?:Error|Exception|Interrupt|Warning)\b(?=[:(]|[ \t]*$).*"
    r"|(?:fatal|error|err!|panic|npm err!|failure|failed|abort(?:ed)?)\b ?(?:\[[^\]\n]{1,40}\])?[:!].*"
    r"|(?:FAILED|ERROR|E999|E\d{3})\b.*"
    r"|.{0,200}?(?:command not found|no such file or directory|permission denied|segmentation fault|syntax error"
    r"|(?:exit(?:ed)?(?: with)?|return(?:ed)?)(?: non-zero)? (?:code|status):? ?[1-9]).*"
    r"|(?:错误|失败|エラー|失敗)[：:].*"
    r")$",
    re.IGNORECASE | re.MULTILINE,
)
_RAISED = re.compile(
    r"^(?:[ \t]*[-*>] )?(?:E\d{3} )?(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*(?:Error|Exception|Interrupt)\b(?=[:(]|[ \t]*$).*$",
    re.MULTILINE,
)
_COUNTED = re.compile(r"^.*\b\d+ (?:passed|failed|errors?|warnings?)\b.*$|^(?:OK|FAILED)\b.*$", re.MULTILINE)


@dataclass(frozen=True)
class Step:
    """A tool was called at `seq` and answered at `done` (None: not yet). `output` is empty until then."""

    seq: int
    tool: str
    asked: str = ""
    subject: str = ""
    paths: tuple[str, ...] = ()
    output: str = ""
    done: int | None = None
    failed: bool = False

    @property
    def label(self) -> str:
        """The tool and what it was about: the same when it is tried again."""
        return f"{self.tool} `{self.subject}`" if self.subject else self.tool

    @property
    def error(self) -> str | None:
        """What went wrong, on one line; None where nothing did, as far as can be seen."""
        if self.done is None:
            return None
        seen = scanned(self.output)
        found = _RAISED.search(seen) or _ERROR.search(seen)
        if found:
            return one_line(found[0], _ERROR_CHARS)
        return one_line(self.output, _ERROR_CHARS) or "failed" if self.failed else None

    @property
    def outcome(self) -> str | None:
        """What a run of tests has counted, on one line."""
        found = list(islice(_COUNTED.finditer(scanned(self.output)), 50))
        return one_line(found[-1][0].strip("= "), _ERROR_CHARS) if found else None


def steps(messages: Sequence[Stored]) -> list[Step]:
    """The calls in these messages, in order. A result whose call is before them is a step of its own; one without an id
    belongs to the oldest call that waits."""
    found: list[Step] = []
    waiting: dict[str, int] = {}
    for message in messages:
        for part in _parts(message):
            at = None if is_call(part) else _place(waiting, str(part.get("tool_id") or ""))
            if at is None:
                found.append(_step(message["seq"], part))
                if is_call(part):
                    waiting[str(part.get("tool_id") or f"#{len(found)}")] = len(found) - 1
            else:
                found[at] = _answered(found[at], message["seq"], part)
    return found


def _parts(message: Stored) -> Iterator[Mapping[str, Any]]:
    parts = list(tool_parts(message))
    if message["role"] == "tool" and not parts:
        return iter([{"type": "tool", "tool_output": text_of(message)}])
    return iter(parts)


def _place(waiting: dict[str, int], identity: str) -> int | None:
    if identity:
        return waiting.pop(identity, None)
    return waiting.pop(next(iter(waiting))) if waiting else None


def _step(seq: int, part: Mapping[str, Any]) -> Step:
    given = part.get("tool_input")
    line = one_line(asked(given), 400) if given not in (None, "", {}) else ""
    paths = _paths_of(given)
    begun = Step(
        seq, one_line(part.get("tool_name") or "", 60) or "tool", line, _subject(given, paths), paths
    )
    return begun if is_call(part) else _answered(begun, seq, part)


def _answered(begun: Step, seq: int, part: Mapping[str, Any]) -> Step:
    tool = one_line(part.get("tool_name") or "", 60) if begun.tool == "tool" else begun.tool
    failed = part.get("tool_status") == "error"
    output = str(part.get("tool_output") or "")
    return replace(begun, tool=tool or "tool", output=output, done=seq, failed=failed)


def _subject(given: Any, paths: Sequence[str]) -> str:
    known = fields(given)
    for name in (*_PATH_FIELDS, *_COMMAND_FIELDS):
        if isinstance(known.get(name), str) and known[name].strip():
            return one_line(known[name].replace("`", "'"), _SUBJECT_CHARS)
    if isinstance(given, str) and not known:
        return one_line(given.replace("`", "'"), _SUBJECT_CHARS)
    return paths[0] if paths else ""


def _paths_of(given: Any) -> tuple[str, ...]:
    """The files that a tool was told to work on: what stands in fields for them, and in commands."""
    known = fields(given)
    named = [one_line(str(known[name]), 200) for name in _PATH_FIELDS if isinstance(known.get(name), str)]
    texts = [str(known[name]) for name in _COMMAND_FIELDS if isinstance(known.get(name), str)]
    if isinstance(given, str) and not known:
        texts = [given]
    return tuple(dict.fromkeys([*filter(None, named), *(path for text in texts for path in paths(text))]))


def paths(text: str) -> list[str]:
    """The files that a text names, in order, without addresses of the web."""
    found = (match[0].rstrip(".") for match in _PATH.finditer(_URL.sub(" ", scanned(text))))
    return list(islice(dict.fromkeys(found), MAX_PATHS))


def touched(messages: Sequence[Stored], done: Sequence[Step]) -> Iterator[tuple[str, str]]:
    """(path, tool, or nothing where it is only named) in the order of the messages, of which `done` are the steps."""
    by_seq: dict[int, list[Step]] = {}
    for step in done:
        by_seq.setdefault(step.seq, []).append(step)
    for message in messages:
        if message["role"] in ("user", "assistant"):
            yield from ((path, "") for path in paths(text_of(message)))
        for step in by_seq.get(message["seq"], ()):
            yield from ((path, step.tool) for path in step.paths)
            yield from ((path, "") for path in paths(step.error or ""))


def scanned(text: str) -> str:
    """As much of a text as is looked through."""
    if len(text) <= SCANNED_CHARS + SCANNED_END:
        return text
    return f"{text[:SCANNED_CHARS]}\n{text[-SCANNED_END:]}"
