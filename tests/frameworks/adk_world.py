"""What the tests of ADK are made of: a user of an app, events, and a model that follows a script."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.sessions.base_session_service import GetSessionConfig
from google.adk.sessions.session import Session
from google.genai import types
from pydantic import Field

from strandline_sdk import Client

AT = 1_700_000_000.0
TYPED: dict[str, Any] = {
    "int": 3,
    "float": 3.0,
    "big": 2**70,
    "yes": True,
    "none": None,
    "text": "3",
    "deep": {"list": [1, {"x": [None, False]}], "": {}},
    "文字 🌊": "x",
}


def run(made: Any) -> Any:
    return asyncio.run(made)


def of(user: str = "ana", app: str = "shop") -> dict[str, str]:
    return {"app_name": app, "user_id": user}


def create(service: Any, session_id: str | None = "s", state: Any = None, **whose: str) -> Session:
    made: Session = run(service.create_session(**of(**whose), session_id=session_id, state=state))
    return made


def get(service: Any, session_id: str = "s", config: GetSessionConfig | None = None, **whose: str) -> Any:
    return run(service.get_session(**of(**whose), session_id=session_id, config=config))


def event(text: str, author: str = "user", at: float = AT, **fields: Any) -> Event:
    role = "user" if author == "user" else "model"
    content = types.Content(role=role, parts=[types.Part(text=text)])
    return Event(author=author, invocation_id="i", timestamp=at, **{"content": content, **fields})


def changing(**delta: Any) -> Event:
    return event("", "skipper", content=None, actions=EventActions(state_delta=delta))


def append(service: Any, session: Session, *events: Event) -> None:
    async def each() -> None:
        for one in events:
            await service.append_event(session, one)

    run(each())


def texts(events: list[Event]) -> list[str]:
    return [e.content.parts[0].text for e in events if e.content and e.content.parts]  # type: ignore[misc]


def stored(root: Client, session_id: str = "s", user: str = "ana", app: str = "shop") -> list[Any]:
    return list(root.acting_for(f"adk!{app}!{user}").messages(session_id))


class Script(BaseLlm):
    """Answers what it is told to, a text or a function call, and remembers what it was asked."""

    answers: list[Any] = Field(default_factory=list)
    asked: list[Any] = Field(default_factory=list)

    async def generate_content_async(
        self, llm_request: Any, stream: bool = False
    ) -> AsyncIterator[LlmResponse]:
        self.asked.append(
            [
                (c.role, [p.text or bool(p.function_call or p.function_response) for p in c.parts])
                for c in llm_request.contents
            ]
        )
        answer = self.answers.pop(0)
        part = types.Part(text=answer) if isinstance(answer, str) else types.Part(function_call=answer)
        yield LlmResponse(content=types.Content(role="model", parts=[part]))
