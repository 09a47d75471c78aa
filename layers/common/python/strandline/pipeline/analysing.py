"""What a language model says of a run, where one is configured: it is shown the run, what its experience says so
far, and some that ask the same.
"""

from collections.abc import Iterable

from strandline.domain.learning.experience import told
from strandline.domain.learning.lesson import Lesson
from strandline.domain.memory import Memory
from strandline.pipeline.catalogue import read_file
from strandline.pipeline.library import Library
from strandline.pipeline.related import together
from strandline.storage.layout import User

KNOWN_CHARS = 6_000
OTHERS = 3
"""Other experiences that a model is shown with a run."""

OTHER_CHARS = 2_000


def analysed(services: Library, owner: User, found: Lesson, there: Memory | None) -> Lesson:
    """The lesson with what a language model says of the run, where one is configured. Raises ExtractionFailed."""
    if services.analyst is None:
        return found
    shown = together(services, owner, there) if there else None
    others = {**(shown.beside if shown else {}), **_read(services, owner, found.related)}
    texts = {path: told(others[path])[:OTHER_CHARS] for path in sorted(others)[:OTHERS]}
    known = told(shown.memory)[:KNOWN_CHARS] if shown else ""
    titles = {path: others[path].title for path in texts}
    return found.seen_by(services.analyst.analyse(found.attempt(known, texts)), titles)


def _read(services: Library, owner: User, paths: Iterable[str]) -> dict[str, Memory]:
    found = ((path, read_file(services, owner, path)) for path in paths)
    return {path: memory for path, memory in found if memory is not None}
