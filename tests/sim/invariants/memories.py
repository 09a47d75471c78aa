"""Memory files, the diffs of archives, and the indexes that are made from both."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from strandline.domain.memory import Memory, read_lines
from strandline.domain.memory_types.template import told
from strandline.storage.layout import User
from strandline.storage.parsing import memory_path
from tests.sim.history import Edited, Forgot, History, Noted, RolledBack
from tests.sim.invariants.raw import File, Raw, Session

_VERSION = re.compile(rb"^version: (\d+)$", re.MULTILINE)


def extraction_of(incarnation: str, archive: int) -> str:
    """The id by which a memory file knows an archive's extraction."""
    return hashlib.sha256(f"{incarnation}/{archive}".encode()).hexdigest()[:12]


def taken_back(history: History) -> set[User]:
    """Whose memories may say no more what was merged into them: somebody has gone back."""
    return {back.owner for back in history.of(RolledBack)}


def _edited(history: History) -> set[tuple[User, str]]:
    return {(edit.owner, edit.path) for edit in history.of(Edited)}


def changed(history: History) -> set[tuple[User, str]]:
    """Files of which an owner may have taken away what was merged."""
    return _edited(history) | {(forgot.owner, forgot.path) for forgot in history.of(Forgot)}


def _wanted(raw: Raw) -> Mapping[tuple[User, str], Mapping[str, list[str]]]:
    """The lines that each file must hold by the extraction that they came from, for all archives that are done."""
    wanted: dict[tuple[User, str], dict[str, list[str]]] = {}
    for session in raw.sessions:
        for number, found in session.candidates.items():
            for addition in found.additions():
                lines = [str(line) for line in addition.lines]
                file = wanted.setdefault((session.owner, addition.path), {})
                file[extraction_of(session.head.incarnation, number)] = lines
    return wanted


def each_extraction_is_applied_once(raw: Raw, history: History) -> Iterator[str]:
    """Every line that an archive gave is once in its file, and the file names the extraction once; unless it was
    deleted with the file."""
    edited = _edited(history)
    gone = {(f.owner, f.path, extraction) for f in history.of(Forgot) for extraction in f.extractions}
    for place, by_extraction in _wanted(raw).items():
        file = raw.files.get(place)
        if place in edited or place[0] in taken_back(history):
            continue
        for extraction, lines in by_extraction.items():
            if (*place, extraction) in gone:
                continue
            there = Counter(file.lines if file else ())
            counts = [there[line] for line in lines]
            if file is None or set(counts) != {1} or file.applied.count(extraction) != 1:
                yield f"{place}: lines of {extraction} are there {counts} times; it names {file and file.applied}"


def a_file_holds_nothing_else(raw: Raw, history: History) -> Iterator[str]:
    """A sourced line comes from an archive that is done, pending or failed, or from a session deleted since; and a
    file names no more extractions than it has lines of."""
    wanted = _wanted(raw)
    open_ones = {
        (s.owner, extraction_of(s.head.incarnation, a.number))
        for s in raw.sessions
        for a in (*s.head.pending, *s.head.failed)
    }
    living = {(s.owner, extraction_of(s.head.incarnation, n)) for s in raw.sessions for n in s.ranges}
    for place, file in raw.files.items():
        if place in changed(history) or place[0] in taken_back(history):
            continue
        known = wanted.get(place, {})
        ours = [e for e in file.applied if (place[0], e) in living and (place[0], e) not in open_ones]
        if any(extraction not in known for extraction in ours):
            yield f"{place} names {ours}; archives that are done gave it {sorted(known)}"
        if all((place[0], e) in living - open_ones for e in file.applied):
            right = sorted(line for lines in known.values() for line in lines)
            if sorted(file.lines) != right:
                yield f"{place} holds {sorted(file.lines)}, archives gave it {right}"


def an_owners_lines_are_kept(raw: Raw, history: History) -> Iterator[str]:
    """What an owner wrote into a memory is there once, whatever was merged beside it; unless it was deleted since."""
    gone = {(forgot.owner, forgot.path) for forgot in history.of(Forgot)} | _edited(history)
    for noted in history.of(Noted):
        file = raw.files.get((noted.owner, noted.path))
        times = file.body.split("\n").count(noted.line) if file else 0
        if times != 1 and (noted.owner, noted.path) not in gone:
            yield f"{noted.path}: {noted.line!r} is there {times} times"


def what_was_deleted_does_not_come_back(raw: Raw, history: History) -> Iterator[str]:
    """A memory that was deleted does not get back the lines of the extractions that it had absorbed."""
    wanted = _wanted(raw)
    for forgot in history.of(Forgot):
        place = (forgot.owner, forgot.path)
        file = raw.files.get(place)
        for extraction in forgot.extractions:
            back = set(wanted.get(place, {}).get(extraction, ())) & set(file.lines if file else ())
            if back:
                yield f"{place}: deleted with {list(forgot.extractions)}, and {sorted(back)} is back"


def a_write_of_a_file_absorbs_something(raw: Raw, history: History) -> Iterator[str]:
    """Each version of a memory file has absorbed more than the one before it: none was lost, none for nothing."""
    for key, bodies in raw.versions.items():
        if memory_path(key) is None:
            continue
        before = 0
        for body in bodies:
            match = _VERSION.search(body) if body is not None else None
            version = int(match[1]) if match else 0
            if match and version <= before:
                yield f"{key} has the version {version} behind {before}"
            before = version


def diffs_tell_what_was_applied(raw: Raw, history: History) -> Iterator[str]:
    """The diff of an archive that is done lists each file that it changed once, with exactly its own lines."""
    for session in raw.sessions:
        for number in session.done:
            record = session.file(number, "memory_diff.json")
            candidates = session.candidates.get(number)
            if record is None or candidates is None:
                yield f"{session}: archive {number} is done without {'a diff' if candidates else 'candidates'}"
                continue
            told = Counter(_told(record))
            right = Counter(
                (f"memories/{a.path}", str(line)) for a in candidates.additions() for line in a.lines
            )
            if told != right and not _touched(session, history):
                yield f"{session}: the diff of archive {number} tells of {told}, extracted was {right}"


def _touched(session: Session, history: History) -> bool:
    return session.owner in {*taken_back(history), *(owner for owner, _ in changed(history))}


def _told(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(path, line) of each line that a diff says was added."""
    for operation in (*record["operations"]["adds"], *record["operations"]["updates"]):
        before = set(map(str, read_lines(operation.get("before", ""))[0]))
        for line in map(str, read_lines(operation["after"])[0]):
            if line not in before:
                yield operation["uri"].split("/", 4)[4], line


def the_memory_index_follows_the_files(raw: Raw, _: History) -> Iterator[str]:
    """The index lists the files as they are, and finds each of their lines: no ghost, none hidden."""
    for owner in raw.owners:
        catalogue = raw.catalogue(owner, "memories")
        files = {path: file for (user, path), file in raw.files.items() if user == owner}
        if sorted(catalogue.files) != sorted(files):
            yield f"{owner}: the index lists {sorted(catalogue.files)}, there are {sorted(files)}"
            continue
        if not set(catalogue.index.groups()) <= set(files):
            yield f"{owner}: the index finds lines of {sorted(set(catalogue.index.groups()) - set(files))}"
        for path, file in files.items():
            found = [d.text for d in catalogue.index.documents(path)]
            yield from _indexed(file, raw.learnt.get((owner, path)), catalogue.files[path], found)


def _indexed(file: File, memory: Memory | None, row: Mapping[str, Any], found: list[str]) -> Iterator[str]:
    owner = file.owner
    sourced, others = read_lines(file.body)
    right = [line.text for line in sourced]
    right += [text for text in others if text.strip() and not text.startswith("# ")]
    right += [text for text in (told(memory.type, memory.values),) if text] if memory else []
    if sorted(found) != sorted(text[:8_000] for text in right):
        yield f"{owner}: {file.path} says {right}, the index finds {found}"
    if row["sha256"] != hashlib.sha256(file.body.encode()).hexdigest():
        yield f"{owner}: the index lists an earlier {file.path}"


def the_message_index_follows_the_archives(raw: Raw, _: History) -> Iterator[str]:
    """Each archive that is done can be searched message by message, and no message of a session that is gone."""
    for owner in raw.owners:
        index = raw.catalogue(owner, "messages").index
        right = {
            f"{s.head.incarnation}/{number:012d}": [
                m.text[:8_000] for m in s.archived if first <= m.seq <= last and m.text.strip()
            ]
            for s in raw.sessions
            if s.owner == owner
            for number, (first, last) in s.ranges.items()
        }
        ended = {f"{s.head.incarnation}/{n:012d}" for s in raw.sessions if s.owner == owner for n in s.done}
        for group in sorted({*index.groups(), *(g for g in ended if right[g])}):
            found = [document.text for document in index.documents(group)]
            if found != right.get(group):
                yield f"{owner}: the message index finds {found} in {group}, there is {right.get(group)}"


INVARIANTS = (
    each_extraction_is_applied_once,
    a_file_holds_nothing_else,
    an_owners_lines_are_kept,
    what_was_deleted_does_not_come_back,
    a_write_of_a_file_absorbs_something,
    diffs_tell_what_was_applied,
    the_memory_index_follows_the_files,
    the_message_index_follows_the_archives,
)
