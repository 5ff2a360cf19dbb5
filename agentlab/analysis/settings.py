"""What the agent that wrote a log lets its user set about the size of a tool's result."""

from __future__ import annotations

from typing import Final

NOT_SETTABLE: Final = "not settable"

_SETTINGS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "claude-code": (("Bash", "BASH_MAX_OUTPUT_LENGTH (characters)"), ("mcp__", "MAX_MCP_OUTPUT_TOKENS (tokens)")),
    "codex": (("", "tool_output_token_limit (tokens)"),),
    "agentlab": (("", "a policy's limit (--policy)"),),
}
"""By format: beginnings of tools' names, the first that fits, and the setting."""


def setting_of(format: str, tool: str) -> str:  # noqa: A002 - the word of `load`
    """The setting that limits the results of a tool, in the agent that wrote a log.

    Source: the documentation of Claude Code for its environment variables, of Codex for its configuration.

    >>> setting_of("claude-code", "mcp__files__read"), setting_of("claude-code", "Read")
    ('MAX_MCP_OUTPUT_TOKENS (tokens)', 'not settable')
    """
    return next((setting for start, setting in _SETTINGS.get(format, ()) if tool.startswith(start)), NOT_SETTABLE)
