"""Readers of session logs: one module per format, one entry in `registry.IMPORTERS` each.

- `peek`: looks at the beginning of a file, so that the formats can say whether it is theirs
- `shape`: brings foreign messages into the chapter's shape
- `own`: agentlab's session folder
- `claude_code`, with `claude_log`, `claude_graph`, `claude_sent` and `claude_words`: Claude Code's session logs
- `timeline`, `prompts`: a session on the way, and which of its messages each call is sent
- `codex`, with `codex_lines`, `codex_items` and `codex_log`: Codex CLI's rollouts
- `pi`, with `pi_messages`: pi's sessions
- `blocks`, `images`: Anthropic's content blocks and usage; what images take
- `anthropic_messages`: Anthropic's messages, as requests, responses, a list or JSON lines
- `taubench`; `tau2`, with `tau2_ticks`: tau-bench's and tau2-bench's runs
- `swe_agent`, with `swe_agent_history` and `sent`: SWE-agent's trajectories, with the exact inputs where they are there
- `mini_swe_agent`: mini-swe-agent's trajectories
- `openhands`, with `openhands_events` and `openhands_usage`: OpenHands' runs
- `inspect_log`, with `inspect_sample` and `inspect_messages`; `nanobot`; `otel`: Inspect, nanobot, OpenTelemetry
- `commands`, `fields`, `litellm_usage`: commands in texts as calls; doubtful values; usage as LiteLLM reports it
- `completions`: recorded calls of Chat Completions, each with its request and response
- `chat`, with `chat_messages` and `answers`: OpenAI's chat messages, as a list, an object or JSON lines
- `chat_lines`, `spoken`, `placing`: the lines of chat messages as facts, without sessions
- `registry`: which format it is, and `load`
"""

from __future__ import annotations

from agentlab.analysis.importers.chat import read_messages
from agentlab.analysis.importers.registry import IMPORTERS, load

__all__ = ["IMPORTERS", "load", "read_messages"]
