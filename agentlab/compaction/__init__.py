"""Forgetting on purpose: what a request no longer sends, decided by the rules of a policy.

`micro` takes the texts of old tool results out, `consolidate` lets a summary stand for old turns, `auto` says when.
They read messages and record decisions (`Conversation.decide`); no message is ever changed, so whatever a rule does,
the session folder and the transcript keep all of it. The rules themselves are data, in `agentlab.policy`.
"""
