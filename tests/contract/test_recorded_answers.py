"""LoCoMo's own observations, facts that a model once extracted, as the answers of a model: what they cite of the turns
that answer a question, alone and beside the rules' lines. The data is not part of the project.

The answers go over HTTP and through prompt, frame, reading and check like any other's.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from strandline.adapters.clock import SystemClock
from strandline.adapters.ids import RandomIds
from strandline.adapters.language_model import LanguageModel, Patience
from strandline.adapters.openai_compatible import Completion, OpenAiCompatible
from strandline.domain import rules
from strandline.domain.admission import check
from strandline.domain.candidates import Candidates
from strandline.domain.extraction import Extraction, Transcript
from strandline.domain.language_model.combine import beside
from strandline.domain.memory_policy import MemoryPolicy
from tests.fakes.chat_server import Asked, ChatServer, Notes, heard, listens
from tests.unit.rules.test_locomo import DATA, evidence, sessions

pytestmark = [
    pytest.mark.contract,
    pytest.mark.slow,
    pytest.mark.skipif(not DATA.exists(), reason="the LoCoMo conversations are not in ../shared/data"),
]


@dataclass(frozen=True)
class Session:
    """One archive: its turns' ids, what was said, and what a model once noted: (text, turn id)."""

    ids: Sequence[str]
    transcript: Transcript
    noted: Sequence[tuple[str, str]]

    def answer(self, asked: Asked) -> dict[str, Any]:
        """The recorded facts as a model of today would give them, quoting the beginning of the turn they cite."""
        messages = {message.seq: message for message in heard(asked)}
        notes = Notes()
        for text, turn in self.noted:
            if turn in self.ids:
                message = messages[self.ids.index(turn) + 1]
                notes.fact("profile", message, text, quote=message.text[:200])
        return notes.answer

    def cited(self, extraction: Extraction) -> set[str]:
        found = checked(extraction, self.transcript)
        spans = [(line.seq_from, line.seq_to) for file in found.files for line in file.lines]
        return {turn for first, last in spans for turn in self.ids[first - 1 : last]}


def checked(extraction: Extraction, transcript: Transcript) -> Candidates:
    return check(extraction, transcript, MemoryPolicy(), "0123456789ab")


def recorded(sample: dict[str, Any]) -> Iterator[Session]:
    for ids, transcript in sessions(sample["conversation"]):
        by_speaker = sample["observation"].get(f"{transcript.session_id}_observation", {})
        noted = [
            (text, f"D{int(s)}:{int(t)}")
            for facts in by_speaker.values()
            for text, cited in facts
            for s, t in re.findall(r"D(\d+):(\d+)", json.dumps(cited))
        ]
        yield Session(ids, transcript, noted)


@dataclass
class Share:
    """Of the turns that answer a question, those that are cited."""

    cited: int = 0
    wanted: int = 0
    lines: int = 0

    def of(self, wanted: Sequence[str], cited: set[str]) -> None:
        """A turn counts for each question that it answers."""
        self.cited += sum(turn in cited for turn in wanted)
        self.wanted += len(wanted)

    @property
    def percent(self) -> float:
        return 100 * self.cited / self.wanted


@pytest.fixture(scope="module")
def shares() -> dict[str, Share]:
    found = {name: Share() for name in ("model", "rules", "both")}
    with ChatServer(listens(lambda asked: {})) as server:
        endpoint = OpenAiCompatible(server.url, Completion("recorded", 4096), None, 30, SystemClock())
        model = LanguageModel(endpoint, Patience(30, 60), SystemClock(), RandomIds())
        for sample in json.loads(DATA.read_text("utf-8")):
            cited: dict[str, set[str]] = {name: set() for name in found}
            known: set[str] = set()
            for session in recorded(sample):
                server.turns = [listens(session.answer)]
                read, lines = model.extract(session.transcript), rules.extract(session.transcript)
                assert checked(read, session.transcript).rejected == ()
                known |= set(session.ids)
                for name, each in {"model": read, "rules": lines, "both": beside(lines, read)}.items():
                    cited[name] |= session.cited(each)
                    found[name].lines += sum(len(p.claims) for p in each.proposals)
            wanted = evidence(sample, known)
            for name, turns in cited.items():
                found[name].of(wanted, turns)
    print({name: (f"{share.percent:.1f} %", share.wanted, share.lines) for name, share in found.items()})
    return found


def test_a_models_facts_alone_leave_out_a_fifth_of_what_is_asked(shares: dict[str, Share]) -> None:
    assert 75 <= shares["model"].percent <= 85


def test_with_the_rules_lines_nearly_all_is_cited(shares: dict[str, Share]) -> None:
    assert shares["both"].percent >= 96
    assert shares["both"].percent >= max(shares["rules"].percent, shares["model"].percent)
