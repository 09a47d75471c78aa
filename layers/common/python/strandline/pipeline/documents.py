"""What is searched: memory lines and messages as documents of the index.

A document is found with full weight by its own words, its date, its speaker and the words in which one asks for its
attribute; and with less weight (`ranking`) by the lines around it, since what was said just before often names what a
line is about. On LoCoMo the lines around raise the evidence recall@10 of memory lines from 71.5 to 74.6 %, and of
messages from 62.9 to 74.9 %.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from strandline.domain.graphemes import beginning
from strandline.domain.learning.standing import superseded_at, superseded_by
from strandline.domain.memory import Line, Memory, read_lines
from strandline.domain.memory_types.experiences import EXPERIENCES
from strandline.domain.memory_types.template import searched_by, told
from strandline.domain.message import said_at
from strandline.domain.ranking import Document, Scalar
from strandline.domain.times import day, parse
from strandline.domain.transcribing import text_of

SHOWN_CHARS = 8_000
ASKED_BY = {
    "home": "lives home city",
    "employer": "works job company",
    "occupation": "works job profession",
    "relationship": "relationship partner",
    "diet": "eats food diet",
}
"""The words in which one asks for an attribute: `I moved to Oslo` answers where somebody lives."""
BEFORE, AFTER = 2, 1
T = TypeVar("T")


def memory_documents(path: str, memory: Memory | None) -> Iterator[Document]:
    """One document for each line, with or without a source, one for the values of its fields, which names the sessions
    they come from (as percent-encoded words), and one for what a topic says of itself; none for a memory that is
    gone."""
    if memory is None:
        return
    shared: dict[str, Scalar] = {
        "context_type": "memory",
        "type": memory.type,
        "peer": memory.peer,
        "title": memory.title,
        "expires_at": memory.expires_at,
        **_ended(memory),
    }
    lines, others = read_lines(memory.body)
    yield from _sourced(path, memory, lines, shared)
    yield from _unsourced(path, memory, others, {**shared, "at": memory.updated_at})


def _sourced(
    path: str, memory: Memory, lines: Sequence[Line], shared: Mapping[str, Scalar]
) -> Iterator[Document]:
    about = searched_by(memory.type, memory.title, memory.values)
    for n, line in enumerate(lines):
        here = line.source.session_id  # a line of another session does not tell what this one is about
        around = [other.text for other in _around(lines, n) if other.source.session_id == here]
        asked = ASKED_BY.get(line.attribute.name, "") if line.attribute else ""
        found_by = f"{day(parse(line.source.at))} {asked}".rstrip()
        beside = "\n".join([*around, about] if about else around)
        yield Document(f"{path}#{n:06d}", path, line.text, {**shared, **_cited(line)}, found_by, beside)


def _unsourced(
    path: str, memory: Memory, texts: Iterable[str], shared: Mapping[str, Scalar]
) -> Iterator[Document]:
    if values := told(memory.type, memory.values):
        said_in = " ".join(sorted({value.session for value in memory.values if value.goes_back}))
        yield Document(f"{path}#values", path, values, {**shared, "said_in": said_in}, memory.title)
    if topic := memory.topic:
        yield Document(f"{path}#about", path, topic.summary, shared, memory.title, topic.description)
    for n, text in enumerate(text for text in texts if text.strip() and not text.startswith("# ")):
        shown = beginning(text, SHOWN_CHARS)
        yield Document(f"{path}#own{n:06d}", path, shown, shared, memory.title, text[len(shown) :])


def _ended(memory: Memory) -> dict[str, Scalar]:
    """An experience that another has taken the place of holds no more: it is found by who asks for that."""
    by = superseded_by(memory) if memory.type == EXPERIENCES.name else []
    return {"valid_until": superseded_at(memory), "superseded_by": by[0]} if by else {}


def _cited(line: Line) -> dict[str, Scalar]:
    source = line.source
    return {
        "session_id": source.session_id,
        "archive": source.archive,
        "seq_from": source.seq_from,
        "seq_to": source.seq_to,
        "at": source.at,
        **({"valid_until": line.closing.at, "superseded_by": line.closing.by} if line.closing else {}),
    }


def _around(items: Sequence[T], n: int) -> Sequence[T]:
    """The two before the n-th and the one after it."""
    return (*items[max(n - BEFORE, 0) : n], *items[n + 1 : n + 1 + AFTER])


def message_group(incarnation: str, archive: int) -> str:
    """The name of an archive's group in the message index."""
    return f"{incarnation}/{archive:012d}"


def message_documents(group: str, session_id: str, messages: Iterable[dict[str, Any]]) -> Iterator[Document]:
    """One document a message that says something. The beginning of a long one is shown, all of it is searched."""
    spoken = [(message, text) for message in messages if (text := text_of(message)).strip()]
    shown = [beginning(text, SHOWN_CHARS) for _, text in spoken]
    for n, (message, text) in enumerate(spoken):
        attributes = {
            "context_type": "message",
            "session_id": session_id,
            "message_id": message["id"],
            **{name: message.get(name) for name in ("role", "peer_id", "created_at", "seq")},
        }
        speaker = message.get("peer_id") or message["role"]
        found_by = f"{speaker} {day(said_at(message))}\n{text[len(shown[n]) :]}"
        yield Document(
            f"{group}#{message['seq']:012d}",
            group,
            shown[n],
            attributes,
            found_by,
            "\n".join(_around(shown, n)),
        )
