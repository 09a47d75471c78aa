"""What the description says that no route says by itself: keys, what all routes take, the names that stand in paths."""

from typing import Any

Schema = dict[str, Any]

ABOUT = """\
Agent memory in the user's own bucket.

Every good answer is `{"status": "ok", "result": …, "time": …}`, every refusal `{"status": "error", "error": \
{"code", "message", "details", "retryable", "request_id"}}`. What is `retryable` carries `Retry-After`. A body \
is a JSON object, whatever its Content-Type says, and no body is an empty one. What is another tenant's is 404, \
and so is a path or a method that is no route.

The gateway in front answers by itself, `{"message": …}`, what never reaches a function: more than 10 MB (413), \
more requests than it takes (429), a function that cannot start or does not end (500, 503)."""

SECURITY: Schema = {
    "ApiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    "Bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "A key, or a JSON web token where those are on.",
    },
}
_ID: Schema = {"type": "string", "minLength": 1, "maxLength": 128, "pattern": r"^[^\x00-\x1f\x7f/\\?]+$"}
_NAME: Schema = {"type": "string", "maxLength": 128}  # an empty header is none


def _header(name: str, about: str, schema: Schema) -> Schema:
    return {"name": name, "in": "header", "description": about, "schema": schema}


# of every route of the API
SHARED: Schema = {
    "Account": _header(
        "X-Strandline-Account",
        "The account to act in: any for a root key, which then names the user too; its own for an admin key; a user"
        " key's own always wins. Alias: X-OpenViking-Account.",
        _NAME,
    ),
    "User": _header(
        "X-Strandline-User",
        "The user to act as, for admin and root keys. Alias: X-OpenViking-User.",
        _NAME,
    ),
    "Telemetry": {
        "name": "telemetry",
        "in": "query",
        "description": 'Whether the envelope tells what the answer took. In a body: `"telemetry": true`.',
        "schema": {"type": "boolean", "default": False},
    },
}
# of every POST and PUT
KEYED: Schema = {
    "IdempotencyKey": _header(
        "Idempotency-Key",
        "New for each request, the same when it is sent again: within 24 hours that answers what the first attempt did,"
        " with `Idempotent-Replay: true`, and does nothing. With another body it is 409.",
        {"type": "string", "minLength": 1, "maxLength": 255},
    ),
}
# of the routes that name them: `@answers(…, headers=("IfMatch",))`
OWN: Schema = {
    "ActorPeer": _header(
        "X-Strandline-Actor-Peer",
        "The peer that the user acts as: memories of its other peers are out of view. Alias: X-OpenViking-Actor-Peer.",
        _NAME,
    ),
    "IfMatch": _header(
        "If-Match",
        "Only if the memory still has this SHA-256, which reading it answered as ETag; `*`: only if there is one.",
        {"type": "string", "minLength": 1},
    ),
    "IfNoneMatch": _header("If-None-Match", "Only if there is no such memory.", {"const": "*"}),
}
PARAMETERS: Schema = {**SHARED, **KEYED, **OWN}

# What a name in a path or a query is, where the route's signature only says that it is text.
NAMED: Schema = {
    "session_id": {**_ID, "description": "A session's id."},
    "account_id": {**_ID, "description": "An account's id."},
    "user_id": {**_ID, "description": "A user's id."},
    "archive_name": {"type": "string", "description": "An archive's id, as `archive_001`."},
    "as_of": {
        "type": "string",
        "format": "date-time",
        "description": "As it was at that time: of the system, not of the conversation. One to come is the present.",
    },
    "cursor": {"type": "string", "description": "The `next_cursor` of the page before."},
    "path": {
        "type": "string",
        "pattern": r"\.md$",
        "description": "A memory's path below the user's memories, slashes as they are: `preferences/music.md`.",
    },
    "uri": {
        "type": "string",
        "pattern": "^viking://",
        "description": "An address of the user's own: `viking://user/<user>/memories/…` or `…/sessions/…`.",
    },
}
