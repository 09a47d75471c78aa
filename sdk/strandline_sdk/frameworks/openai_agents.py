"""Sessions of the OpenAI Agents SDK.

    session = StrandlineSession("chat", client)
    await Runner.run(agent, "Hello", session=session)

Each item is one message: what it says as text and tool parts, for context and memories, and the item itself, unchanged,
as metadata. Messages never change, so an item that is popped is hidden by a message behind it that names it;
`clear_session` deletes the session. Messages that came in another way are no items, and are left out.
"""

import asyncio
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, cast

from agents.items import TResponseInputItem
from agents.memory import SessionABC, SessionSettings

from strandline_sdk.client import Client
from strandline_sdk.errors import ApiError
from strandline_sdk.frameworks.names import session_name
from strandline_sdk.frameworks.raw import as_text, call, message, opened, result, sealed
from strandline_sdk.model import Message, Part, Role

KEY = "openai_agents"
POPPED = "The message before this one was taken back."
_BATCH = 100
_PAGE = 1000
_FEW = 10
_ROLES: dict[str, Role] = {"assistant": "assistant", "system": "system", "developer": "system"}
_SAID = ("text", "refusal", "transcript")


class StrandlineSession(SessionABC):
    """A session that is a session of Strandline; it begins with the first item. `settings` may bound what is read."""

    def __init__(self, session_id: str, client: Client, *, settings: SessionSettings | None = None) -> None:
        self.session_id = session_id
        self.session_settings = settings or SessionSettings()
        self._client = client
        self._name = session_name(session_id)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The newest `limit` items, or all, in their order."""
        settings = self.session_settings
        bound = settings.limit if limit is None and settings else limit
        return await asyncio.to_thread(self._newest, bound)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Appends the items; up to 100 are stored together or not at all."""
        await asyncio.to_thread(self._add, items)

    async def pop_item(self) -> TResponseInputItem | None:
        """Hides the newest item and answers it. Of several at once each gets another item."""
        return await asyncio.to_thread(self._pop)

    async def clear_session(self) -> None:
        """Deletes the session, all of it but the memories made of it."""
        await asyncio.to_thread(self._clear)

    def _newest(self, limit: int | None) -> list[TResponseInputItem]:
        bound = None if limit is None or limit < 0 else limit
        page = _PAGE if bound is None else min(_PAGE, bound + _FEW)
        return [item for _, item in islice(self._visible(page), bound)][::-1]

    def _add(self, items: list[TResponseInputItem]) -> None:
        for start in range(0, len(items), _BATCH):
            self._client.append_batch(self._name, [said(item) for item in items[start : start + _BATCH]])

    def _pop(self) -> TResponseInputItem | None:
        while True:
            last_seq = self._last_seq()
            seq, item = next(self._visible(_FEW), (0, None))
            if item is None:
                return None
            hides = message("system", [{"type": "text", "text": POPPED}], {KEY: {"popped": seq}})
            try:
                self._client.append(self._name, hides, expected_last_seq=last_seq)
            except ApiError as error:
                if not error.overtaken:
                    raise
            else:
                return item

    def _clear(self) -> None:
        try:
            self._client.delete_session(self._name)
        except ApiError as error:
            _unless_missing(error)

    def _last_seq(self) -> int:
        try:
            return self._client.session(self._name).get("total_message_count", 0)
        except ApiError as error:
            _unless_missing(error)
            return 0

    def _visible(self, page: int) -> Iterator[tuple[int, TResponseInputItem]]:
        """The items that are not popped, each with its seq, newest first; messages are asked for in pages."""
        popped = set()
        for stored in self._log(page):
            note = stored.get("metadata", {}).get(KEY, {})
            if "popped" in note:
                popped.add(note["popped"])
            elif "item" in note and stored["seq"] not in popped:
                yield stored["seq"], cast(TResponseInputItem, opened(note["item"]))

    def _log(self, page: int) -> Iterator[Any]:
        try:
            yield from self._client.newest_messages(self._name, page_size=page)
        except ApiError as error:
            _unless_missing(error)


def _unless_missing(error: ApiError) -> None:
    if error.status != 404:
        raise error


def said(item: TResponseInputItem) -> Message:
    """The message that an item is."""
    fields = cast(Mapping[str, Any], item)
    role, parts = _spoken(fields)
    return message(role, parts, {KEY: {"item": sealed(fields)}})


def _spoken(item: Mapping[str, Any]) -> tuple[Role, list[Part]]:
    """Who says what by an item. Thoughts are said to nobody."""
    kind = str(item.get("type") or "message")
    if kind == "message":
        return _ROLES.get(item.get("role", "user"), "user"), list(_content(item.get("content")))
    if kind.endswith("_output"):
        return "tool", [result(item.get("call_id"), "", _output(item.get("output")))]
    if not kind.endswith("_call"):
        return "assistant", []
    name = item.get("name") or kind
    if "call_id" in item:
        return "assistant", [call(item["call_id"], name, item.get("arguments", item.get("action")))]
    return "assistant", [{**call(item.get("id"), name, item.get("arguments")), **_hosted(item)}]


def _hosted(item: Mapping[str, Any]) -> Any:
    """A call that the provider made and answered itself is no open call."""
    return {"tool_output": _output(item.get("output")), "tool_status": "completed"}


def _content(content: Any) -> Iterator[Part]:
    if isinstance(content, str):
        yield {"type": "text", "text": content}
        return
    for part in content or ():
        yield {"type": "text", "text": _shown(part)}


def _output(output: Any) -> str:
    if isinstance(output, list):
        return "\n".join(map(_shown, output))
    return output if isinstance(output, str) else as_text(output) if output else ""


def _shown(part: Any) -> str:
    """A part's text, or a mark of what is no text."""
    if not isinstance(part, Mapping):
        return str(part)
    text = next((part[name] for name in _SAID if isinstance(part.get(name), str)), None)
    kind = str(part.get("type", "data")).removeprefix("input_").removeprefix("output_")
    return text if text is not None else f"[{kind}]"
