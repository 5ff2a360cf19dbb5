"""Commands that an agent wrote into its text, as calls: for agents that parse replies instead of offering tools.

The command leaves the text and becomes the argument of a call, so that it counts once, what it cites is found, and the
message after it is its observation.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from agentlab.tokens import valid_text

_FENCED = re.compile(r"```[^\n`]*\n(.*?)\n?```", re.DOTALL)


def calling(message: dict[str, Any], commands: list[tuple[str, str]], prefix: str) -> dict[str, Any]:
    r"""An assistant message whose commands are calls.

    Args:
        message: In the chapter's shape, without calls.
        commands: For each the name of the tool, and the command as it stands in the text.
        prefix: Begins the ids of the calls.

    >>> said = {"role": "assistant", "content": "I look.\n```bash\nls -a\n```"}
    >>> calling(said, [("bash", "ls -a")], "step-1")["content"]
    'I look.'
    >>> calling(said, [("bash", "ls -a")], "step-1")["tool_calls"][0]["function"]
    {'name': 'bash', 'arguments': '{"command":"ls -a"}'}
    """
    text, calls = message["content"], []
    for number, (name, command) in enumerate(commands):
        text = _without(text, command)
        arguments = msgspec.json.encode({"command": valid_text(command)}).decode()
        call_id = f"{prefix}-{number}" if number else prefix
        calls.append({"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}})
    return {**message, "content": text, "tool_calls": calls}


def fenced(text: str, *languages: str) -> list[str]:
    r"""The code blocks of a text in one of some languages.

    >>> fenced("First\n```bash\nls\n```\nor\n```python\n1\n```", "bash")
    ['ls']
    """
    return [
        match.group(1) for match in _FENCED.finditer(text) if match.group(0)[3:].split("\n", 1)[0].strip() in languages
    ]


def _without(text: str, command: str) -> str:
    """The text before and after the block that holds a command."""
    wanted = command.strip()
    for match in _FENCED.finditer(text):
        if match.group(1).strip() == wanted:
            return "\n".join(part for part in (text[: match.start()].rstrip(), text[match.end() :].strip()) if part)
    return text.replace(wanted, "", 1).rstrip() if wanted else text
