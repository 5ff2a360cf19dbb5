"""Mistakes made on purpose: a model that misspells tools and mends that by what it is told, and tools that fail.

The model is a rule, no language model. It shows what an error text is worth to a reader that heeds it; how often a real
model does is not shown here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.grading.building.probe import as_message
from agentlab.messages import ToolCall
from agentlab.providers.scripted import ScriptedModel
from agentlab.repair import call_dict
from agentlab.tools import Tool
from agentlab.truncate import truncate_observation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MAX_ITERATIONS = 10
NO_ARGUMENTS = {"type": "object", "properties": {}}


class Turn(msgspec.Struct, frozen=True):
    """A user turn of the model that mends its mistakes.

    Attributes:
        question: What the user asks; each turn has its own.
        tries: The calls that it makes, in this order; the last one is right.
        clue: A word which, in the last observation, lets it skip to the right one.
        answer: What it says in the end.
    """

    question: str
    tries: tuple[ToolCall, ...]
    clue: str
    answer: str


def mending_model(turns: Sequence[Turn]) -> ScriptedModel:
    """A model that tries one call after the other, and makes the right one as soon as an observation names the clue.

    >>> from agentlab.providers.scripted import call
    >>> model = mending_model([Turn("Read it.", (call("reed"), call("raed"), call("read")), "read", "Done.")])
    >>> asked = {"role": "user", "content": "Read it."}
    >>> tried = {"role": "assistant", "tool_calls": [{"function": {"name": "reed"}}]}
    >>> told = {"role": "tool", "name": "reed", "content": "Did you mean 'read'?"}
    >>> [each.name for each in model.call([asked, tried, told], system="", tools=()).tool_calls]
    ['read']
    """
    by_question = {turn.question: turn for turn in turns}

    def reply(messages: Sequence[Any]) -> Any:
        start = max(place for place, each in enumerate(messages) if each["role"] == "user")
        turn = by_question[messages[start]["content"]]
        made = [each for each in messages[start:] if each.get("tool_calls")]
        if made and made[-1]["tool_calls"][0]["function"] == call_dict(turn.tries[-1])["function"]:
            return turn.answer
        seen = [each["content"] for each in messages[start:] if each["role"] == "tool"]
        if seen and mentions(seen[-1], turn.clue):
            return turn.tries[-1]
        return turn.tries[min(len(made), len(turn.tries) - 1)]

    return ScriptedModel(reply, unique_ids=True)


def mentions(text: str, word: str) -> int:
    """How often a text names a word, as a word of its own.

    >>> mentions("an unknown tool: now, or 'now'?", "now"), mentions("read_files", "read_file")
    (2, 0)
    """
    return len(re.findall(rf"(?<!\w){re.escape(word)}(?!\w)", text)) if word else 0


def session(step: Callable[..., Any], turns: Sequence[Turn], *, system: str) -> list[Any]:
    """The messages of a session between the model that mends its mistakes and a loop.

    >>> from agentlab.loop import agent_step
    >>> from agentlab.providers.scripted import call
    >>> turns = [Turn("How many?", (call("wordcont", text="a b"), call("wordcount", text="a b")), "wordcount", "Two.")]
    >>> [each["role"] for each in session(agent_step, turns, system="")]
    ['user', 'assistant', 'tool', 'assistant', 'tool', 'assistant']
    """
    messages: list[Any] = []
    model = mending_model(turns)
    for turn in turns:
        step(turn.question, messages, model, system)
    return messages


def calls_per_turn(messages: Sequence[Any]) -> list[int]:
    """How many tool calls each user turn took.

    >>> asks = {"role": "assistant", "tool_calls": [{}]}
    >>> calls_per_turn([{"role": "user"}, asks, asks, {"role": "user"}, {"role": "assistant"}])
    [2, 0]
    """
    made: list[int] = []
    for each in messages:
        if each["role"] == "user":
            made.append(0)
        else:
            made[-1] += len(each.get("tool_calls", ()))
    return made


def loop_that_says(
    unknown: Callable[[str, list[str]], str], explain: Callable[[Exception], str], tools: Sequence[Tool]
) -> Callable[..., str]:
    """The chapter's loop with other words for its errors.

    Args:
        unknown: What is said of a tool that does not exist, from its name and the names of those that do.
        explain: What is said of an exception.
        tools: What the model may call.

    Returns:
        A function with the signature of `agent_step`.

    >>> from agentlab.grading.building.probe import observations
    >>> from agentlab.providers.scripted import call
    >>> observations(loop_that_says(lambda name, others: f"no {name}", str, []), call("nwo"))
    ['no nwo']
    """
    box = {tool.name: tool for tool in tools}

    def step(user_message: str, messages: list[Any], provider: Any, system: str, on_text_delta: Any = None) -> str:
        messages.append({"role": "user", "content": user_message})
        for _ in range(MAX_ITERATIONS):
            reply = provider.call(messages, system=system, tools=tools, on_text_delta=on_text_delta)
            messages.append(as_message(reply))
            if not reply.tool_calls:
                return str(reply.text)
            for each in reply.tool_calls:
                told = {"role": "tool", "tool_call_id": each.id, "name": each.name}
                messages.append(told | {"content": truncate_observation(_observation(each))})
        return "I stopped: too many iterations."

    def _observation(call: ToolCall) -> str:
        if call.name not in box:
            return unknown(call.name, list(box))
        try:
            return str(box[call.name].run(**call.arguments))  # type: ignore[arg-type]  # scripted calls have a dict
        except Exception as error:  # noqa: BLE001 - whatever a tool raises is an observation
            return explain(error)

    return step


def failing(error: BaseException, name: str = "fail") -> Tool:
    """A tool that raises an exception whenever it is called.

    >>> failing(ValueError("no")).name
    'fail'
    """

    def run() -> str:
        raise error

    return Tool(name, "Fails.", NO_ARGUMENTS, run)


def with_notes(error: BaseException, *notes: str) -> BaseException:
    """The exception, with notes added to it.

    >>> with_notes(ValueError("no digits"), "in row 17").__notes__
    ['in row 17']
    """
    for note in notes:
        error.add_note(note)
    return error


def syntax_error(text: str, path: str = "/srv/agent/plan.py") -> SyntaxError:
    """What Python's compiler raises on a text.

    Args:
        text: Python that cannot be compiled.
        path: The file that it is said to stand in.

    Raises:
        ValueError: It can be compiled.

    >>> syntax_error("plan = (").msg
    "'(' was never closed"
    """
    try:
        compile(text, path, "exec")
    except SyntaxError as error:
        return error.with_traceback(None)
    raise ValueError(f"expected Python that cannot be compiled, found {text!r}")
