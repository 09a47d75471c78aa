"""What each step of the search gives on LoCoMo, and how much of the answers a block of memories holds: in this process.

The weights of the search were chosen on the first three conversations; the others are shown apart.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace

from strandline.adapters.tokens import TiktokenCounter
from strandline.domain.ranking import (
    Conditions,
    Document,
    Hit,
    Index,
    analysis,
    reranked,
    scores_of_turns,
    search_all,
    spread,
)
from strandline.domain.ranking.rerank import cites
from strandline.pipeline.block import Wanted, memory_block
from strandline.pipeline.documents import memory_documents
from strandline.pipeline.search import POOL
from strandline.storage.layout import User
from strandline.storage.parsing import memory_path
from tests.perf.bm25 import Bm25, stems
from tests.perf.locomo import LIMIT, Locomo, Question, Ranked, recall
from tests.perf.meaning import Remembering, store

CHOSEN_ON = 3
BLOCK_TOKENS = 1_000
UNSTEMMED = "words of the line as they are"


@dataclass(frozen=True)
class Stored:
    """One conversation as it is searched: its memory lines, and its messages."""

    lines: Sequence[Document]
    messages: Index
    made: dict[str, Index] = field(default_factory=dict)

    def index(self, name: str, **left_out: str) -> Index:
        """The lines without the fields that are left out, made once."""
        if name not in self.made:
            groups: dict[str, list[Document]] = defaultdict(list)
            for document in self.lines:
                groups[document.group].append(replace(document, **left_out))
            self.made[name] = Index().replace_groups(groups)
        return self.made[name]


Step = Callable[[Stored, str], Sequence[Hit]]
Scores = Sequence[float]


def measure(*, quick: bool) -> tuple[list[tuple[str, Scores, Scores]], dict[str, dict[str, float]]]:
    """Recall at 1, 5, 10 and 20 by step, on the conversations of the choice and on the others; then percent of the
    answers' words by what a model is shown, by category."""
    data = Locomo(quick=quick)
    world = Remembering(None)
    world.tokens = TiktokenCounter("cl100k_base")
    store(world, data)
    kept = {sample: _stored(world, sample) for sample in data.samples}
    chosen, others = data.samples[:CHOSEN_ON], data.samples[CHOSEN_ON:]
    steps = []
    for name, step in STEPS.items():
        with _no_stems() if name == UNSTEMMED else nullcontext():
            steps.append((name, *(_recall(data, kept, step, each) for each in (chosen, others))))
    return steps, _answers(world, data)


def _stored(world: Remembering, sample: str) -> Stored:
    owner, services = User("bench", sample), world.services()
    lines: list[Document] = []
    for key in world.stored(owner.memories):
        parsed, found = memory_path(key), services.memories.read(key)
        if parsed and found:
            lines += memory_documents(parsed[1], found.value)
    index = services.indexes.read(owner.index("messages"))
    return Stored(lines, index.value.index if index else Index())


def _recall(data: Locomo, kept: Mapping[str, Stored], step: Step, samples: Collection[str]) -> Scores:
    part = Locomo(quick=False)
    part.__dict__["questions"] = [each for each in data.questions if each.sample in samples]
    part.__dict__["conversations"] = [each for each in data.conversations if each["sample_id"] in samples]

    def search(question: Question) -> Ranked:
        hits = step(kept[question.sample], question.text)[:LIMIT]
        return [[t for s, seq in cites(hit.document) for t in data.cited(s, seq, seq)] for hit in hits]

    return recall(part, search)["all"] if samples else ()


# ---- the steps, each with those before it --------------------------------------------------------------------------


def _words(index: Index, query: str) -> list[Hit]:
    return search_all([index], query, Conditions(POOL))


@contextmanager
def _no_stems() -> Iterator[None]:
    """Around all threads that search, not in one of them."""
    kept, analysis._term = analysis._term, lambda word: word  # type: ignore[assignment]
    try:
        yield
    finally:
        analysis._term = kept


def _again(stored: Stored, query: str, *, messages: bool) -> list[Hit]:
    found = search_all([stored.messages], query, Conditions(POOL)) if messages else []
    turns = scores_of_turns(found) if messages else None
    return reranked(_words(stored.index("whole"), query), query, turns)


STEPS: Mapping[str, Step] = {
    UNSTEMMED: lambda stored, query: _words(stored.index("unstemmed", title="", extra=""), query),
    "stemmed": lambda stored, query: _words(stored.index("bare", title="", extra=""), query),
    "and its date": lambda stored, query: _words(stored.index("dated", extra=""), query),
    "and the lines around it": lambda stored, query: _words(stored.index("whole"), query),
    "and whose it is": lambda stored, query: _again(stored, query, messages=False),
    "and the messages it cites": lambda stored, query: _again(stored, query, messages=True),
    "one line of a message first: the search": lambda stored, query: spread(
        _again(stored, query, messages=True)
    ),
}


# ---- blocks of memories ----------------------------------------------------------------------------------------------


def _answers(world: Remembering, data: Locomo) -> dict[str, dict[str, float]]:
    """Percent of the words of the answers, stemmed and without stop words, in what is shown for each question."""
    ranked = {sample: Bm25(data.texts(sample), stems) for sample in data.samples}
    whole = {sample: "\n".join(data.texts(sample).values()) for sample in data.samples}
    services = world.services()

    def turns(question: Question) -> str:
        texts, shown, spent = data.texts(question.sample), [], 0
        for turn in ranked[question.sample].rank(question.text, 100):
            spent += world.tokens.count(f"{texts[turn]}\n")
            if spent > BLOCK_TOKENS:
                break
            shown.append(texts[turn])
        return "\n".join(shown)

    def memories(question: Question) -> str:
        return memory_block(
            services, User("bench", question.sample), Wanted(question.text, BLOCK_TOKENS)
        ).text

    shown = {
        f"turns by plain BM25, {BLOCK_TOKENS:,} tokens": turns,
        f"the block of memories, {BLOCK_TOKENS:,} tokens": memories,
        "the whole conversation": lambda question: whole[question.sample],
    }
    return {name: _held(data, text) for name, text in shown.items()}


def _held(data: Locomo, shown: Callable[[Question], str]) -> dict[str, float]:
    answers = {
        (each["sample_id"], number): str(row.get("answer", ""))
        for each in data.conversations
        for number, row in enumerate(each["qa"])
    }
    shares: dict[str, list[float]] = defaultdict(list)
    for question in data.questions:
        wanted = set(analysis.terms_of(answers[question.sample, question.number]).content)
        if wanted:
            held = wanted & set(analysis.terms_of(shown(question)).content)
            for category in ("all", str(question.category)):
                shares[category].append(len(held) / len(wanted))
    return {category: 100 * sum(each) / len(each) for category, each in sorted(shares.items(), key=str)}
