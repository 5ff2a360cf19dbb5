"""Sessions for the tests of the analysis: made by the loop, or by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agentlab.conversation import Conversation
from agentlab.loop import run_turn
from agentlab.providers.scripted import ScriptedModel
from agentlab.tools import Tool
from agentlab.transcript import SessionWriter

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SYSTEM = "You are brief."


def tool(name: str, result: str, **settings: Any) -> Tool:
    """A tool that always returns the same."""
    schema = {"type": "object", "properties": {"path": {"type": "string", "description": "Which."}}}
    return Tool(name, "Return a text.", schema, lambda **_: result, **settings)


def record(
    folder: Path,
    prompts: Sequence[str],
    script: Sequence[Any],
    tools: Sequence[Tool] = (),
    *,
    provider: str = "scripted",
    model: str | None = None,
) -> list[Any]:
    """Run turns through the loop into a session folder; returns how they ended."""
    writer = SessionWriter(folder, provider=provider, model=model, system=SYSTEM, tools=tools)
    talk, scripted = Conversation(system=SYSTEM), ScriptedModel(script)
    results = [run_turn(talk, p, scripted, tools=tools, sinks=[writer], store=writer.store) for p in prompts]
    writer.close()
    return results


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def says(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def asks(*calls: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    """An assistant message that makes calls; their ids are `call_0` and so on."""
    made = [
        {"id": f"call_{i}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for i, (name, arguments) in enumerate(calls)
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


def result(text: str, number: int = 0, **more: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"call_{number}", "content": text, **more}
