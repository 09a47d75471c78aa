"""An environment without chance: vaults that open by words, and an agent that has only what experiences tell it.

A vault of kind k needs 1 to 3 words in order; a case is a vault and a customer, and the words depend on the kind alone.
What the vault says of a wrong try is the next word. So what one epoch can teach of a vault of n words is one word more:
held-out cases (other customers) of one-word vaults open after the first epoch, of two words after the second, and so
on.

With the option `poison` the vault lies about training cases: it calls the right words wrong, and names others.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from strandline_sdk.rollouts import Attempt, Outcome
from strandline_sdk.rollouts.model import Case, CasesQuery, CriterionResult

_TOLD = re.compile(r"word (\d): say (\w+)")
WORDS = {
    "amber": ["aspen"],
    "basalt": ["birch"],
    "cobalt": ["cedar", "chestnut"],
    "dolomite": ["damson", "dogwood"],
    "emerald": ["elder", "elm", "ebony"],
    "flint": ["fir", "fig", "fern"],
}
CUSTOMERS = {"train": ["Ann", "Ben"], "test": ["Cleo", "Dan"]}


def cases(wanted: CasesQuery) -> Sequence[Case]:
    """Every vault for every customer of the split."""
    if wanted["dataset"] != "vaults":
        raise LookupError(f"no data set {wanted['dataset']}")
    return [_case(kind, who, wanted["split"]) for who in CUSTOMERS[wanted["split"]] for kind in WORDS]


def _case(kind: str, who: str, split: str) -> Case:
    return {
        "name": f"{kind}-{who}",
        "task_signature": f"open the {kind} vault",
        "input": f"Please open the {kind} vault for {who}.",
        "rubric": {"criteria": [{"name": f"word {n}"} for n in range(1, len(WORDS[kind]) + 1)]},
        "metadata": {"kind": kind, "split": split},
    }


def attempt(trial: Attempt) -> Outcome:
    """Searches for what it knows of the kind of task, says the words that it finds there, and no others."""
    case = trial.case
    kind = case["metadata"]["kind"]
    said = list(_known(trial))
    results = list(_results(WORDS[kind], said, bool(_lies(trial))))
    score = sum(result["passed"] for result in results) / len(results)
    return Outcome(
        [
            {"role": "user", "content": str(case["input"])},
            {"role": "assistant", "parts": [_call(n, word) for n, word in enumerate(said)]} if said else
            {"role": "assistant", "content": "I do not know the words."},
            {"role": "assistant", "content": "That is all I know."},
        ],
        {"passed": score == 1, "score": round(score, 4), "criterion_results": results},
        {"prompt_tokens": 100, "completion_tokens": 10, "cost_usd": 0.001},
    )  # fmt: skip


def _known(trial: Attempt) -> Iterator[str]:
    for found in trial.experiences.search(trial.case["task_signature"], limit=1):
        told = dict(_TOLD.findall(trial.experiences.read(found["uri"]) or ""))
        yield from (told[str(n)] for n in range(1, 9) if str(n) in told)


def _results(words: Sequence[str], said: Sequence[str], lies: bool) -> Iterator[CriterionResult]:
    """Word by word; of the first wrong one the vault says what it is."""
    told = False
    for n, word in enumerate(words, start=1):
        right = not lies and list(said[:n]) == list(words[:n])
        result: CriterionResult = {"name": f"word {n}", "passed": right}
        if not right and not told:
            told = True
            result["feedback"] = f"say {'hemlock' if lies else word}"
        yield result


def _lies(trial: Attempt) -> bool:
    return bool(trial.options.get("poison")) and trial.case["metadata"]["split"] == "train"


def _call(n: int, word: str) -> Any:
    return {
        "type": "tool",
        "tool_id": f"w{n}",
        "tool_name": "say",
        "tool_input": {"word": word},
        "tool_status": "completed",
    }
