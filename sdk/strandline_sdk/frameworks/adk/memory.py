"""Memory of ADK: what was extracted of committed sessions, and what was written down."""

import asyncio
from collections.abc import Mapping, Sequence

from google.adk.events.event import Event
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.session import Session
from google.genai import types

from strandline_sdk.client import Client
from strandline_sdk.errors import ApiError
from strandline_sdk.frameworks.adk.events import read, said_by, texts
from strandline_sdk.frameworks.adk.sessions import look
from strandline_sdk.frameworks.adk.tenants import OWN, Tenants
from strandline_sdk.frameworks.names import session_name, user_name
from strandline_sdk.model import Hit

_BATCH = 100
_PAGE = 1000
_MOST_HITS = 200


class StrandlineMemoryService(BaseMemoryService):
    """`wait`: what is added is waited for so many seconds until it can be found (TimeoutError), otherwise it is found a
    little later. `limit`: how many memories a search answers. Raises PermissionError where the client's key may not act
    for others."""

    def __init__(self, client: Client, *, wait: float = 0.0, limit: int = 10) -> None:
        self._tenants = Tenants(client)
        self._wait = wait
        self._limit = limit

    async def add_session_to_memory(self, session: Session) -> None:
        """Commits the session. Where another service keeps it, its events are stored first, each once."""
        await asyncio.to_thread(self._add, session.app_name, session.user_id, session.id, session.events)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """The same with some events of a session, or of none."""
        await asyncio.to_thread(self._add, app_name, user_id, session_id or "", events)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Writes each down as a topic; its words are kept, and the same words once."""
        client = self._tenants.user(app_name, user_id)
        for entry in memories:
            if said := "\n".join(texts(entry.content)):
                await asyncio.to_thread(client.remember, said)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """The lines of the user's memories that fit best, each with the time of the conversation it is from."""
        found = await asyncio.to_thread(self._search, app_name, user_id, query)
        return SearchMemoryResponse(memories=found)

    def _add(self, app: str, user: str, session_id: str, events: Sequence[Event]) -> None:
        client = self._tenants.user(app, user)
        own = session_name(session_id) if session_id else None
        name = own if own and look(client, own) else user_name("memory", session_id)
        known = _known(client, name)
        fresh = [said_by(event) for event in events if not event.partial and event.id not in known]
        for start in range(0, len(fresh), _BATCH):
            client.append_batch(name, fresh[start : start + _BATCH])
        task = client.commit(name)["task_id"] if fresh or known else None
        if task and self._wait:
            client.wait_for_task(task, timeout=self._wait)

    def _search(self, app: str, user: str, query: str) -> list[MemoryEntry]:
        client = self._tenants.user(app, user)
        hits = client.find(query, limit=_MOST_HITS)["memories"] if query.strip() else []
        memories = (hit for hit in hits if f"/memories/{OWN}" not in hit["uri"])
        return [_entry(hit) for hit in memories][: self._limit]


def _known(client: Client, name: str) -> set[str]:
    """The ids of the events that a session has."""
    try:
        return {event.id for event, _ in read(client.messages(name, page_size=_PAGE)) if event}
    except ApiError as error:
        if error.status == 404:
            return set()
        raise


def _entry(hit: Hit) -> MemoryEntry:
    sources = hit.get("sources") or [{}]
    return MemoryEntry(
        id=hit["uri"],
        content=types.Content(role="user", parts=[types.Part(text=hit["abstract"])]),
        author="memory",
        timestamp=sources[0].get("at"),
    )
