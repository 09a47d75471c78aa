"""Sessions of Strands Agents.

    manager = RepositorySessionManager("chat", StrandlineRepository(client))
    agent = Agent(model=…, session_manager=manager)

A session of Strands is one of Strandline, of any number of agents. Each message of an agent is a message: what it says
as text and tool parts, and the whole of it as metadata. Messages never change, so what Strands updates (an agent's
state, a message that a guardrail replaces) is a message behind it that says nothing and holds the newer one: the last
one counts. What was replaced stays in the log until the session is deleted.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from strands.session.session_repository import SessionRepository
from strands.types.exceptions import SessionException
from strands.types.session import Session, SessionAgent, SessionMessage, SessionType

from strandline_sdk.client import Client
from strandline_sdk.errors import ApiError
from strandline_sdk.frameworks.names import session_name
from strandline_sdk.frameworks.raw import as_text, call, message, opened, result, sealed
from strandline_sdk.model import Part, Role, SessionSettings

if TYPE_CHECKING:
    from strands.multiagent import MultiAgentBase

KEY = "strands"
_PAGE = 1000
_SOME = 100
Record = dict[str, Any]
Block = Mapping[str, Any]


class StrandlineRepository(SessionRepository):
    """What a `RepositorySessionManager` keeps its sessions in. `settings` are those of the sessions it creates, such as
    an `auto_commit_policy`. A session that was created otherwise is used as it is."""

    def __init__(self, client: Client, settings: SessionSettings | None = None) -> None:
        self._client = client
        self._settings = settings or SessionSettings()

    # ---- sessions

    def create_session(self, session: Session, **kwargs: Any) -> Session:
        """Raises SessionException for one that is there."""
        told: SessionSettings = {**self._settings, "metadata": {KEY: session.to_dict()}}
        try:
            self._client.create_session(session_name(session.session_id), **told)
        except ApiError as error:
            if error.code != "ALREADY_EXISTS":
                raise
            raise SessionException(f"Session {session.session_id} already exists") from error
        return session

    def read_session(self, session_id: str, **kwargs: Any) -> Session | None:
        """None for a session that is not there."""
        try:
            found = self._client.session(session_name(session_id))
        except ApiError as error:
            if error.status == 404:
                return None
            raise
        made = {"created_at": found.get("created_at", ""), "updated_at": found.get("updated_at", "")}
        about = found.get("metadata", {}).get(KEY, made)
        return Session.from_dict({**about, "session_id": session_id, "session_type": SessionType.AGENT})

    def delete_session(self, session_id: str, **kwargs: Any) -> None:
        """Deletes the session, its agents and messages; memories stay. Raises SessionException."""
        try:
            self._client.delete_session(session_name(session_id))
        except ApiError as error:
            if error.status != 404:
                raise
            raise _missing(session_id) from error

    # ---- agents

    def create_agent(self, session_id: str, session_agent: SessionAgent, **kwargs: Any) -> None:
        """Raises SessionException for a session that is not there."""
        self._living(session_id)
        self._append(session_id, {"agent": session_agent.to_dict()})

    def read_agent(self, session_id: str, agent_id: str, **kwargs: Any) -> SessionAgent | None:
        """The agent as it was last written; None for one that is not there."""
        for record in self._newest(session_id):
            if record.get("agent", {}).get("agent_id") == agent_id:
                return SessionAgent.from_dict(record["agent"])
        return None

    def update_agent(self, session_id: str, session_agent: SessionAgent, **kwargs: Any) -> None:
        """Raises SessionException for an agent that is not there."""
        before = self.read_agent(session_id, session_agent.agent_id)
        if before is None:
            raise SessionException(f"Agent {session_agent.agent_id} in session {session_id} does not exist")
        session_agent.created_at = before.created_at
        self._append(session_id, {"agent": session_agent.to_dict()})

    # ---- messages

    def create_message(
        self, session_id: str, agent_id: str, session_message: SessionMessage, **kwargs: Any
    ) -> None:
        """Appends a message. Of two with one number, written by two processes at once, both stay."""
        self._living(session_id)
        blocks = session_message.message["content"]
        role = _role(session_message.message["role"], blocks)
        record = {"of": agent_id, "message": session_message.to_dict()}
        self._append(session_id, record, role, _parts(blocks))

    def read_message(
        self, session_id: str, agent_id: str, message_id: int, **kwargs: Any
    ) -> SessionMessage | None:
        """The message as it was last written; None for one that is not there."""
        for record in self._newest(session_id):
            found = record.get("message") or record.get("update")
            if found and record["of"] == agent_id and found["message_id"] == message_id:
                return SessionMessage.from_dict(found)
        return None

    def update_message(
        self, session_id: str, agent_id: str, session_message: SessionMessage, **kwargs: Any
    ) -> None:
        """Raises SessionException for a message that is not there."""
        before = self.read_message(session_id, agent_id, session_message.message_id)
        if before is None:
            raise SessionException(f"Message {session_message.message_id} does not exist")
        session_message.created_at = before.created_at
        self._append(session_id, {"of": agent_id, "update": session_message.to_dict()})

    def list_messages(
        self, session_id: str, agent_id: str, limit: int | None = None, offset: int = 0, **kwargs: Any
    ) -> list[SessionMessage]:
        """The agent's messages in order, as they were last written, from the one at `offset` on. Raises
        SessionException for a session that is not there."""
        self._living(session_id)
        updates: dict[int, Record] = {}
        found: list[Record] = []
        for record in self._newest(session_id, _PAGE):
            if record.get("of") == agent_id and "update" in record:
                updates.setdefault(record["update"]["message_id"], record["update"])
            elif record.get("of") == agent_id:
                found.append(updates.pop(record["message"]["message_id"], record["message"]))
        end = None if limit is None else offset + limit
        return [SessionMessage.from_dict(each) for each in islice(reversed(found), offset, end)]

    # ---- several agents as one

    def create_multi_agent(self, session_id: str, multi_agent: "MultiAgentBase", **kwargs: Any) -> None:
        """Raises SessionException for a session that is not there."""
        self._living(session_id)
        self._append(session_id, {"multi_agent": multi_agent.id, "state": multi_agent.serialize_state()})

    def read_multi_agent(self, session_id: str, multi_agent_id: str, **kwargs: Any) -> dict[str, Any] | None:
        """Its state as it was last written; None for one that is not there."""
        for record in self._newest(session_id):
            if record.get("multi_agent") == multi_agent_id:
                return dict(record["state"])
        return None

    def update_multi_agent(self, session_id: str, multi_agent: "MultiAgentBase", **kwargs: Any) -> None:
        """Raises SessionException for one that is not there."""
        if self.read_multi_agent(session_id, multi_agent.id) is None:
            raise SessionException(
                f"MultiAgent state {multi_agent.id} in session {session_id} does not exist"
            )
        self._append(session_id, {"multi_agent": multi_agent.id, "state": multi_agent.serialize_state()})

    # ---- how

    def _living(self, session_id: str) -> None:
        """A message would begin a session that is not there. Raises SessionException."""
        if self.read_session(session_id) is None:
            raise _missing(session_id)

    def _append(
        self, session_id: str, record: Record, role: Role = "system", parts: Iterable[Part] = ()
    ) -> None:
        self._client.append(session_name(session_id), message(role, parts, {KEY: sealed(record)}))

    def _newest(self, session_id: str, page: int = _SOME) -> Iterator[Record]:
        """What Strands has written, newest first. Raises SessionException for a session that is not there."""
        try:
            for stored in self._client.newest_messages(session_name(session_id), page_size=page):
                record = stored.get("metadata", {}).get(KEY)
                if record is not None:
                    yield opened(record)
        except ApiError as error:
            if error.status != 404:
                raise
            raise _missing(session_id) from error


def _missing(session_id: str) -> SessionException:
    return SessionException(f"Session {session_id} does not exist")


def _role(role: str, blocks: Sequence[Block]) -> Role:
    """A message that only hands results of tools over is a tool's."""
    if blocks and all("toolResult" in block for block in blocks):
        return "tool"
    return "assistant" if role == "assistant" else "user"


def _parts(blocks: Iterable[Block]) -> Iterator[Part]:
    """What the blocks of a message say; thoughts are said to nobody."""
    for block in blocks:
        if use := block.get("toolUse"):
            yield call(use["toolUseId"], use["name"], use.get("input"))
        elif answer := block.get("toolResult"):
            output = "\n".join(map(_shown, answer.get("content", ())))
            failed = answer.get("status") == "error"
            yield result(answer["toolUseId"], "", output, "error" if failed else "completed")
        elif not {"reasoningContent", "cachePoint"} & block.keys():
            yield {"type": "text", "text": _shown(block)}


def _shown(block: Block) -> str:
    """A block's text, or a mark of what is no text."""
    if "text" in block:
        return str(block["text"])
    if "json" in block:
        return as_text(block["json"])
    if cited := block.get("citationsContent"):
        return "".join(map(_shown, cited.get("content", ())))
    return f"[{next(iter(block), 'data')}]"
