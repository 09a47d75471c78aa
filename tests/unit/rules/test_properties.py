import os
import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strandline.domain.extraction import Extraction, Transcript
from strandline.domain.rules import extract
from tests.unit.rules.conversation import transcript

WORDS = [
    "I went to Paris yesterday. ",
    "My dog Max is great! ",
    "Why? ",
    "last week ",
    "on the 31st ",
    "I'm 30 ",
]
ABROAD = ["昨天我去了北京。", "先週の金曜日に会いました。", "J'aime le thé. "]
LINKS = ["[image: a cat]", "http://x.y/?a=b "]
MARKUP = ["-->", "<!--", "--!>", "--", ">", "](", "```", "...", "- ", "# ", '"', "“"]
CONTROLS = ["\n", "\r\n", "\x00", "\u2028", "\u202e", "\uffa0", "\U0001f642"]
PIECES = st.sampled_from([*WORDS, "Thanks!", "I", " love", *ABROAD, *LINKS, *MARKUP, *CONTROLS])
TEXT = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=25).map("".join))
TURN = st.tuples(
    st.sampled_from(["user", "assistant", "tool", "system"]),
    st.one_of(st.none(), st.sampled_from(["Ann", "Bob", "小明"]), st.text(max_size=12)),
    TEXT,
)
CONVERSATION = st.lists(TURN, max_size=8).map(lambda said: transcript(*said))


@given(CONVERSATION)
@settings(max_examples=300, deadline=None)
def test_every_line_is_one_safe_bounded_line_with_a_quote_out_of_a_cited_message(said: Transcript) -> None:
    for proposal in extract(said).proposals:
        assert proposal.claims
        for claim in proposal.claims:
            assert 1 <= len(claim.text) <= 2000
            assert claim.text == claim.text.strip()
            assert not [c for c in claim.text if unicodedata.category(c) in ("Cc", "Zl", "Zp", "Cs")]
            assert not [mark for mark in ("<!--", "-->", "--!>", "](") if mark in claim.text]
            cited = [t for t in said.turns if claim.seq_from <= t.seq <= claim.seq_to]
            assert any(claim.quote in t.text for t in cited)


@given(CONVERSATION)
@settings(max_examples=100, deadline=None)
def test_same_input_same_bytes(said: Transcript) -> None:
    again = Transcript.model_validate_json(said.model_dump_json())
    assert extract(said).model_dump_json() == extract(again).model_dump_json()


@given(CONVERSATION)
@settings(max_examples=100, deadline=None)
def test_lines_of_a_file_are_in_the_order_they_were_said(said: Transcript) -> None:
    for proposal in extract(said).proposals:
        ends = [c.seq_to for c in proposal.claims]
        assert ends == sorted(ends)


@given(CONVERSATION)
@settings(max_examples=100, deadline=None)
def test_each_file_is_proposed_once_and_holds_only_its_speakers_lines(said: Transcript) -> None:
    answer = extract(said)
    names = [(p.memory_type, p.peer, tuple(p.fields.items())) for p in answer.proposals]
    assert len(names) == len(set(names))
    by_seq = {t.seq: t for t in said.turns}
    for proposal in answer.proposals:
        for claim in proposal.claims:
            assert by_seq[claim.seq_to].speaker == proposal.peer
            assert by_seq[claim.seq_to].role in ("user", "assistant")


@given(CONVERSATION)
@settings(max_examples=100, deadline=None)
def test_the_summary_is_never_empty_and_stays_in_its_bounds(said: Transcript) -> None:
    answer: Extraction = extract(said)
    assert answer.abstract
    assert "\n" not in answer.abstract
    assert len(answer.abstract) <= 1000


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_048_576,
        "I went to Paris. " * 100_000,
        "." * 1_048_576 + "x",
        "\"'" * 500_000,
        "I " * 500_000,
        "Aa " * 350_000,
        "[image: " * 130_000,
        "`" * 1_000_000,
        "- " * 500_000,
        "last the on in for " * 50_000,
        "I really " * 100_000,
        "我" * 349_000,
        "は昨日" * 100_000,
        "my " + "dog " * 250_000,
        "1" * 1_000_000,
        "\n" * 1_000_000,
        "is running " * 90_000,
        "<!--" * 250_000,
        "![x](" * 200_000,
        "“I " * 300_000,
    ],
    ids=lambda text: text[:12],
)
def test_hostile_text_takes_a_bounded_number_of_lines(text: str) -> None:
    answer = extract(transcript(("user", None, text), ("user", "Ann", text)))
    assert sum(len(p.claims) for p in answer.proposals) <= 200


SCRIPT = """
import sys
from strandline.domain.extraction import Transcript
from strandline.domain.rules import extract
print(extract(Transcript.model_validate_json(sys.stdin.read())).model_dump_json())
"""


def test_same_bytes_from_another_process_with_another_hash_seed() -> None:
    said = transcript(
        (
            "user",
            "Ann",
            "I love hiking, music and books. My dog Max and my cat Mia are old. I moved last week.",
        ),
        (
            "user",
            "Bob",
            "I prefer tea to coffee. We went to Rome, Oslo and Bonn in 2015. How are Max and Mia?",
        ),
        ("user", "Ann", "Max sleeps, Mia plays. I'm a nurse in Rome."),
    )
    answers = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            input=said.model_dump_json(),
            capture_output=True,
            text=True,
            check=True,
            env={
                **os.environ,
                "PYTHONHASHSEED": seed,
                "PYTHONPATH": os.pathsep.join(sys.path),
                "PYTHONUTF8": "1",
            },
        ).stdout.strip()
        for seed in ("1", "2")
    ]
    assert answers == [extract(said).model_dump_json()] * 2
