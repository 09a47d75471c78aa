"""What clients made for OpenViking may ask for and Strandline does not do: said in so many words, rather than "no such
route". A path stands for everything below it; `*` is any one segment."""

from strandline.domain.errors import Unimplemented

_REASONS = {
    "resources": "there are no resources: sessions are committed, and memories are written",
    "skills": "skills are not imported: a skill is a memory, PUT /api/v1/memories/skills/<name>.md",
    "watches": "nothing is watched",
    "system": "nothing is waited for: a commit answers a task, GET /api/v1/tasks/<task_id>",
    "observer": "there is no server to observe: GET /health; the rest is in the account's own CloudWatch",
    "pack": "there is no package format: memories are markdown in the bucket, GET /api/v1/memories?view=full",
    "snapshot": "there are no snapshots: the bucket keeps every version of a memory",
    "acl": "there are no grants: a memory is its user's own",
    "compile": "nothing is compiled",
    "openviking-assets": "there are no assets",
    "admin/migrate": "there is nothing to migrate",
    "admin/agent-evolution": "learning is switched on and off by the deployment (LearningEnabled)",
    "admin/accounts/*/groups": "there are no groups",
    "admin/accounts/*/settings": "accounts have no settings",
    "content/write": "write a memory: PUT /api/v1/memories/<path>",
    "content/batch-write": "write memories one by one: PUT /api/v1/memories/<path>",
    "content/set_tags": "there are no tags",
    "content/reindex": "the index follows every change by itself",
    "fs": "the tree of addresses is only read: write and delete memories by /api/v1/memories/<path>",
    "search/grep": "patterns are not searched: POST /api/v1/search/find",
    "search/glob": "patterns are not matched: GET /api/v1/fs/tree, GET /api/v1/memories?prefix=",
    "sessions/*/config": "a session's policies are fixed when it is created",
    "sessions/*/extract": "memories are extracted from archives: POST /api/v1/sessions/<session_id>/commit",
}


def unserved(path: str) -> Unimplemented | None:
    """The refusal of a path below `/api/v1/` that is known and not served; None for any other."""
    asked = path.removeprefix("/api/v1/").split("/")
    for known, reason in _REASONS.items():
        parts = known.split("/")
        if all(part in ("*", given) for part, given in zip(parts, asked, strict=False)) and len(asked) >= len(
            parts
        ):
            return Unimplemented(reason, resource="/".join(asked)[:200])
    return None
