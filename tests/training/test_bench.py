"""`strandline bench locomo` over the service in this process: what can be counted, and a judge beside a model."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from strandline_sdk.bench.judge import verdict
from strandline_sdk.bench.measures import Asked, containment, recall
from strandline_sdk.bench.questions import Question
from strandline_sdk.cli import main
from strandline_sdk.errors import ApiError
from tests.fakes.chat_server import ChatServer, writes
from tests.handlers.service import ROOT_KEY
from tests.training.test_cli_train import said

TALK = {
    "sample_id": "conv-1",
    "conversation": {
        "speaker_a": "Mia",
        "speaker_b": "Tom",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Mia", "dia_id": "D1:1", "text": "I moved to Bergen last week."},
            {"speaker": "Tom", "dia_id": "D1:2", "text": "I adopted a parrot, her name is Pipoca."},
        ],
        "session_2_date_time": "2:00 pm on 9 June, 2023",
        "session_2": [{"speaker": "Mia", "dia_id": "D2:1", "text": "I play the cello in an orchestra now."}],
    },
    "qa": [
        {
            "question": "What does Mia play in an orchestra?",
            "answer": "The cello",
            "evidence": ["D2:1"],
            "category": 4,
        },
        {"question": "What animal did Tom adopt?", "answer": "A dog", "evidence": ["D1:2"], "category": 1},
        {"question": "What does Tom play?", "evidence": ["D2:1"], "category": 5},
    ],
}


@pytest.fixture
def talk(tmp_path: Path) -> str:
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([TALK]))
    return str(path)


def bench(transport: httpx.BaseTransport, tmp_path: Path, *arguments: str) -> tuple[Any, list[Any]]:
    """The printed document, and the row of each question."""
    command = ["--key", ROOT_KEY, "--account", "acme", "--json", "bench", "locomo", *arguments]
    done = CliRunner().invoke(main, [*command, "--results", str(tmp_path / "result")], obj=transport)
    assert done.exit_code == 0, said(done.output)
    document = json.loads(said(done.stdout))
    return document, [
        json.loads(row) for row in (Path(document["run"]) / "questions.jsonl").read_text().splitlines()
    ]


def test_recall_and_containment_without_a_model(
    transport: httpx.BaseTransport, tmp_path: Path, talk: str
) -> None:
    document, rows = bench(transport, tmp_path, talk)
    everything = document["table"]["all"]
    assert (everything["questions"], everything["recall@20"], everything["judged_correct"]) == (
        2,
        100.0,
        None,
    )
    assert (everything["answer_contained"], everything["answer_tokens"]) == (50.0, 50.0)
    assert [row["ranked"][0] for row in rows] == [["D2:1"], ["D1:2"]]
    again, _ = bench(transport, tmp_path, talk, "--search", "message", "--no-import")
    assert again["table"]["all"]["recall@1"] == 100.0
    assert again["run"] != document["run"]


def test_a_model_answers_and_is_judged(
    transport: httpx.BaseTransport, tmp_path: Path, talk: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRANDLINE_BENCH_KEY", "the-model-key")
    turns = [
        writes(text) for text in ("The cello.", "CORRECT", "A parrot", "WRONG", "the-model-key", "perhaps")
    ]
    with ChatServer(*turns) as server:
        model = ["--model-url", server.url, "--model", "m", "--judge", "j", "--jobs", "1"]
        document, rows = bench(transport, tmp_path, talk, *model, *(f"--category={n}" for n in (1, 4, 5)))
        asked = server.requests
    assert document["table"]["all"]["judged_correct"] == 50.0
    assert (document["errors"], "neither CORRECT nor WRONG" in rows[2]["error"]) == (1, True)
    assert [(row["answer"], row["correct"]) for row in rows[:2]] == [
        ("The cello.", True),
        ("A parrot", False),
    ]
    assert [one.body["model"] for one in asked] == ["m", "j"] * 3
    assert "cello in an orchestra" in asked[0].user
    assert "Right answer: not mentioned" in asked[5].user
    assert asked[0].headers["authorization"] == "Bearer the-model-key"
    assert not any("the-model-key" in p.read_text() for p in Path(document["run"]).iterdir())


def test_measures() -> None:
    question = Question("c", 0, 1, "?", "The 7th of May", frozenset({"D1:1", "D1:2"}))
    asked = Asked(question, [["D1:1"], ["D3:1", "D1:2"]], "It was on the 7th of may.")
    assert [recall(asked, k) for k in (1, 2)] == [0.5, 1.0]
    assert containment(asked) == {"answer_tokens": 1.0, "answer_contained": 1.0}
    apart = Asked(question, [], "May came; the 7th was a Sunday.")
    assert containment(apart) == {"answer_tokens": 1.0, "answer_contained": 0.0}


@pytest.mark.parametrize(
    ("text", "correct"), [("CORRECT", True), ("wrong.", False), ("Correct. Well done", True)]
)
def test_verdicts(text: str, correct: bool) -> None:
    assert verdict(text) is correct


def test_a_judge_that_says_both_says_nothing() -> None:
    with pytest.raises(ApiError):
        verdict("CORRECT or WRONG")
