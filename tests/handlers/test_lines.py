"""One line per stage: JSON with ids and counts, metrics for CloudWatch, the trace, and never content."""

import json
import logging
from typing import Any

import pytest

from strandline.domain.contracts import CommitRequested
from strandline.ports import Ambiguous, Contended
from tests.handlers.service import Client, Service
from tests.handlers.test_ingest import request
from tests.handlers.test_queues import reference

CANARY = "zq7-canary-3f9"
ROOT = "1-67891233-abcdef012345678912345678"
TRACE = f"Root={ROOT};Parent=53995c3f42cd8ad8;Sampled=1"


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Any:
    """The lines so far, by stage."""

    def read(stage: str | None = None) -> list[dict[str, Any]]:
        found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        return [line for line in found if stage in (None, line["stage"])]

    return read


def metrics(line: dict[str, Any]) -> dict[str, Any]:
    """What CloudWatch makes of a line: the value of each metric."""
    (rule,) = line["_aws"]["CloudWatchMetrics"]
    assert rule["Namespace"] == "Strandline"
    assert sorted(rule["Dimensions"][0]) == ["service", "stage"]
    values = {metric["Name"]: line[metric["Name"]] for metric in rule["Metrics"]}
    return {name: value[0] if isinstance(value, list) else value for name, value in values.items()}


def test_a_life_in_lines(service: Service, alice: Client, lines: Any) -> None:
    traced = alice.acting(x_amzn_trace_id=TRACE)
    traced.append("s", "I love the cello.")
    task = traced.commit("s").result["task_id"]
    service.pump()
    said = lines()
    assert [line["stage"] for line in said] == ["append", "api", "extract", "merge", "merge"]
    assert {line["trace"] for line in said} == {ROOT}
    append, commit, extract, batch, merge = said
    assert (append["account"], append["user"], append["session"]) == ("acme", "alice", "s")
    assert (append["route"], append["status"]) == ("POST /api/v1/sessions/*/messages", 200)
    assert commit["route"] == "POST /api/v1/sessions/*/commit"
    assert metrics(append).items() >= {"requests": 1, "appended_messages": 1}.items()
    assert (extract["task"], extract["archive"], metrics(extract)["extracted"]) == (task, 1, 1)
    assert (batch["tasks"], metrics(batch)["archives"], metrics(batch)["files"]) == ([task], 1, 1)
    assert (merge["user"], merge["task"]) == ("alice", task)
    assert all(line["duration_ms"] is not None and metrics(line) for line in said)


def test_a_line_of_the_commit_queue_the_ingest_queue_and_the_sweep(
    service: Service, alice: Client, lines: Any
) -> None:
    service.send_batch("IngestQueue", [(request("a", "b"), 1), (request("c"), 1)])
    body = CommitRequested(session=reference(service, "s")).model_dump_json()
    service.send_batch("CommitQueue", [(body, 1), (body, 2)], [TRACE, None])
    service.sweep(901)
    ingest, commit, again, sweep = lines()
    assert (ingest["session"], metrics(ingest)["appended_messages"], metrics(ingest)["requests"]) == (
        "s",
        3,
        2,
    )
    assert (commit["trace"], metrics(commit)["commits"]) == (ROOT, 1)
    assert (again["reason"], again["received"]) == ("no_messages", 2)
    assert metrics(sweep).items() >= {"due": 1, "failed": 0}.items()


def test_writes_that_others_came_before_are_counted(service: Service, alice: Client, lines: Any) -> None:
    alice.append("s", "one")
    alice.append("s", "two")
    service.world.objects.faults.before("put", Contended("409"))
    alice.append("s", "three")
    assert [metrics(line)["conflicts"] for line in lines()] == [0, 0, 1]


def test_errors_are_counted_by_code(alice: Client, lines: Any) -> None:
    alice.look("nowhere")
    alice.append("s", None)
    look, append = lines()
    assert (look["code"], look["status"], metrics(look)["errors_NOT_FOUND"]) == ("NOT_FOUND", 404, 1)
    assert (append["code"], metrics(append)["errors_INVALID_ARGUMENT"]) == ("INVALID_ARGUMENT", 1)


def test_no_metric_names_a_tenant(service: Service, alice: Client, lines: Any) -> None:
    alice.remember("s", "I love the cello.")
    for line in lines():
        assert not {"account", "user", "session", "task"} & metrics(line).keys()


@pytest.mark.parametrize(
    "header", ["x", "Root=1-2-3", f"{TRACE}\n", f"Root={ROOT};Parent={'x' * 200}", "名前"]
)
def test_a_trace_header_that_is_none_goes_nowhere(
    service: Service, alice: Client, lines: Any, header: str
) -> None:
    alice.append("s", "I love the cello.")
    body = CommitRequested(session=reference(service, "s")).model_dump_json()
    service.send_batch("CommitQueue", [(body, 1)], [header])
    assert [d.trace for d in service.world.extract_queue.receive(1)] == [None]


def test_no_line_says_what_was_said(
    service: Service,
    alice: Client,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """However it goes wrong: bad bodies, a store that is down, an error that quotes what it was given."""
    caplog.set_level(logging.DEBUG)
    alice.remember("s", f"My sister {CANARY} loves tea.")
    alice.batch("s", CANARY, CANARY, unknown=CANARY)
    alice.find(CANARY)
    alice.post("/sessions/s/messages", {"role": CANARY, "content": CANARY})
    alice.send("POST", "/sessions/s/messages", f'{{"role": "user", "content": "{CANARY}'.encode())
    alice.put("/memories/topics/t.md", {"content": f"# {CANARY}\n"})
    bad = [request(CANARY, version=2), request(CANARY)[:-1], request(messages=[{"role": CANARY}])]
    for queue in ("IngestQueue", "CommitQueue", "ExtractQueue", "MergeQueue", "EraseQueue"):
        service.send_batch(queue, [(body, n) for body in bad for n in (1, 5)])
    for nth in range(1, 60):
        error = Ambiguous(CANARY) if nth < 30 else RuntimeError(f"cannot store {CANARY}")
        service.world.objects.faults.before("put", error, nth=nth)
    for _ in range(4):
        alice.append("s", CANARY)
        service.send_batch("IngestQueue", [(request(CANARY), 1)])
    service.world.mend()
    service.sweep(901)
    told = capsys.readouterr()
    assert "failed" in caplog.text
    assert CANARY not in told.out + told.err + caplog.text


def test_an_error_is_told_by_its_kind_and_place(
    service: Service, alice: Client, lines: Any, caplog: pytest.LogCaptureFixture
) -> None:
    alice.append("s", "a")
    service.world.objects.faults.before("put", RuntimeError(CANARY))
    assert alice.append("s", "b").status == 500
    assert "RuntimeError at " in caplog.text
    assert "document.py" in caplog.text
