"""Files and directories as they are shown."""

from typing import NotRequired

from typing_extensions import TypedDict


class _File(TypedDict):
    name: str
    uri: str
    isDir: bool
    size: int | None
    mode: int
    modTime: str | None
    count: NotRequired[int]


class Entry(_File):
    """A file or directory. `size` in bytes (of a memory: of its text without front matter) and `modTime` are null where
    they are not known without reading; `count` is how many memories are below a directory; `rel_path` is its path in
    the directory that was listed, `abstract` and `overview` are there when they were asked for."""

    rel_path: str
    abstract: NotRequired[str]
    overview: NotRequired[str]


class Looked(_File):
    """One file or directory, as in a list. Nothing is ever locked."""

    isLocked: bool
