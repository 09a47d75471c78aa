"""Real conversations through the whole service, by the command line and over HTTP: in, committed, read, found."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import KEY, ROOT, LocalRun
from tests.e2e.test_local_run import committed, result

DATA = ROOT.parent / "shared" / "data"
SHARED = pytest.mark.skipif(not DATA.exists(), reason=f"the real conversations are not there: {DATA}")

pytestmark = [pytest.mark.e2e, SHARED]


def strandline(run: LocalRun, *arguments: str) -> Any:
    """What the command line prints with --json."""
    command = [Path(sys.executable).with_name("strandline"), "--json", "--url", run.url, *arguments]
    environment = {"STRANDLINE_KEY": KEY}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=600, cwd=ROOT, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def locomo(local_run: LocalRun) -> Any:
    return strandline(local_run, "import", str(DATA / "locomo7.json"), "--user-per-conversation")


def test_all_of_locomo_goes_in_and_every_task_ends_well(locomo: Any) -> None:
    assert (locomo["sessions"], locomo["messages_stored"], locomo["duplicates"]) == (187, 4124, 0)
    assert locomo["tasks"] == {"started": 187, "completed": 187, "failed": 0}


def test_importing_it_again_stores_nothing(local_run: LocalRun, locomo: Any) -> None:
    again = strandline(local_run, "import", str(DATA / "locomo7.json"), "--user-per-conversation")
    assert (again["messages_stored"], again["duplicates"], again["tasks"]["started"]) == (0, 4124, 0)


def test_its_memories_are_markdown_that_names_its_messages(local_run: LocalRun, locomo: Any) -> None:
    client = local_run.client("conv-26", account="default")  # B-C1
    rows = result(client.get("/memories", params={"limit": 1000}))
    assert {row["peer"] for row in rows} == {"Caroline", "Melanie"}  # B-C12: nobody else's, nobody is missing
    for row in rows:
        text = result(client.get("/content/read", params={"uri": row["uri"]}))
        assert text.startswith("---\n") and "\nsources:\n- session: conv-26-session-" in text
        assert f"\n# {row['title']}\n" in text and "\n- " in text


def test_what_was_said_is_found_with_the_message_that_said_it(local_run: LocalRun, locomo: Any) -> None:
    client = local_run.client("conv-26", account="default")  # B-C2 B-C15
    question = {"query": "When did Caroline go to the LGBTQ support group?", "limit": 3}
    hits = result(client.post("/search/find", json=question))["memories"]
    sources = [(s["session_id"], s["seq_from"]) for hit in hits for s in hit["sources"]]
    assert ("conv-26-session-1", 3) in sources
    assert any("7 May 2023" in hit["abstract"] for hit in hits)  # said on 8 May 2023: "yesterday"
    messages = result(client.post("/search/find", json={**question, "context_type": "message"}))["memories"]
    assert "D1:3" in [hit["message_id"] for hit in messages]


def test_evidence_is_found(local_run: LocalRun, locomo: Any) -> None:
    """The share of the questions' evidence turns among the first ten memory lines; a plain BM25 over turns has 61 %."""
    (conversation,) = (
        c for c in json.loads((DATA / "locomo7.json").read_text()) if c["sample_id"] == "conv-26"
    )
    client = local_run.client("conv-26", account="default")
    questions = [q for q in conversation["qa"] if q["category"] < 5 and q["evidence"]]
    shares = [_found(client, q) for q in questions]
    assert sum(shares) / len(shares) >= 0.68


def _found(client: httpx.Client, question: dict[str, Any]) -> float:
    hits = result(client.post("/search/find", json={"query": question["question"], "limit": 10}))["memories"]
    cited = {
        f"D{source['session_id'].rpartition('-')[2]}:{seq}"
        for hit in hits
        for source in hit["sources"]
        for seq in range(source["seq_from"], source["seq_to"] + 1)
    }
    evidence = question["evidence"]
    return sum(turn in cited for turn in evidence) / len(evidence)


@pytest.mark.parametrize(
    ("name", "said", "query"),
    [("zh", "我在单亲家庭中长大。", "单亲家庭"), ("jp", "私はひとり親家庭で育ちました。", "ひとり親家庭")],
)
def test_other_languages_keep_their_statements_whole(
    local_run: LocalRun, name: str, said: str, query: str
) -> None:  # B-C15
    client = local_run.client(f"reader-{name}")
    dialogue = json.loads((DATA / "multilingual" / f"{name}.json").read_text())[0]
    assert said in dialogue["persona"]
    messages = [
        {"role": role, "content": text, "created_at": "2026-03-02T10:00:00Z"}
        for turn in [*dialogue["dialogue"], [dialogue["dialogue"][0][0], said]]
        for role, text in zip(("assistant", "user"), turn, strict=True)
    ]
    result(client.post("/sessions/talk/messages/batch", json={"messages": messages}))
    assert committed(client, "talk")["status"] == "completed"

    hits = result(client.post("/search/find", json={"query": query, "limit": 3}))["memories"]
    assert any(said.rstrip("。") in hit["abstract"] for hit in hits)
    assert hits[0]["sources"][0]["session_id"] == "talk"


def test_a_sample_is_shipped(local_run: LocalRun) -> None:
    told = strandline(local_run, "--user", "tourist", "import", str(Path("docs") / "tour.json"))
    assert (told["messages_stored"], told["tasks"]["completed"]) == (7, 1)
    found = strandline(local_run, "--user", "tourist", "search", "What can Ana not eat?")
    assert "shrimp" in found["memories"][0]["abstract"]
