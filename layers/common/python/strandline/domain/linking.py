"""Links that an extraction finds: a memory that names somebody or something which has a memory of its own.

Both sides are in the same candidates, so both are written by the same merge, and repeating it completes them.
"""

import re
from collections.abc import Iterator, Sequence

from strandline.domain.candidates import CandidateFile, CandidateLink
from strandline.domain.link import MENTIONS

MAX_LINKS = 50
"""Links that one extraction adds to one memory."""

MIN_NAME_CHARS = 3


def linked(files: Sequence[CandidateFile]) -> tuple[CandidateFile, ...]:
    """The files, with a link to each entity that a line of theirs names, and the same link on the other side."""
    links: dict[str, list[CandidateLink]] = {file.path: [] for file in files}
    for path, target in _mentions(files):
        if len(links[path]) < MAX_LINKS and len(links[target]) < MAX_LINKS:
            links[path].append(CandidateLink(back=False, type=MENTIONS, path=target))
            links[target].append(CandidateLink(back=True, type=MENTIONS, path=path))
    return tuple(
        file.model_copy(update={"links": tuple(links[file.path])}) if links[file.path] else file
        for file in files
    )


def _mentions(files: Sequence[CandidateFile]) -> Iterator[tuple[str, str]]:
    """(path of a file, path of an entity it names), within what is remembered of one person."""
    for peer in dict.fromkeys(file.peer for file in files):
        theirs = [file for file in files if file.peer == peer]
        named = {file.title: file.path for file in theirs if _is_named(file)}
        if not named:
            continue
        names = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(named, reverse=True)))})(?!\w)")
        for file in theirs:
            said = "\n".join(line.text for line in file.lines)
            found = dict.fromkeys(named[name] for name in names.findall(said))
            yield from ((file.path, target) for target in found if target != file.path)


def _is_named(file: CandidateFile) -> bool:
    return file.type == "entities" and len(file.title) >= MIN_NAME_CHARS
