"""What the model reads where a result was taken out.

It says three things: the call was done, why its text is not there, how to get it back. Without the first a model makes
the call again; without the last it invents what the text said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentlab.messages import Message

DONE = (
    "[This call of {name} was made and {gave}. To make room for newer messages its text is not shown any more. {back}]"
)
READ_BACK = 'read_result("{key}") returns it.'
CALL_AGAIN = "Only if you need it again, make the call once more."


def placeholder(message: Message, key: str | None = None) -> str:
    """The text that stands for a cleared tool message.

    Args:
        message: The message as it was.
        key: Id in the store by which `read_result` gives it back; None where it does not.

    >>> print(placeholder({"role": "tool", "tool_call_id": "a", "name": "grep", "content": "x" * 700}, "0a1b2c3d4e5f"))
    [This call of grep was made and returned 700 characters. To make room for newer messages its text is not shown any \
more. read_result("0a1b2c3d4e5f") returns it.]
    """
    size = len(message["content"])
    gave = f"gave an error of {size} characters" if message.get("is_error") else f"returned {size} characters"
    back = CALL_AGAIN if key is None else READ_BACK.format(key=key)
    return DONE.format(name=message["name"], gave=gave, back=back)
