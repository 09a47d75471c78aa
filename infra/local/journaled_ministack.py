"""ministack whose tables and queues survive being killed. Runs in the emulators' own environment.

ministack keeps its state in memory and saves it when it is stopped in good order; what a SIGKILL interrupts is lost.
Here every write to DynamoDB or SQS is put into a SQLite file before it is answered, and a table or queue that is
created again gets back what the file holds. SQLite's write-ahead log survives the death of a process without syncing
the disk.

What is kept of a queue are its messages that were not deleted. Receive counts start anew, and a message that had been
moved to a dead-letter queue comes back to its own.
"""

import asyncio
import json
import os
import sqlite3
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from hypercorn.asyncio import serve  # type: ignore[import-not-found]  # not in the environment that is checked
from hypercorn.config import Config  # type: ignore[import-not-found]
from ministack.app import app as ministack  # type: ignore[import-not-found]

Scope = dict[str, Any]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[dict[str, Any]]]

DYNAMODB = "DynamoDB_20120810."
SQS = "AmazonSQS."
BATCH = 25  # items in a BatchWriteItem
RETENTION_SECONDS = 4 * 86400  # of a message, as SQS's default

SCHEMA = """
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = OFF;
    CREATE TABLE IF NOT EXISTS items (name TEXT, key TEXT, item TEXT, PRIMARY KEY (name, key));
    CREATE TABLE IF NOT EXISTS messages (id TEXT PRIMARY KEY, queue TEXT, request TEXT, sent REAL);
"""


class Journal:
    """The SQLite file."""

    def __init__(self, path: str) -> None:
        self._database = sqlite3.connect(path, isolation_level=None)
        self._database.executescript(SCHEMA)

    def put_item(self, table: str, key: str, item: Any) -> None:
        self._database.execute("REPLACE INTO items VALUES (?, ?, ?)", (table, key, json.dumps(item)))

    def delete_item(self, table: str, key: str) -> None:
        self._database.execute("DELETE FROM items WHERE name = ? AND key = ?", (table, key))

    def items(self, table: str) -> list[Any]:
        rows = self._database.execute("SELECT item FROM items WHERE name = ?", (table,))
        return [json.loads(item) for (item,) in rows]

    def forget_expired(self, table: str, attribute: str) -> None:
        """Removes the items whose time to live has passed; ministack removes its own."""
        self._database.execute(
            "DELETE FROM items WHERE name = ? AND CAST(json_extract(item, ?) AS REAL) < ?",
            (table, f'$."{attribute}".N', time.time()),
        )

    def put_message(self, message_id: str, queue: str, request: Any) -> None:
        row = (message_id, queue, json.dumps(request), time.time())
        self._database.execute("REPLACE INTO messages VALUES (?, ?, ?, ?)", row)

    def delete_message(self, message_id: str) -> None:
        self._database.execute("DELETE FROM messages WHERE id = ?", (message_id,))

    def take_messages(self, queue: str) -> list[Any]:
        """The unexpired messages of a queue, oldest first, removed from the file."""
        found = self._database.execute(
            "SELECT request, sent FROM messages WHERE queue = ? ORDER BY rowid", (queue,)
        )
        kept = [json.loads(request) for request, sent in found if sent > time.time() - RETENTION_SECONDS]
        self._database.execute("DELETE FROM messages WHERE queue = ?", (queue,))
        return kept


class Journaled:
    """An ASGI application: ministack, with writes kept in a journal."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._keys: dict[str, list[str]] = {}  # table → its key attributes
        self._received: dict[str, str] = {}  # receipt handle → message id
        self._created: set[str] = set()
        self._order = asyncio.Lock()
        self._after = {
            DYNAMODB + "CreateTable": self._table_created,
            DYNAMODB + "UpdateTimeToLive": self._expiry_set,
            DYNAMODB + "PutItem": self._item_written,
            DYNAMODB + "UpdateItem": self._item_written,
            DYNAMODB + "DeleteItem": self._item_written,
            DYNAMODB + "BatchWriteItem": self._items_written,
            DYNAMODB + "TransactWriteItems": self._items_written,
            SQS + "CreateQueue": self._queue_created,
            SQS + "SendMessage": self._message_sent,
            SQS + "SendMessageBatch": self._messages_sent,
            SQS + "ReceiveMessage": self._messages_received,
            SQS + "DeleteMessage": self._message_deleted,
            SQS + "DeleteMessageBatch": self._messages_deleted,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on; what it wrote is in the journal before it is answered."""
        headers = dict(scope.get("headers", ()))
        after = self._after.get(headers.get(b"x-amz-target", b"").decode())
        if after is None:
            await ministack(scope, receive, send)
            return
        request = await _body(receive)
        events = await _call(scope, request)
        answer = b"".join(event.get("body", b"") for event in events)
        if events[0]["status"] == 200:
            await after(scope, json.loads(request), json.loads(answer or b"{}"))
        for event in events:
            await send(event)

    async def _table_created(self, scope: Scope, request: Any, _answer: Any) -> None:
        table = request["TableName"]
        self._keys[table] = [each["AttributeName"] for each in request["KeySchema"]]
        items = self._journal.items(table)
        for first in range(0, len(items), BATCH):
            puts = [{"PutRequest": {"Item": item}} for item in items[first : first + BATCH]]
            await _ask(scope, DYNAMODB + "BatchWriteItem", {"RequestItems": {table: puts}})

    async def _expiry_set(self, _scope: Scope, request: Any, _answer: Any) -> None:
        self._journal.forget_expired(
            request["TableName"], request["TimeToLiveSpecification"]["AttributeName"]
        )

    async def _item_written(self, scope: Scope, request: Any, _answer: Any) -> None:
        await self._keep(scope, request["TableName"], request.get("Key") or request["Item"])

    async def _items_written(self, scope: Scope, request: Any, _answer: Any) -> None:
        for table, item in _written(request):
            await self._keep(scope, table, item)

    async def _keep(self, scope: Scope, table: str, item: Any) -> None:
        """Copies an item as it is now. Under a lock, or an older copy could overtake a newer one."""
        key = {name: item[name] for name in self._keys[table]}
        name = json.dumps(key, sort_keys=True)
        async with self._order:
            question = {"TableName": table, "Key": key, "ConsistentRead": True}
            found = await _ask(scope, DYNAMODB + "GetItem", question)
            if "Item" in found:
                self._journal.put_item(table, name, found["Item"])
            else:
                self._journal.delete_item(table, name)

    async def _queue_created(self, scope: Scope, request: Any, answer: Any) -> None:
        queue = request["QueueName"]
        if queue in self._created:
            return
        self._created.add(queue)
        for message in self._journal.take_messages(queue):
            again = {**message, "QueueUrl": answer["QueueUrl"]}
            sent = await _ask(scope, SQS + "SendMessage", again)
            self._journal.put_message(sent["MessageId"], queue, message)

    async def _message_sent(self, _scope: Scope, request: Any, answer: Any) -> None:
        self._journal.put_message(answer["MessageId"], _queue(request), request)

    async def _messages_sent(self, _scope: Scope, request: Any, answer: Any) -> None:
        entries = {each["Id"]: each for each in request["Entries"]}
        for sent in answer.get("Successful", ()):
            message = {key: value for key, value in entries[sent["Id"]].items() if key != "Id"}
            self._journal.put_message(sent["MessageId"], _queue(request), message)

    async def _messages_received(self, _scope: Scope, _request: Any, answer: Any) -> None:
        self._received |= {each["ReceiptHandle"]: each["MessageId"] for each in answer.get("Messages", ())}

    async def _message_deleted(self, _scope: Scope, request: Any, _answer: Any) -> None:
        self._journal.delete_message(self._received.pop(request["ReceiptHandle"], ""))

    async def _messages_deleted(self, scope: Scope, request: Any, answer: Any) -> None:
        for entry in request["Entries"]:
            await self._message_deleted(scope, entry, answer)


def _queue(request: Any) -> str:
    return str(request["QueueUrl"].rpartition("/")[2])


def _written(request: Any) -> Iterator[tuple[str, Any]]:
    """Table and key (or whole item) of everything a batch or a transaction writes."""
    for table, writes in request.get("RequestItems", {}).items():
        for write in writes:
            yield (
                table,
                write["PutRequest"]["Item"] if "PutRequest" in write else write["DeleteRequest"]["Key"],
            )
    for action in request.get("TransactItems", ()):
        for kind in action.keys() & {"Put", "Update", "Delete"}:
            yield action[kind]["TableName"], action[kind].get("Key") or action[kind]["Item"]


async def _body(receive: Receive) -> bytes:
    body = b""
    more = True
    while more:
        event = await receive()
        body += event.get("body", b"")
        more = event.get("more_body", False)
    return body


async def _call(scope: Scope, body: bytes) -> list[dict[str, Any]]:
    """ministack's answer to a request whose body is already here."""
    events: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(event: dict[str, Any]) -> None:
        events.append(event)

    await ministack(scope, receive, send)
    return events


async def _ask(scope: Scope, target: str, request: Any) -> Any:
    """One more operation in the name of the same caller. Raises RuntimeError when it fails."""
    body = json.dumps(request).encode()
    own = {b"x-amz-target": target.encode(), b"content-length": str(len(body)).encode()}
    headers = [(name, value) for name, value in scope["headers"] if name not in own]
    events = await _call({**scope, "headers": [*headers, *own.items()]}, body)
    answer = b"".join(event.get("body", b"") for event in events)
    if events[0]["status"] != 200:
        raise RuntimeError(f"{target}: {answer.decode(errors='replace')}")
    return json.loads(answer or b"{}")


def main(path: str) -> None:
    """Serves on BIND_HOST and GATEWAY_PORT, ministack's own settings; `path` is the journal."""
    config = Config()
    config.bind = [f"{os.environ['BIND_HOST']}:{os.environ['GATEWAY_PORT']}"]
    config.keep_alive_timeout = 75
    asyncio.run(serve(Journaled(Journal(path)), config))


if __name__ == "__main__":
    main(sys.argv[1])
