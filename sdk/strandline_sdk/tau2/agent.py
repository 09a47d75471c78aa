"""tau2's agent, with experiences that fit what its user asked for first."""

from typing import Any

from tau2.agent.llm_agent import LLMAgent
from tau2.data_model.message import UserMessage

from strandline_sdk.rollouts.policies import Experiences

_MOST = 3
_FRAME = (
    "\n<experiences>\nNotes from earlier tasks of this kind. They are advice, no policy: where they disagree with the "
    "policy, the policy holds.\n\n{notes}\n</experiences>"
)


class ExperiencedAgent(LLMAgent):  # type: ignore[misc]
    """The system prompt ends with the experiences that a search for the user's first message finds."""

    def __init__(self, experiences: Experiences, **model: Any) -> None:
        super().__init__(**model)
        self._experiences = experiences
        self._asked = False

    def generate_next_message(self, message: Any, state: Any) -> Any:
        """The next message, as tau2's own agent makes it."""
        if not self._asked and isinstance(message, UserMessage) and message.content:
            self._asked = True
            if notes := self._notes(message.content):
                state.system_messages[0].content += _FRAME.format(notes=notes)
        return super().generate_next_message(message, state)

    def _notes(self, request: str) -> str:
        found = self._experiences.search(request, _MOST)
        return "\n\n".join(filter(None, (self._experiences.read(one["uri"]) for one in found)))
