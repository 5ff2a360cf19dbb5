"""pydantic-ai: `Agent` with a `FunctionModel` that says its usage, as a provider would."""

from __future__ import annotations

import asyncio
from typing import Any

from benchmarks.script import FINAL, SYSTEM, TASK
from benchmarks.subjects import Subject


class PydanticAi(Subject):
    """On an event loop of its own, so that none is made per run."""

    def build(self) -> None:
        """The model, the tool and the agent."""
        from pydantic_ai import Agent
        from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
        from pydantic_ai.models.function import FunctionModel
        from pydantic_ai.usage import RequestUsage, UsageLimits

        script = self.script

        async def scripted(messages: Any, info: Any) -> ModelResponse:
            n = script.next_call()
            part = TextPart(FINAL) if n is None else ToolCallPart("echo", {"n": n}, tool_call_id=f"call_{n}")
            return ModelResponse(parts=[part], usage=RequestUsage(input_tokens=1000, output_tokens=20))

        async def echo(n: int) -> str:
            """Return the text for item n."""
            return script.echo(n)

        self.agent = Agent(FunctionModel(scripted), system_prompt=SYSTEM)
        self.agent.tool_plain(echo)
        self.limits = UsageLimits(request_limit=None)
        self.loop = asyncio.new_event_loop()

    def run(self, iterations: int) -> Any:
        """A fresh history."""
        return self._ask(None)

    def start_session(self) -> None:
        """The next turn begins anew."""
        self.history: Any = None

    def turn(self) -> None:
        """One call and a final text."""
        self.history = self._ask(self.history).all_messages()

    def _ask(self, history: Any) -> Any:
        result = self.loop.run_until_complete(self.agent.run(TASK, message_history=history, usage_limits=self.limits))
        if result.output != FINAL:
            raise RuntimeError("the run ended otherwise")
        return result
