"""The conversation as the rules see it: who takes part, and each message in sentences."""

from dataclasses import dataclass
from functools import cached_property

from strandline.domain.extraction import Transcript, Turn
from strandline.domain.rules.sentences import Sentence, sentences
from strandline.domain.rules.voices import Voice, name_words, voice_of


@dataclass(frozen=True)
class Message:
    """One thing said by a person or an assistant; tools and the system do not speak."""

    turn: Turn
    voice: Voice
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True)
class Conversation:
    """The messages of an archive that somebody said, in order."""

    messages: tuple[Message, ...]

    @cached_property
    def speakers(self) -> tuple[Voice, ...]:
        """Everybody who speaks, in order of first appearance."""
        return tuple(dict.fromkeys(m.voice for m in self.messages))

    @cached_property
    def names(self) -> frozenset[str]:
        """The words of the speakers' names and their short forms."""
        return name_words(self.speakers)

    def listener(self, voice: Voice) -> Voice | None:
        """Whom `voice` talks to, where that is certain: the other one of two."""
        others = [v for v in self.speakers if v != voice]
        return others[0] if len(others) == 1 else None

    @cached_property
    def has_assistant(self) -> bool:
        return any(v.is_assistant for v in self.speakers)


def conversation(transcript: Transcript) -> Conversation:
    """The transcript in messages and sentences."""
    return Conversation(
        tuple(
            Message(turn, voice, tuple(sentences(turn.text)))
            for turn in transcript.turns
            if (voice := voice_of(turn)) is not None
        )
    )
