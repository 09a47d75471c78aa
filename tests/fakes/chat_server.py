"""A chat endpoint on loopback that does what a test tells it, in OpenAI's wire format and in Bedrock's.

Its `turns` are used up one a request; the last one stays. What it was sent is in `requests`.
"""

import html
import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

INPUT_TOKENS, OUTPUT_TOKENS = 100, 20


@dataclass(frozen=True)
class Asked:
    """One request as it came over the wire."""

    path: str
    headers: Mapping[str, str]
    body: Any

    @property
    def is_bedrock(self) -> bool:
        return self.path.endswith("/converse")

    @property
    def system(self) -> str:
        return str(self.body["system"][0]["text"] if self.is_bedrock else self.body["messages"][0]["content"])

    @property
    def user(self) -> str:
        if self.is_bedrock:
            return str(self.body["messages"][0]["content"][0]["text"])
        return str(self.body["messages"][1]["content"])


Turn = Callable[["_Handler", Asked], None]


class ChatServer:
    """Listens on a free port from `with` to the end of it."""

    def __init__(self, *turns: Turn) -> None:
        self.turns: list[Turn] = list(turns)
        self.requests: list[Asked] = []
        self.released = threading.Event()  # ends every turn that hangs
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.chat = self  # type: ignore[attr-defined]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def take(self, asked: Asked) -> Turn:
        with self._lock:
            self.requests.append(asked)
            return self.turns.pop(0) if len(self.turns) > 1 else self.turns[0]

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = Asked(self.path, {k.lower(): v for k, v in self.headers.items()}, body)
        self.server.chat.take(asked)(self, asked)  # type: ignore[attr-defined]

    def log_message(self, *_: object) -> None:
        """Says nothing."""

    @property
    def chat(self) -> ChatServer:
        chat: ChatServer = self.server.chat  # type: ignore[attr-defined]
        return chat

    def send(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


# ---- turns


def says(answer: Any, stop: str = "complete") -> Turn:
    """Calls the tool with this answer: an object, or the text of one, whole or not. `stop`: complete, cut, refused."""
    return lambda handler, asked: handler.send(200, _reply(asked, stop, tool=answer))


def writes(text: str | None, stop: str = "complete") -> Turn:
    """Answers in text, where a call of the tool was asked for."""
    return lambda handler, asked: handler.send(200, _reply(asked, stop, text=text))


def listens(note: Callable[[Asked], Any]) -> Turn:
    """Answers what `note` makes of the question."""
    return lambda handler, asked: handler.send(200, _reply(asked, "complete", tool=note(asked)))


def sends(status: int, body: Any, **headers: str) -> Turn:
    """Any answer; an object is sent as JSON."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda handler, asked: handler.send(status, raw, named)


def fails(status: int, code: str = "error", **headers: str) -> Turn:
    """An error in the words of the wire; its text quotes what was said, as real ones may."""

    def turn(handler: _Handler, asked: Asked) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        text = f"cannot do that: {asked.user[-200:]}"
        if asked.is_bedrock:
            handler.send(status, json.dumps({"message": text}).encode(), {"x-amzn-ErrorType": code, **named})
        else:
            handler.send(status, json.dumps({"error": {"message": text, "code": code}}).encode(), named)

    return turn


def hangs(handler: _Handler, asked: Asked) -> None:
    """Never answers."""
    handler.chat.released.wait(30)
    handler.close_connection = True


def late(answer: Any) -> Turn:
    """Answers when the client has long stopped waiting: after `released`."""

    def turn(handler: _Handler, asked: Asked) -> None:
        handler.chat.released.wait(30)
        handler.send(200, _reply(asked, "complete", tool=answer))

    return turn


def breaks_off(handler: _Handler, asked: Asked) -> None:
    """Half of an answer, then the connection is gone."""
    body = _reply(asked, "complete", tool={"abstract": "x" * 1000})
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body[: len(body) // 2])
    handler.wfile.flush()
    handler.close_connection = True


def endless(handler: _Handler, asked: Asked) -> None:
    """White space for ever, quickly."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.end_headers()
    try:
        while not handler.chat.released.is_set():
            handler.wfile.write(b" " * 65536)
    except OSError:
        pass
    handler.close_connection = True


def dribbles(handler: _Handler, asked: Asked) -> None:
    """A byte now and then, so that no single read takes long."""
    handler.send_response(200)
    handler.end_headers()
    try:
        while not handler.chat.released.wait(0.02):
            handler.wfile.write(b" ")
    except OSError:
        pass
    handler.close_connection = True


# ---- answers


@dataclass(frozen=True)
class Message:
    """A message as a model reads it in the frame; `shown` is its text as it stands there."""

    seq: int
    speaker: str
    name: str
    at: str
    shown: str

    @property
    def text(self) -> str:
        return html.unescape(self.shown)


_SPEAKER = re.compile(r'<speaker id="([^"]*)" role="([^"]*)" name="([^"]*)"/>')
_MESSAGE = re.compile(
    r'<message seq="(\d+)" speaker="([^"]*)" at="([^"]*)"(?: gives="orders")?>([^<]*)(?:<cut [^>]*/>)?</message>'
)


def heard(asked: Asked) -> Sequence[Message]:
    """The messages of a question's frame. What has broken out of it is not among them."""
    names = {label: html.unescape(name) for label, _, name in _SPEAKER.findall(asked.user)}
    return [
        Message(int(seq), speaker, names[speaker], at, shown)
        for seq, speaker, at, shown in _MESSAGE.findall(asked.user)
    ]


@dataclass
class Notes:
    """An answer in the making: `Notes().fact("profile", message, "Ann rows.").answer`."""

    answer: dict[str, Any] = field(
        default_factory=lambda: {
            "abstract": "They talked.",
            "profile": [],
            "preferences": [],
            "entities": [],
            "events": [],
            "cases": [],
        }
    )

    def fact(self, kind: str, message: Message, text: str, **fields: Any) -> "Notes":
        given = {
            "text": text,
            "speaker": message.speaker,
            "seq_from": message.seq,
            "seq_to": message.seq,
            "quote": message.shown,
        }
        self.answer[kind].append(given | fields)
        return self


def remembers(asked: Asked) -> dict[str, Any]:
    """A well-behaved model: of every message it notes who said what; in notes of a session, that it was said."""
    if "<notes>" in asked.user:
        return updates(asked)
    notes = Notes()
    for message in heard(asked):
        notes.fact("profile", message, f"It is noted of {message.name}: {message.text}")
    return notes.answer


def learns(asked: Asked) -> dict[str, Any]:
    """A well-behaved model that finds a task in what begins with "Please", and believes what was said last."""
    if "<run>" in asked.user:
        (*_, last) = re.findall(r"<line>(?:user|result): ([^<]*)</line>", asked.user)
        lesson = {"approach": ["Ask for the number."], "reflect": []}
        return {**lesson, "outcome": "success", "quote": html.unescape(last)}
    answer = remembers(asked)
    if "<notes>" not in asked.user:
        tasks = [message for message in heard(asked) if message.text.startswith("Please")]
        answer["cases"] = [
            {"kind": "Cancel a reservation", "request": m.shown, "seq": m.seq, "wanted": []} for m in tasks
        ]
    return answer


_NOTED = re.compile(
    r'<message seq="(\d+)" speaker="([^"]*)" at="[^"]*"(?: gives="orders")?>([^<]*)</message>'
)


def updates(asked: Asked, **changes: Any) -> dict[str, Any]:
    """Edits of a session's notes: a fact for every message, and these changes."""
    said = [
        f"{html.unescape(name)} said: {html.unescape(text)}" for _, name, text in _NOTED.findall(asked.user)
    ]
    lists = "task files errors open learnings results worklog outdated settled".split()
    given = {"title": "what was said", "current_state": ["They talk."], "facts": said}
    return {**{key: [] for key in lists}, **given, **changes}


def _reply(asked: Asked, stop: str, *, tool: Any = None, text: str | None = None) -> bytes:
    made = _converse(stop, tool, text) if asked.is_bedrock else _completion(stop, tool, text)
    return json.dumps(made).encode()


def _completion(stop: str, tool: Any, text: str | None) -> dict[str, Any]:
    reason = {
        "complete": "stop" if tool is None else "tool_calls",
        "cut": "length",
        "refused": "content_filter",
    }
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if tool is not None:
        arguments = tool if isinstance(tool, str) else json.dumps(tool)
        function = {"name": "remember", "arguments": arguments}
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": reason[stop]}],
        "usage": {"prompt_tokens": INPUT_TOKENS, "completion_tokens": OUTPUT_TOKENS},
    }


def _converse(stop: str, tool: Any, text: str | None) -> dict[str, Any]:
    reason = {
        "complete": "end_turn" if tool is None else "tool_use",
        "cut": "max_tokens",
        "refused": "content_filtered",
    }
    content: list[Any] = [] if text is None else [{"text": text}]
    if isinstance(tool, dict | list):
        content.append({"toolUse": {"toolUseId": "t1", "name": "remember", "input": tool}})
    elif tool is not None:
        content.append({"text": tool})  # Bedrock hands over no call whose input is not JSON
    return {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": reason[stop],
        "usage": {
            "inputTokens": INPUT_TOKENS,
            "outputTokens": OUTPUT_TOKENS,
            "totalTokens": INPUT_TOKENS + OUTPUT_TOKENS,
        },
        "metrics": {"latencyMs": 5},
    }
