"""Compaction: how the messages of a session become a context that fits its model.

    visible messages ──budget──▶ ──snip──▶ ──micro──▶ estimate ──fit──▶ what the model is given
                        (decisions, each made once and kept)     │
                                                                 └─ at `warning`: an auto compaction is asked for

Each stage is a view: stored messages never change. What a stage decides of a tool result is kept in the session's
`ContextState`, so that the same messages are shown in the same way ever after, by whatever function.
"""
