"""What a check looks at: the observations that a student's own loop shows, and the course's data.

Nothing here knows more of the loop than the chapter's signature, so that a loop typed from the book is looked at as
well as one of ours.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentlab.providers.scripted import ScriptedModel
from agentlab.repair import call_dict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from agentlab.messages import Message, Reply, ToolCall


def as_message(reply: Reply) -> Message:
    """The message in which a reply of the model goes into the history.

    >>> from agentlab.messages import Reply
    >>> as_message(Reply("Hello."))
    {'role': 'assistant', 'content': 'Hello.'}
    """
    message: Message = {"role": "assistant", "content": reply.text}
    if reply.tool_calls:
        message["tool_calls"] = [call_dict(each) for each in reply.tool_calls]
    return message


def observations(step: Callable[..., Any], *calls: ToolCall, provider: Any = None) -> list[str]:
    """The texts that a loop shows the model of some calls, made one after the other.

    Args:
        step: `step(user_message, messages, provider, system)`, which appends to `messages` or to a list of its own.
        calls: As `agentlab.providers.scripted.call` makes them.
        provider: A provider that makes the calls; None takes a scripted one.

    Raises:
        AssertionError: The loop showed another number of observations.

    >>> from agentlab.loop import agent_step
    >>> from agentlab.providers.scripted import call
    >>> observations(agent_step, call("wordcount", text="to be or"))
    ['3']
    """
    model = provider or ScriptedModel([*calls, "Done."], unique_ids=True, keep_requests=True)
    messages: list[dict[str, Any]] = []
    step("Go on.", messages, model, "You are being checked.")
    sent = model.requests[-1].messages if getattr(model, "requests", None) else messages
    seen = [message["content"] for message in sent if message.get("role") == "tool"]
    if len(seen) != len(calls):
        raise AssertionError(
            f"expected an observation for each of {len(calls)} calls, and the last request to the model holds "
            f"{len(seen)}: look at the loop, which appends a message of the role 'tool' for every call"
        )
    return seen


def data(name: str) -> Path:
    """A file of the course's data, as `observations/build.log`.

    Raises:
        FileNotFoundError: It is not part of this installation.

    >>> data("observations/build.log").name
    'build.log'
    """
    package = Path(__file__).resolve().parents[2]
    for folder in (package / "materials" / "data", package.parent / "data"):
        if (folder / name).exists():
            return folder / name
    raise FileNotFoundError(f"data/{name} is not part of this installation: install agentlab-observe again")


@contextmanager
def only(tools: list[Any], *instead: Any) -> Iterator[None]:
    """Put other tools into the list that a loop looks its tools up in, for a while.

    >>> box = ["now"]
    >>> with only(box, "lorem"):
    ...     print(box)
    ['lorem']
    >>> box
    ['now']
    """
    kept = list(tools)
    tools[:] = instead
    try:
        yield
    finally:
        tools[:] = kept


class ActsAs(ScriptedModel):
    """A scripted model that goes by another provider's name, and counts tokens as that one does.

    Args:
        other: A provider with a `name`, and with `count_tokens` where it has an endpoint for that.
        script: As `ScriptedModel` takes it.

    >>> from types import SimpleNamespace
    >>> ActsAs(SimpleNamespace(name="openai"), ["Done."]).name
    'openai'
    """

    def __init__(self, other: Any, script: Sequence[Any]) -> None:
        super().__init__(script, unique_ids=True, keep_requests=True)
        self.name = other.name
        if hasattr(other, "count_tokens"):
            self.count_tokens = other.count_tokens
