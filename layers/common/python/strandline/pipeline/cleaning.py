"""Objects of a user without their secrets, whatever they are: what a scrub would make of one, and made of it.

What may change at any time (session heads, memories, the journal) is changed by compare-and-set like by anybody else;
what is written once is rewritten under its key, over exactly what was read (`storage/rewriting.py`).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial

from strandline.domain.candidates import Candidates
from strandline.domain.clean_candidates import Texts, clean_candidates
from strandline.domain.cleaning import Cleaner, Outputs, references
from strandline.domain.compaction.state import ContextState
from strandline.domain.contracts import SessionRef
from strandline.domain.errors import Corrupt
from strandline.domain.memory import Memory
from strandline.domain.message import read_line
from strandline.domain.session import Head
from strandline.domain.transcribing import text_of
from strandline.pipeline.library import Library
from strandline.storage import markdown
from strandline.storage.codec import HeadCodec
from strandline.storage.document import Change
from strandline.storage.layout import Life
from strandline.storage.log import ref
from strandline.storage.once import fetch
from strandline.storage.parsing import Form, archive_range, candidates_of, form_of, life_of, owner_of
from strandline.storage.rewriting import rewrite
from strandline.storage.tool_results import decode_output, encode_output

UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, Corrupt)


def cleaned(services: Library, key: str, body: bytes, cleaner: Cleaner) -> bytes:
    """The object without secrets; the same bytes when it has none. Raises one of `UNREADABLE` for what is not of the
    form that its key says, Unavailable."""
    work = _FORMS.get(form_of(key))
    return work(services, key, body, cleaner) if work else body


def clean(services: Library, key: str) -> None:
    """Takes the secrets out of an object that is no memory. Raises Unavailable, Aborted, and like `cleaned`."""
    match form_of(key):
        case "head":
            found = services.heads.read(key)
            if found is not None:
                outputs = _outputs(services, ref(found.value), found.value.tail)
                services.heads.update(
                    key, partial(_clean_head, cleaner=cleaner_of(services), outputs=outputs)
                )
        case "context":
            services.contexts.update(key, partial(_clean_context, cleaner=cleaner_of(services)))
        case "shadow":
            services.memories.update(key, partial(_clean_shadow, cleaner=cleaner_of(services)))
        case "journal":
            services.journals.rewrite(owner_of(key), cleaner_of(services).record)
        case _:
            rewrite(services.objects, key, lambda body: cleaned(services, key, body, cleaner_of(services)))


def cleaner_of(services: Library) -> Cleaner:
    """By the rules of the deployment."""
    return Cleaner(services.rules.allowed)


def clean_memory(current: Memory | None, *, cleaner: Cleaner) -> Memory | None:
    """What becomes of a memory in whose file secrets were found. Those that are in a part of the file which is not
    read, as somebody has put it there by hand, go with the next write, so it is written in any case."""
    return None if current is None else replace(cleaner.memory(current))


def _clean_head(head: Head | None, *, cleaner: Cleaner, outputs: Outputs) -> Change[Head, None]:
    clean = cleaner.head(head, outputs) if head else None
    return Change(None if clean is head else clean, None)


def _clean_context(state: ContextState | None, *, cleaner: Cleaner) -> Change[ContextState, None]:
    if state is None:
        return Change(None, None)
    error = state.last_error and cleaner.text(state.last_error)
    named = {path: seqs for path, seqs in state.handed_out.items() if cleaner.text(path) == path}
    clean = replace(state, last_error=error, handed_out=named)
    return Change(None if clean == state else clean, None)


def _clean_shadow(memory: Memory | None, *, cleaner: Cleaner) -> Change[Memory, None]:
    clean = cleaner.memory(memory) if memory else None
    return Change(None if clean is memory else clean, None)


# ---- the forms


def _head(services: Library, _key: str, body: bytes, cleaner: Cleaner) -> bytes:
    head, stamp = HeadCodec().decode(body)
    clean = cleaner.head(head, _outputs(services, ref(head), head.tail))
    return body if clean is head else HeadCodec().encode(clean, stamp)


def _messages(services: Library, key: str, body: bytes, cleaner: Cleaner) -> bytes:
    whose = life_of(key)
    return cleaner.messages(body, _outputs(services, whose, body.split(b"\n")) if whose else {})


def _outputs(services: Library, whose: SessionRef, lines: Iterable[bytes]) -> Outputs:
    """The clean tool outputs that these lines refer to."""
    found = {name: services.tool_results.read(whose, name) for name in references(lines)}
    return {name: cleaner_of(services).output(output) for name, output in found.items() if output}


def _output(_services: Library, _key: str, body: bytes, cleaner: Cleaner) -> bytes:
    output = decode_output(body)
    clean = cleaner.output(output)
    return body if clean is output else encode_output(clean)


def _candidates(services: Library, key: str, body: bytes, cleaner: Cleaner) -> bytes:
    candidates = Candidates.model_validate_json(body)
    clean = clean_candidates(candidates, cleaner, *_said(services, key))
    return body if clean is candidates else clean.model_dump_json(indent=1).encode()


def _said(services: Library, key: str) -> tuple[Texts, Texts]:
    """What the messages of the archive say, and what they say without secrets: texts by seq."""
    place = candidates_of(key)
    before: dict[int, str] = {}
    after: dict[int, str] = {}
    for name in services.objects.keys(Life(place[0]).archive(place[1])) if place else ():
        body = fetch(services.objects, name) if archive_range(name) else None
        if body is not None:
            before |= _texts(body)
            after |= _texts(_messages(services, name, body, cleaner_of(services)))
    return before, after


def _texts(body: bytes) -> Mapping[int, str]:
    messages = [read_line(line) for line in body.split(b"\n") if line]
    return {message["seq"]: text_of(message) for message in messages}


def _memory(_services: Library, _key: str, body: bytes, cleaner: Cleaner) -> bytes:
    text = body.decode("utf-8", "replace")
    memory = markdown.parse(text)
    clean = cleaner.memory(memory)
    written = markdown.render(clean)
    if clean is memory and (
        text == written or cleaner.text(text) == text
    ):  # by hand: what is not read may hold one
        return body
    return written.encode()


Work = Callable[[Library, str, bytes, Cleaner], bytes]


def _as_text(work: Callable[[Cleaner, str], str]) -> Work:
    def apply(_services: Library, _key: str, body: bytes, cleaner: Cleaner) -> bytes:
        return work(cleaner, body.decode()).encode()

    return apply


_FORMS: Mapping[Form, Work] = {
    "head": _head,
    "messages": _messages,
    "output": _output,
    "candidates": _candidates,
    "memory": _memory,
    "shadow": _memory,
    "context": _as_text(Cleaner.json),
    "journal": _as_text(Cleaner.json),
    "lines": _as_text(Cleaner.json_lines),
    "json": _as_text(Cleaner.json),
    "answer": _as_text(Cleaner.answer),
    "text": _as_text(Cleaner.text),
    "summary": _as_text(Cleaner.derived),
}
