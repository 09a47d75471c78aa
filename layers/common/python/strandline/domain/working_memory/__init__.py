"""The working memory: one document a session that stands for the messages up to a seq, kept current as they come.

    document before ─┐
                     ├─▶ update (rules, or a language model's edits) ─▶ within limits ─▶ document ─▶ cut to a budget
    new messages ────┘     each new message is read once                                       (what a context has)

A document never grows over its limits and never forgets in silence: what a section had to let go of is counted in it.
"""
