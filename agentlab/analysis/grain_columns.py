"""The columns of the four grains: name, type, unit and meaning of each, and whether it is measured."""

from __future__ import annotations

from agentlab.analysis.facts import KINDS, METHOD, ROLES
from agentlab.analysis.frames import Column

TIME = "datetime64[ns, UTC]"
_ESTIMATE = f"{METHOD} where it is not measured"

_WHOSE = [
    Column("session", "string", "", "id of the session"),
    Column("format", "string", "", "name of the reader"),
    Column("path", "string", "", "file or folder"),
]
TOKENS = [
    Column("prompt_tokens", "int64", "prompt tokens", f"all input, cached included, summed over calls; {_ESTIMATE}"),
    Column("output_tokens", "int64", "output tokens", f"summed over calls; {_ESTIMATE}"),
    Column("cache_read_tokens", "int64", "prompt tokens", "read from the provider's cache, where the log says so"),
    Column("cache_write_tokens", "int64", "prompt tokens", "written to the provider's cache, where the log says so"),
    Column("cache_write_1h_tokens", "int64", "prompt tokens", "of these, kept for an hour"),
]
_FLAGS = [
    Column("prompt_measured", "bool", "", "True: the provider counted all of prompt_tokens; False: some is estimated"),
    Column("output_measured", "bool", "", "True: the provider counted all of output_tokens; False: some is estimated"),
]
_COUNTS = [
    Column("calls", "int64", "calls", "model calls that returned"),
    Column("messages", "int64", "messages", "all that was logged"),
    Column("tool_calls", "int64", "tool calls", "that the model asked for"),
    Column("errors", "int64", "messages", "tool results that the log marks as errors"),
]
_COST = Column("cost", "float64", "US dollars", "where the log says so")
_SPAN = [
    Column("started", TIME, "", "time of the first message that has one"),
    Column("ended", TIME, "", "time of the last message that has one"),
]

_SESSIONS = [
    *_WHOSE,
    Column("provider", "string", "", "who answered, where the log says so"),
    Column("model", "string", "", "which model, where the log says so"),
    Column("parent", "string", "", "id of the session whose call started this one"),
    Column("turns", "int64", "turns", "user turns"),
    *_COUNTS,
    *TOKENS,
    *_FLAGS,
    Column("largest_prompt", "int64", "prompt tokens", f"of any call; {_ESTIMATE}"),
    Column("aside_prompt_tokens", "int64", "prompt tokens", "of calls beside the conversation, such as for summaries"),
    Column("aside_output_tokens", "int64", "output tokens", "of calls beside the conversation"),
    _COST,
    *_SPAN,
    Column("labels", "string", "", "what else the log says of it, as JSON"),
]
_TURNS = [
    *_WHOSE,
    Column("turn", "int64", "", "user turn, from 1"),
    Column("iterations", "int64", "iterations", "highest number among its messages"),
    *_COUNTS,
    *TOKENS,
    *_FLAGS,
    Column("context", "int64", "prompt tokens", f"of the turn's last call; {_ESTIMATE}"),
    _COST,
    Column("status", "string", "", "how it ended, where the log says so"),
    Column("reason", "string", "", "why, where the log says so"),
    *_SPAN,
]
_CALLS = [
    *_WHOSE,
    Column("call", "int64", "", "number within the session, from 1"),
    Column("turn", "int64", "", "user turn, from 1"),
    Column("iteration", "int64", "", "number within the turn, from 1"),
    Column("messages", "int64", "messages", "in its prompt"),
    Column("tool_calls", "int64", "tool calls", "that it asked for"),
    *TOKENS,
    *_FLAGS,
    Column("model", "string", "", "which model, where the log says so"),
    Column("stop_reason", "string", "", "why it stopped, where the log says so"),
    _COST,
    Column("time", TIME, "", "when the reply came, where the log says so"),
]
_MESSAGES = [
    *_WHOSE,
    Column("message", "int64", "", "number within the session, from 1"),
    Column("turn", "int64", "", "user turn; 0 before the first"),
    Column("iteration", "int64", "", "model call of the turn; 0 for the user's message"),
    Column("role", "string", "", f"one of {', '.join(ROLES)}"),
    Column("kind", "string", "", f"one of {', '.join(KINDS)}"),
    Column("tool", "string", "", "the tool that a result is of, or the tools that a call names"),
    Column("chars", "int64", "characters", "of its text"),
    Column("call_chars", "int64", "characters", "of the names and arguments of its calls"),
    Column("tool_calls", "int64", "tool calls", "in it"),
    Column("tokens", "int64", "tokens", f"of text and calls, {METHOD}, and of images; always estimated"),
    Column("image_tokens", "int64", "tokens", "of images, by the provider's rule for sizes; estimated"),
    Column("thinking_chars", "int64", "characters", "of what was thought before; output, and never sent"),
    Column("original_chars", "Int64", "characters", "of a result before it was cut, where the log says so"),
    Column("is_error", "bool", "", "whether the log marks it as an error"),
    Column("carried", "int64", "calls", "that were sent it: 1 for the first time, the rest are re-sent"),
    Column("time", TIME, "", "when it was logged, where the log says so"),
]
GRAINS: dict[str, list[Column]] = {
    "sessions": _SESSIONS,
    "turns": _TURNS,
    "calls": _CALLS,
    "messages": _MESSAGES,
}
"""Each grain with its columns."""
