"""Our figures on public logs beside those that an independent prototype got: `python -m tests.field_notes`.

`theirs` holds what the prototype measured, as data. `prototype` does what it did where that is another thing than what
agentlab does: it cuts without a marker, and replays with a fixed prefix and four characters to a token. So a row can
have two figures of ours, one by its definition and one as agentlab gives it.
"""
