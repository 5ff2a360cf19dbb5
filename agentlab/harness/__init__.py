"""The harness: actors with budgets, agents that work for one another, and a log of every cycle.

A *cycle* is one user message handled by an actor; a *turn* of it is one model call with its tool calls, which the loop
calls an iteration. The harness adds nothing to the loop: budgets are arguments, agents are tools, the watchdog is a
scope, the log is a sink.
"""
