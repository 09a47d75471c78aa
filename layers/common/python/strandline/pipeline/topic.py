"""Topics: what an agent writes down for itself. A topic is a memory below `topics/`, written like any other; the index
is made from the catalogue each time it is asked for, so it cannot say anything else than the topics do."""

import hashlib
from dataclasses import dataclass
from urllib.parse import unquote

from strandline.domain.errors import InvalidArgument
from strandline.domain.graphemes import beginning
from strandline.domain.memory import Memory
from strandline.domain.names import slug
from strandline.domain.redaction import scrub
from strandline.domain.topic import DIRECTORY, Topic, TopicIndex, index, one_line
from strandline.pipeline import memory
from strandline.pipeline.library import Library
from strandline.storage.layout import User
from strandline.storage.markdown import MAX_DESCRIPTION_CHARS, MAX_SUMMARY_CHARS, MAX_TITLE_CHARS, Edit


@dataclass(frozen=True)
class Note:
    """What a topic is to say. The name, description and summary are shown on one line."""

    name: str
    description: str
    memory_type: str
    summary: str
    content: str

    def edit(self) -> Edit:
        """The topic's front matter and body. Raises InvalidArgument."""
        about = Topic(
            _said("description", self.description, MAX_DESCRIPTION_CHARS),
            _said("summary", self.summary, MAX_SUMMARY_CHARS),
        )
        title = _said("name", self.name, MAX_TITLE_CHARS)
        return Edit(self.content, title=title, type=self.memory_type, topic=about, by="tool")


def save(services: Library, owner: User, filename: str, edit: Edit) -> Memory:
    """Writes the topic of that file name, over the one that is there. Raises InvalidArgument."""
    return memory.write(services, owner, path_of(filename), edit, memory.anything)


def path_of(filename: str) -> str:
    """The path of the topic of that name; `.md` may be left out. Raises InvalidArgument."""
    name = filename.removesuffix(".md")
    plain = unquote(unquote(name))
    if not plain or "/" in plain or plain != plain.strip() or plain.startswith("."):
        raise InvalidArgument(
            "filename: a name without '/', which does not begin with '.' or a space, such as deploy-staging.md"
        )
    return memory.checked(f"{DIRECTORY}{name}.md")


def topic_index(services: Library, owner: User) -> TopicIndex:
    """The index of the user's topics as of now. One request."""
    rows = memory.list_memories(services, owner, DIRECTORY)
    return index(rows, services.clock.now())


def _said(field: str, text: str, limit: int) -> str:
    """The text on one line. Raises InvalidArgument for one that says nothing, or too much."""
    line = one_line(text)
    if not line:
        raise InvalidArgument(f"{field}: must say something")
    if len(line) > limit:
        raise InvalidArgument(
            f"{field}: at most {limit} characters, on one line; the rest belongs into content"
        )
    return line


def remembered(
    content: str, memory_type: str, name: str | None, description: str | None, summary: str | None
) -> tuple[str, Note]:
    """A file name and a note for something that an agent wants remembered, perhaps in so many words only. The same name
    is the same file; without one, the same words are."""
    lines = map(one_line, content.split("\n"))
    first = next((line for line in lines if line.strip("# ")), "Note").lstrip("# ")
    title = beginning(name or first, MAX_TITLE_CHARS)
    words = scrub(title)  # a file name is kept as it is, so there may be no secret in it
    digest = hashlib.sha256(content.encode()).hexdigest()[:8]
    short = beginning(one_line(summary or first), MAX_SUMMARY_CHARS)
    filename = slug(words) if name else f"{slug(words[:60])}-{digest}"
    return filename, Note(title, description or title, memory_type, short, content)
