"""smolagents: `ToolCallingAgent` with a scripted model, printing off."""

from __future__ import annotations

import sys
from typing import Any

from benchmarks.script import FINAL, TASK
from benchmarks.subjects import Subject


class Smolagents(Subject):
    """The agent's final answer is a tool call of its own."""

    def build(self) -> None:
        """The model, the tool and the agent."""
        from smolagents import LogLevel, Tool, ToolCallingAgent
        from smolagents.models import (
            ChatMessage,
            ChatMessageToolCall,
            ChatMessageToolCallFunction,
            MessageRole,
            Model,
        )
        from smolagents.monitoring import TokenUsage

        script = self.script

        class Scripted(Model):
            def generate(self, messages: Any, **settings: Any) -> ChatMessage:
                n = script.next_call()
                name, arguments = ("final_answer", {"answer": FINAL}) if n is None else ("echo", {"n": n})
                function = ChatMessageToolCallFunction(name=name, arguments=arguments)
                return ChatMessage(
                    role=MessageRole.ASSISTANT,
                    content="",
                    tool_calls=[ChatMessageToolCall(id=f"call_{n}", type="function", function=function)],
                    token_usage=TokenUsage(input_tokens=1000, output_tokens=20),
                )

        class Echo(Tool):
            name = "echo"
            description = "Return the text for item n."
            inputs = {"n": {"type": "integer", "description": "item"}}  # noqa: RUF012 - its own way to say it
            output_type = "string"

            def forward(self, n: int) -> str:
                return script.echo(n)

        self.agent = ToolCallingAgent(
            tools=[Echo()], model=Scripted(model_id="scripted"), max_steps=sys.maxsize, verbosity_level=LogLevel.OFF
        )

    def run(self, iterations: int) -> Any:
        """A fresh memory."""
        self._ask(reset=True)
        return self.agent.memory

    def start_session(self) -> None:
        """The next turn begins anew."""
        self.fresh = True

    def turn(self) -> None:
        """One call and a final answer."""
        self._ask(reset=self.fresh)
        self.fresh = False

    def _ask(self, *, reset: bool) -> None:
        if self.agent.run(TASK, reset=reset) != FINAL:
            raise RuntimeError("the run ended otherwise")
