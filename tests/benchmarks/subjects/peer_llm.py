"""simonw/llm: `Conversation.chain` with a scripted model, nothing logged."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from benchmarks.script import FINAL, SYSTEM, TASK
from benchmarks.subjects import Subject

if TYPE_CHECKING:
    from collections.abc import Iterator


class Llm(Subject):
    """Through its Python API."""

    def build(self) -> None:
        """The model and the tool."""
        os.environ["LLM_USER_PATH"] = str(self.folder)
        import llm

        script = self.script

        class Scripted(llm.Model):
            model_id = "scripted"
            supports_tools = True

            def execute(self, prompt: Any, stream: Any, response: Any, conversation: Any) -> Iterator[str]:
                n = script.next_call()
                response.set_usage(input=1000, output=20)
                if n is not None:
                    response.add_tool_call(llm.ToolCall(name="echo", arguments={"n": n}, tool_call_id=f"call_{n}"))
                yield FINAL if n is None else ""

        def echo(n: int) -> str:
            """Return the text for item n."""
            return script.echo(n)

        self.model, self.tools = Scripted(), [llm.Tool.function(echo)]

    def run(self, iterations: int) -> Any:
        """A fresh conversation."""
        self.start_session()
        return self._chain(iterations)

    def start_session(self) -> None:
        """A conversation that goes on."""
        self.conversation = self.model.conversation(tools=self.tools)

    def turn(self) -> None:
        """One call and a final text."""
        self._chain(1)

    def _chain(self, iterations: int) -> Any:
        chain = self.conversation.chain(TASK, system=SYSTEM, chain_limit=iterations + 5)
        if chain.text().strip() != FINAL:
            raise RuntimeError("the run ended otherwise")
        return chain
