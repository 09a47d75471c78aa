"""How a run came out that nobody has judged: what a language model is asked of it besides, and how that is read."""

from collections.abc import Mapping
from typing import Any

from strandline.domain.errors import ExtractionFailed
from strandline.domain.language_model.answer import Answer, parsed
from strandline.domain.language_model.schema import Schema, text
from strandline.domain.learning.evidence import WITNESS_CHARS
from strandline.domain.learning.verdict import Verdict
from strandline.domain.memory_types.outcomes import OUTCOMES

INSTRUCTIONS = """
Nobody has judged this run, so you do, by what the user and the tools say after the request; never by what the \
assistant says of its own work.
- `outcome`: "success" where they show that what was asked for was done, "failure" where they show that it was not, \
"partial" where a part of it was; "unfinished" where the run breaks off; "unknown" where nothing shows it, which is \
often so.
- `quote`: the words that show it, copied character by character from one line after the request that begins with \
"user:" or "result:"; empty for "unfinished" and "unknown".
- `approach` and `reflect` follow your own judgement.
"""

PROPERTIES: Mapping[str, Schema] = {
    "outcome": {"type": "string", "enum": list(OUTCOMES), "description": "how the run came out"},
    "quote": text("words of the user's or of a tool's result, copied exactly, that show it; or empty"),
}


def read_verdict(answer: Answer | None) -> Verdict:
    """The verdict of an answer. Of long words only the beginning counts: they are looked for in all that was said.
    Raises ExtractionFailed, quoting nothing, when there is none."""
    given: Mapping[str, Any] = parsed(answer)
    outcome, quote = given.get("outcome"), given.get("quote")
    if outcome not in OUTCOMES or not isinstance(quote, str):
        raise ExtractionFailed("the model's answer does not say how the run came out")
    words = quote[:WITNESS_CHARS].rpartition(" ")[0] if len(quote) > WITNESS_CHARS else ""
    return Verdict(outcome=outcome, quote=words or quote[:WITNESS_CHARS])
