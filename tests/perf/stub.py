"""An S3 that only answers, in a process of its own: its CPU is not the client's.

PUT: 200 with an ETag; kept only when it is unconditional. GET: what was kept at that path, or 404. So a document read
again is as it was before any number of conditional writes.
"""

import hashlib
import os
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BufferedIOBase

_REASON = {200: "OK", 404: "Not Found"}
_NO_SUCH_KEY = b"<Error><Code>NoSuchKey</Code><Message>no object</Message></Error>"
_bodies: dict[str, bytes] = {}


class _Connection(socketserver.StreamRequestHandler):
    """Requests of one kept-alive connection."""

    disable_nagle_algorithm = True

    def handle(self) -> None:
        while request := self.rfile.readline():
            method, path, _ = request.decode().split(" ", 2)
            headers = _headers(self.rfile)
            body = self._body(headers)
            if method == "PUT" and "if-match" not in headers:
                _bodies[path] = body
            self.wfile.write(_answer(method, path, body))

    def _body(self, headers: Mapping[str, str]) -> bytes:
        if headers.get("expect") == "100-continue":
            self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        return self.rfile.read(int(headers.get("content-length", "0")))


def _headers(stream: BufferedIOBase) -> dict[str, str]:
    lines = iter(lambda: stream.readline().decode().strip(), "")
    return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _answer(method: str, path: str, body: bytes) -> bytes:
    if method == "PUT":
        return _response(200, b"", body)
    found = _bodies.get(path)
    return _response(404, _NO_SUCH_KEY, b"") if found is None else _response(200, found, found)


def _response(status: int, body: bytes, tagged: bytes) -> bytes:
    etag = hashlib.md5(tagged, usedforsecurity=False).hexdigest()
    head = f'HTTP/1.1 {status} {_REASON[status]}\r\nETag: "{etag}"\r\nContent-Length: {len(body)}\r\n\r\n'
    return head.encode() + body


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


def main() -> None:
    """Serves until its standard input is closed."""
    with _Server(("127.0.0.1", 0), _Connection) as server:
        print(server.server_address[1], flush=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        sys.stdin.read()
        server.shutdown()


@contextmanager
def running() -> Iterator[str]:
    """The stub as a child process; yields its URL."""
    command = [sys.executable, "-m", "tests.perf.stub"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ
    ) as process:
        assert process.stdin and process.stdout
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        process.stdin.close()


if __name__ == "__main__":
    main()
