"""Sessions of ADK."""

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from itertools import islice
from typing import Any
from uuid import uuid4

from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events.event import Event
from google.adk.sessions.base_session_service import (
    BaseSessionService,
    GetSessionConfig,
    ListSessionsResponse,
)
from google.adk.sessions.session import Session
from pydantic_core import to_jsonable_python

from strandline_sdk.client import Client
from strandline_sdk.errors import ApiError
from strandline_sdk.frameworks.adk.events import (
    APP,
    KEY,
    USER,
    begun_with,
    changes_of,
    own,
    read,
    said_by,
    scope,
)
from strandline_sdk.frameworks.adk.tenants import State, Tenants, change_state, read_state
from strandline_sdk.frameworks.names import session_name
from strandline_sdk.frameworks.raw import as_text
from strandline_sdk.model import Session as Meta
from strandline_sdk.model import SessionSettings

IN_METADATA = 12_000  # bytes of a state that goes with the session; a larger one is its first message
_PAGE = 1000
_AT_ONCE = 8


class StrandlineSessionService(BaseSessionService):
    """`settings` are those of the sessions it creates, such as an `auto_commit_policy`. Raises PermissionError where
    the client's key may not act for others."""

    def __init__(self, client: Client, settings: SessionSettings | None = None) -> None:
        self._tenants = Tenants(client)
        self._settings = settings or SessionSettings()

    async def create_session(
        self,
        *,
        app_name: str,
        user_id: str,
        state: dict[str, Any] | None = None,
        session_id: str | None = None,
    ) -> Session:
        """A new session; blanks around its id are not part of it. Raises AlreadyExistsError."""
        name = (session_id or "").strip() or str(uuid4())
        begins: State = to_jsonable_python(state or {})
        await asyncio.to_thread(self._create, app_name, user_id, name, begins)
        found = await self.get_session(app_name=app_name, user_id=user_id, session_id=name)
        if found is None:
            raise SessionNotFoundError(f"Session {name} was deleted while it was created.")
        return found

    async def get_session(
        self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None
    ) -> Session | None:
        """The session with its events, or those that are asked for; its state is that of all of them."""
        return await asyncio.to_thread(self._get, app_name, user_id, session_id.strip(), config)

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        """The sessions of a user, or of all users of the app, without events and state; last used last."""
        found = await asyncio.to_thread(self._list, app_name, user_id)
        return ListSessionsResponse(sessions=found)

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Deletes the session and its events. The state of its user and app stay, as do memories."""
        await asyncio.to_thread(self._delete, app_name, user_id, session_id.strip())

    async def get_user_state(self, *, app_name: str, user_id: str) -> State:
        """The user's state, without the prefix of its keys."""
        return await asyncio.to_thread(lambda: read_state(self._tenants.user(app_name, user_id)))

    async def append_event(self, session: Session, event: Event) -> Event:
        """Stores the event behind whatever is there, then adds it to this copy of the session. The same event that
        comes again is stored once. Raises SessionNotFoundError."""
        if event.partial:
            return event
        again = await asyncio.to_thread(self._append, session, event)
        if again and any(known.id == event.id for known in session.events):
            return event
        session.last_update_time = event.timestamp
        return await super().append_event(session, event)

    # ---- in a thread

    def _create(self, app: str, user: str, name: str, state: State) -> None:
        client = self._tenants.user(app, user)
        self._tenants.register(app, user)
        mine = own(state)
        small = len(as_text(mine).encode()) <= IN_METADATA
        about = {"app_name": app, "user_id": user, "id": name, "state": mine if small else {}}
        settings: SessionSettings = {**self._settings, "metadata": {KEY: about}}
        try:
            client.create_session(session_name(name), **settings)
        except ApiError as error:
            if error.code != "ALREADY_EXISTS":
                raise
            raise AlreadyExistsError(f"Session with id {name} already exists.") from error
        if not small:
            client.append(session_name(name), begun_with(mine))
        self._keep(app, client, state)

    def _get(self, app: str, user: str, name: str, config: GetSessionConfig | None) -> Session | None:
        client = self._tenants.user(app, user)
        meta = look(client, session_name(name))
        if meta is None:
            return None
        session = _session(meta)
        session.state = dict(_about(meta)["state"])
        log = client.messages(session_name(name), page_size=_PAGE)
        for event, changes in read(islice(log, meta["total_message_count"])):
            session.state |= changes
            session.events += [event] if event else []
        if session.events:
            session.last_update_time = session.events[-1].timestamp
        session.events = _asked_for(session.events, config or GetSessionConfig())
        for prefix, theirs in ((APP, self._tenants.app(app)), (USER, client)):
            session.state |= {f"{prefix}{key}": value for key, value in read_state(theirs).items()}
        return session

    def _list(self, app: str, user: str | None) -> list[Session]:
        users = self._tenants.users(app) if user is None else [user]
        found = [session for each in users for session in self._of(app, each)]
        return sorted(found, key=lambda session: (session.last_update_time, session.user_id, session.id))

    def _of(self, app: str, user: str) -> list[Session]:
        client = self._tenants.user(app, user)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            names = (row["session_id"] for row in client.sessions())
            metas = list(pool.map(lambda name: look(client, name), names))
        return [_session(meta) for meta in metas if meta is not None]

    def _delete(self, app: str, user: str, name: str) -> None:
        try:
            self._tenants.user(app, user).delete_session(session_name(name))
        except ApiError as error:
            if error.status != 404:
                raise

    def _append(self, session: Session, event: Event) -> bool:
        """Whether it was there before. The states beside the session's are changed first: whoever is told of a failure
        does it again, and that comes to the same."""
        client = self._tenants.user(session.app_name, session.user_id)
        said = said_by(event)
        name = session_name(session.id)
        last_seq = _last_seq(client, session.id)
        self._keep(session.app_name, client, changes_of(said))
        while True:
            try:
                done = client.append(name, said, expected_last_seq=last_seq)
            except ApiError as error:
                if not error.overtaken:
                    raise
                last_seq = _last_seq(client, session.id)  # another was faster, or the session is gone
            else:
                if last_seq == 0:
                    self._take_back_of_a_deleted(client, session.id)
                return done["duplicate"]

    def _take_back_of_a_deleted(self, client: Client, session_id: str) -> None:
        """A first event begins a session, if the one that it was meant for has just been deleted."""
        if look(client, session_name(session_id)) is None:
            client.delete_session(session_name(session_id))
            raise SessionNotFoundError(f"Session {session_id} not found.")

    def _keep(self, app: str, client: Client, changes: State) -> None:
        change_state(client, scope(USER, changes))
        if of_app := scope(APP, changes):
            change_state(self._tenants.app(app), of_app)


def look(client: Client, name: str) -> Meta | None:
    """What there is to know of a session of ADK; None where there is none of that name."""
    try:
        meta = client.session(name)
    except ApiError as error:
        if error.status == 404:
            return None
        raise
    return meta if _about(meta) else None


def _about(meta: Meta) -> Mapping[str, Any]:
    found: Mapping[str, Any] = meta.get("metadata", {}).get(KEY, {})
    return found


def _session(meta: Meta) -> Session:
    about = _about(meta)
    used = meta.get("last_message_at") or meta["created_at"]
    return Session(
        id=about["id"],
        app_name=about["app_name"],
        user_id=about["user_id"],
        last_update_time=datetime.fromisoformat(used).timestamp(),
    )


def _last_seq(client: Client, session_id: str) -> int:
    meta = look(client, session_name(session_id))
    if meta is None:
        raise SessionNotFoundError(f"Session {session_id} not found.")
    return meta["total_message_count"]


def _asked_for(events: list[Event], config: GetSessionConfig) -> list[Event]:
    if config.after_timestamp is not None:
        events = [event for event in events if event.timestamp >= config.after_timestamp]
    count = config.num_recent_events
    return events if count is None else events[max(len(events) - count, 0) :]
