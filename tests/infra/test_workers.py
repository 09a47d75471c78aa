"""Functions as processes: real ones, with handlers made for the test."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from infra.local.template import Function
from infra.local.workers import FunctionError, Launch, PayloadTooLargeError, Pool, ThrottledError

HANDLER = """
import logging, os, sys, time

print("imported")

def handler(event, context):
    what = event.get("do")
    if what == "raise":
        raise ValueError("no such luck")
    if what == "exit":
        os._exit(3)
    if what == "sleep":
        time.sleep(event["seconds"])
    if what == "log":
        logging.getLogger("mine").error("lost %s", "it", exc_info=ValueError("why"))
    if what == "odd":
        return {1, 2}
    return {
        "pid": os.getpid(),
        "echo": event,
        "name": os.environ["AWS_LAMBDA_FUNCTION_NAME"],
        "left": context.get_remaining_time_in_millis(),
        "id": context.aws_request_id,
    }
"""


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Pool]]:
    pools: list[Pool] = []

    def make(code: str = HANDLER, timeout: int = 20, size: int = 2) -> Pool:
        (tmp_path / "handler.py").write_text(code)
        function = Function("Work", tmp_path, "handler.handler", timeout, 128, {})
        environment = {
            "PATH": os.environ["PATH"],
            "AWS_LAMBDA_FUNCTION_NAME": "Work",
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "128",
            "AWS_REGION": "us-east-1",
        }
        pools.append(Pool(Launch(function, environment, (), tmp_path / "Work.log"), size))
        return pools[-1]

    yield make
    for pool in pools:
        pool.close()


def test_result_and_context(make: Callable[..., Pool]) -> None:
    answer = make().invoke({"text": "é"})
    assert (answer["echo"], answer["name"]) == ({"text": "é"}, "Work")
    assert 15_000 < answer["left"] <= 20_000
    assert len(answer["id"]) == 36


def test_one_warm_process_serves_many_events(make: Callable[..., Pool]) -> None:
    pool = make()
    assert len({pool.invoke({})["pid"] for _ in range(3)}) == 1


def test_an_exception_is_told_and_survived(
    make: Callable[..., Pool], caplog: pytest.LogCaptureFixture
) -> None:
    pool = make()
    first = pool.invoke({})["pid"]
    with pytest.raises(FunctionError, match="ValueError: no such luck"):
        pool.invoke({"do": "raise"})
    assert 'raise ValueError("no such luck")' in caplog.text
    assert pool.invoke({})["pid"] == first


def test_a_process_that_ends_is_replaced(make: Callable[..., Pool]) -> None:
    pool = make()
    with pytest.raises(FunctionError, match="ended with code 3"):
        pool.invoke({"do": "exit"})
    assert pool.invoke({})["echo"] == {}


def test_a_timeout_kills(make: Callable[..., Pool]) -> None:
    pool = make(timeout=1)
    first = pool.invoke({})["pid"]
    started = time.monotonic()
    with pytest.raises(FunctionError, match="timed out after 1 seconds"):
        pool.invoke({"do": "sleep", "seconds": 30})
    assert time.monotonic() - started < 5
    assert pool.invoke({})["pid"] != first


def test_a_result_that_is_no_json_is_an_error(make: Callable[..., Pool]) -> None:
    with pytest.raises(FunctionError, match="not JSON serializable"):
        make().invoke({"do": "odd"})


def test_a_handler_that_cannot_be_imported(
    make: Callable[..., Pool], caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(FunctionError, match="No module named 'missing'"):
        make("import missing").invoke({})
    assert "import missing" in caplog.text


def test_an_event_larger_than_lambda_takes(make: Callable[..., Pool]) -> None:
    with pytest.raises(PayloadTooLargeError):
        make().invoke({"text": "x" * (6 * 1024 * 1024)})


def test_large_events_pass_both_ways(make: Callable[..., Pool]) -> None:
    text = "x" * (5 * 1024 * 1024)
    assert make().invoke({"text": text})["echo"]["text"] == text


def test_no_more_processes_than_allowed(make: Callable[..., Pool]) -> None:
    pool = make(size=1)
    pool.warm()
    busy = threading.Thread(target=pool.invoke, args=({"do": "sleep", "seconds": 1},))
    busy.start()
    time.sleep(0.2)
    with pytest.raises(ThrottledError):
        pool.invoke({}, wait_seconds=0.1)
    busy.join()
    assert pool.invoke({})["echo"] == {}


def test_output_goes_to_the_file_and_errors_to_the_terminal(
    make: Callable[..., Pool], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    make().invoke({"do": "log"})
    eventually(lambda: "lost it" in caplog.text)
    assert "ValueError: why" in caplog.text
    assert (tmp_path / "Work.log").read_text().splitlines()[0] == "imported"


def test_workers_die_with_a_killed_parent(tmp_path: Path) -> None:
    (tmp_path / "handler.py").write_text(HANDLER)
    program = f"""
import os, pathlib, threading
from infra.local.template import Function
from infra.local.workers import Launch, Pool
function = Function("Work", pathlib.Path({str(tmp_path)!r}), "handler.handler", 60, 128, {{}})
own = {{"AWS_LAMBDA_FUNCTION_NAME": "Work", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "128", "AWS_REGION": "us-east-1"}}
pool = Pool(Launch(function, {{**os.environ, **own}}, (), pathlib.Path({str(tmp_path)!r}) / "log"), 1)
print(pool.invoke({{}})["pid"], flush=True)
pool.invoke({{"do": "sleep", "seconds": 60}})
"""
    parent = subprocess.Popen(
        [sys.executable, "-c", program], cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    worker = int(parent.stdout.readline())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    eventually(lambda: not alive(worker))


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] != "Z"


def eventually(true: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 10
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)
