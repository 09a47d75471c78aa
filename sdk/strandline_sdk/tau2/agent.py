"""tau2's agent, with experiences: two tools beside the domain's, or those that fit put into its prompt.

With tools the model is told by the skill of this project (docs/skills/experience) to look at situations first and to
read what fits. What it calls of these is answered here: the simulation, its environment and its reward see nothing of
it. Where nothing has been learnt yet, it is tau2's own agent.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from tau2.agent.llm_agent import LLMAgent
from tau2.data_model.message import AssistantMessage, MultiToolMessage, ToolCall, ToolMessage, UserMessage
from tau2.environment.tool import Tool

from strandline_sdk.rollouts.policies import Experiences

Disclosure = Literal["tools", "inline"]
SKILL = Path(__file__).parents[3] / "docs" / "skills" / "experience" / "SKILL.md"
_MOST = 3
_MOST_FOUND = 10
_MOST_ROUNDS = 6
_FRAME = (
    "\n<experiences>\nNotes from earlier tasks of this kind. They are advice, no policy: where they disagree with the "
    "policy, the policy holds.\n\n{notes}\n</experiences>"
)
_NOT_DONE = "Not done: look at experience first, then decide, and call this again."


class InlineAgent(LLMAgent):  # type: ignore[misc]
    """The system prompt ends with the experiences that a search for the user's first message finds."""

    def __init__(self, experiences: Experiences, **model: Any) -> None:
        super().__init__(**model)
        self.asides: list[Any] = []
        self._experiences = experiences
        self._asked = False

    def generate_next_message(self, message: Any, state: Any) -> Any:
        """The next message, as tau2's own agent makes it."""
        if not self._asked and isinstance(message, UserMessage) and message.content:
            self._asked = True
            if notes := "\n\n".join(self._experiences.handed(message.content, _MOST)):
                state.system_messages[0].content += _FRAME.format(notes=notes)
        return super().generate_next_message(message, state)


class DisclosingAgent(LLMAgent):  # type: ignore[misc]
    """Has `search_experience` and `read_experience`; `asides` are its calls of them, with their results."""

    tools: list[Tool]

    def __init__(self, experiences: Experiences, **model: Any) -> None:
        super().__init__(**model)
        self.asides: list[Any] = []
        self._memory = {tool.name: tool for tool in memory_tools(experiences)}
        self._domain: list[Tool] = self.tools
        self.tools = [*self._domain, *self._memory.values()]

    @property
    def system_prompt(self) -> str:
        """tau2's, and the skill."""
        return f"{super().system_prompt}\n<skill>\n{skill()}\n</skill>"

    def generate_next_message(self, message: Any, state: Any) -> Any:
        """The next message that is none of memory. A model that does nothing but look is left without these tools."""
        for _ in range(_MOST_ROUNDS):
            said, state = super().generate_next_message(message, state)
            if not any(call.name in self._memory for call in said.tool_calls or ()):
                return said, state
            message = self._answered(said)
        self.tools = self._domain
        return super().generate_next_message(message, state)

    def _answered(self, said: AssistantMessage) -> MultiToolMessage:
        results = [self._result(call) for call in said.tool_calls]
        self.asides += [said, *results]
        return MultiToolMessage(role="tool", tool_messages=results)

    def _result(self, call: ToolCall) -> ToolMessage:
        """What a tool of memory says. A call of the domain's in the same breath is not made."""
        text, failed = _NOT_DONE, True
        if call.name in self._memory:
            text, failed = _called(self._memory[call.name], call.arguments)
        return ToolMessage(id=call.id, role="tool", content=text, requestor="assistant", error=failed)


def _called(tool: Callable[..., str], arguments: dict[str, Any]) -> tuple[str, bool]:
    try:
        return tool(**arguments), False
    except (TypeError, ValueError) as error:
        return f"Error: {error}", True


def memory_tools(experiences: Experiences) -> list[Tool]:
    """The two tools, over what the rollout was given."""

    def search_experience(query: str, limit: int = 5) -> str:
        """Find what was learnt from earlier tasks like this one: name, address and situation of each, no more.

        Args:
            query: The user's request, as they made it.
            limit: How many at most.
        """
        return json.dumps(experiences.search(query, min(int(limit), _MOST_FOUND)), ensure_ascii=False)

    def read_experience(uri: str) -> str:
        """Read what was learnt, once its situation fits the task at hand. It is advice; the policy holds.

        Args:
            uri: The address, as search_experience gave it.
        """
        return experiences.read(uri) or f"There is no experience at {uri}: search first."

    return [Tool(search_experience), Tool(read_experience)]


def skill() -> str:
    """How to use them: the skill's text, without its front matter and what it says of HTTP."""
    _, _, text = SKILL.read_text("utf-8").split("---\n", 2)
    return text.partition("\nOver HTTP")[0].strip()
