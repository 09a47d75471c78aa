"""Plays the cases of memory types: archives with what was proposed of them, and the files they come to."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from strandline.domain.admission import check
from strandline.domain.candidates import Candidates
from strandline.domain.extraction import Claim, Extraction, Patch, Proposal, Setting, Transcript, Turn
from strandline.domain.memory import Memory
from strandline.domain.memory_policy import MemoryPolicy
from strandline.domain.memory_types import REGISTRY
from strandline.domain.merging import absorb

CASES = Path(__file__).parents[2] / "cases" / "types"


def cases(path: Path) -> list[dict[str, Any]]:
    """The cases in a file, one a YAML document."""
    return list(yaml.safe_load_all(path.read_text("utf-8")))


def candidates(archive: Mapping[str, Any]) -> Candidates:
    """What is admitted of an archive: {id, session, at, messages, types?, proposals}."""
    at: datetime = archive["at"]
    turns = tuple(
        Turn(seq=n, role="user", speaker=message.get("speaker"), text=message["text"], at=at)
        for n, message in enumerate(archive["messages"], 1)
    )
    policy = MemoryPolicy(memory_types=archive.get("types"))
    types = policy.chosen(REGISTRY.values())
    transcript = Transcript(session_id=archive["session"], archive=1, turns=turns, types=types)
    proposals = tuple(map(_proposal, archive["proposals"]))
    extraction = Extraction(extractor="case", abstract="", proposals=proposals)
    return check(extraction, transcript, policy, archive["id"])


def _proposal(given: Mapping[str, Any]) -> Proposal:
    return Proposal(
        memory_type=given["type"],
        peer=given.get("peer"),
        fields=given.get("fields", {}),
        claims=tuple(_claim(claim) for claim in given.get("lines", ())),
        patches=tuple(_patch(patch) for patch in given.get("patches", ())),
        settings=tuple(Setting(**_cited(value)) for value in given.get("values", ())),
    )


def _claim(given: Mapping[str, Any]) -> Claim:
    return Claim(**_cited({"quote": given["text"], **given}))


def _patch(given: Mapping[str, Any]) -> Patch:
    claims = tuple(_claim(claim) for claim in given.get("lines", ()))
    return Patch(**_cited({**given, "claims": claims, "search": tuple(given["search"])}, leave=("lines",)))


def _cited(given: Mapping[str, Any], leave: Sequence[str] = ()) -> dict[str, Any]:
    seq = given["seq"]
    rest = {name: value for name, value in given.items() if name not in ("seq", *leave)}
    return {**rest, "seq_from": seq, "seq_to": seq}


def merged(found: Iterable[Candidates]) -> dict[str, Memory]:
    """The memories after these were merged, one after the other."""
    files: dict[str, Memory] = {}
    for candidate in found:
        for addition in candidate.additions():
            memory = absorb(files.get(addition.path), addition)
            if memory is not None:
                files[addition.path] = memory
    return files
