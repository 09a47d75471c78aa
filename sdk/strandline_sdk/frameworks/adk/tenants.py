"""The users of Strandline that stand for ADK's users and apps, and the state on their pages."""

from collections.abc import Mapping
from typing import Any

from strandline_sdk.client import Client
from strandline_sdk.errors import ApiError
from strandline_sdk.frameworks import page
from strandline_sdk.frameworks.names import legible, user_name

OWN = "adk/"  # the directory of what is no memory
STATE = f"{OWN}state.md"
State = dict[str, Any]


class Tenants:
    """A client for each of them. Raises PermissionError where the client's key may not act for others."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._allowed = False

    def user(self, app: str, user: str) -> Client:
        return self._acting(user_name("adk", app, user))

    def app(self, app: str) -> Client:
        return self._acting(user_name("adk", app))

    def register(self, app: str, user: str) -> None:
        """Puts a user on the app's list."""
        content = page.written(user, {}, {"user_id": user})
        self.app(app).put_memory(f"{OWN}users/{legible(user)}.md", content)

    def users(self, app: str) -> list[str]:
        """Everybody who has ever had a session."""
        pages = self.app(app).memories(f"{OWN}users/", full=True)
        return [str(page.read(memory.get("content", ""))[1]["user_id"]) for memory in pages]

    def _acting(self, name: str) -> Client:
        """Whoever has a user's key is that user, whoever is named: then all would be one."""
        client = self._client.acting_for(name)
        if not self._allowed and client.acting_user() != name:
            raise PermissionError("each user of ADK is a user here: use the key of an admin, or a root key")
        self._allowed = True
        return client


def read_state(client: Client) -> State:
    """The state on the page of a user, or of an app."""
    return _page(client)[0]


def change_state(client: Client, changes: Mapping[str, Any]) -> None:
    """Sets these keys, whoever sets others at the same time."""
    while changes:
        state, sha256 = _page(client)
        content = page.written("State", {}, {**state, **changes})
        try:
            client.put_memory(STATE, content, if_match=sha256, new=sha256 is None)
        except ApiError as error:
            if error.code != "FAILED_PRECONDITION":
                raise
        else:
            return


def _page(client: Client) -> tuple[State, str | None]:
    """The state, and the hash of the page; None where there is none."""
    try:
        memory = client.memory(STATE)
    except ApiError as error:
        if error.status == 404:
            return {}, None
        raise
    return page.read(memory.get("content", ""))[1], memory.get("sha256")
