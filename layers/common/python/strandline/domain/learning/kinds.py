"""The kinds of task that a user's experiences are about: a model that finds a task is shown them, so that like tasks
share an experience."""

import re
from collections.abc import Iterable, Iterator

from strandline.domain.injection import injected
from strandline.domain.names import slug

MAX_SHOWN = 50
_WORD = re.compile(r"\w+")


def kinds(paths: Iterable[str], said: Iterable[str]) -> tuple[str, ...]:
    """The kinds that the files below `experiences/` are named by, at most fifty: first those that have most words in
    common with what was said."""
    words = {word for text in said for word in _WORD.findall(text.casefold())}
    named = sorted(_named(paths), key=lambda kind: (-len(words & set(kind.casefold().split())), kind))
    return tuple(named[:MAX_SHOWN])


def _named(paths: Iterable[str]) -> Iterator[str]:
    """Those whose name says their file again; one that was cut does not."""
    for path in paths:
        stem = path.removeprefix("experiences/").removesuffix(".md")
        kind = stem.replace("-", " ")
        if slug(kind) == stem and not injected(kind):
            yield kind[:1].upper() + kind[1:]
