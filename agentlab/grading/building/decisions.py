"""Decisions of a production agent about tool results, beside the chapter's, each small enough to be read.

They are those of nanobot at commit 5d7f3f27510495f30f39696177d9bac53aa171f9 (2026-05-13), in our own words and code;
its newest code decides otherwise. A decision takes one of three places: `shorten` makes of a result what the model is
shown, when it comes; `view` makes of the messages what the next call is sent; `rest` makes of the messages what a
session goes on with after a pause. What it does not say stays as it is.

For the real rules, as data that a run takes: `agentlab policies show nanobot-2026-05`.
"""

from __future__ import annotations

from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from agentlab.truncate import cut

CHATTY = ("read_file", "exec", "grep", "glob", "web_search", "web_fetch", "list_dir")
"""Tools whose old results may go."""

IDLE_MINUTES = 15
"""A pause of so many counts as a rest here. In nanobot it is a setting, and off unless somebody sets it."""


def middle(text: str, limit: int = 4_000) -> str:
    """Cut a text in the middle, as the chapter does.

    >>> len(middle("x" * 9_000))
    4000
    """
    return cut(text, limit, "middle_snip").text


def tail(text: str, limit: int = 4_000) -> str:
    r"""Keep the head of a text and say that it goes on: the note comes on top of the limit.

    >>> tail("alpha beta", 5)
    'alpha\n[...the rest is not shown...]'
    """
    return text if len(text) <= limit else f"{text[:limit]}\n[...the rest is not shown...]"


def on_disk(text: str, over: int = 16_000, preview: int = 1_200, folder: str = "tool-results") -> str:
    """Write a long text to a file, and show its beginning and where the whole is.

    Raises:
        OSError: The disk refuses.
    """
    if len(text) <= over:
        return text
    name = sha256(text.encode()).hexdigest()[:12]
    Path(folder).mkdir(exist_ok=True)
    Path(folder, name).write_text(text, encoding="utf-8")
    return f'{text[:preview]}\n[...{len(text)} characters; fetch("{name}", start, end) returns any part of them...]'


def fetch(name: str, start: int = 0, end: int | None = None, folder: str = "tool-results") -> str:
    """Return a part of a text that `on_disk` wrote.

    Raises:
        OSError: There is no such text.
    """
    return Path(folder, name).read_text(encoding="utf-8")[start:end]


def placeholders(messages: list[Any], keep: int = 10, least: int = 500) -> list[Any]:
    """The messages with a line in place of each old result of a chatty tool; the newest ones and short ones stay.

    >>> result = {"role": "tool", "name": "grep", "content": "x" * 600}
    >>> [each["content"][:33] for each in placeholders([result, result], keep=1)]
    ['[an old result of grep, no longer', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx']
    """
    results = [place for place, each in enumerate(messages) if each["role"] == "tool" and each["name"] in CHATTY]
    old = [place for place in results[: max(0, len(results) - keep)] if len(messages[place]["content"]) >= least]
    shown = list(messages)
    for place in old:
        line = f"[an old result of {messages[place]['name']}, no longer shown]"
        shown[place] = {**messages[place], "content": line}
    return shown


def consolidated(messages: list[Any], keep: int = 8) -> list[Any]:
    r"""A summary in place of all but the newest messages, after a rest; a turn is never split.

    The summary is written by a stand-in that takes the first line of each question and reply. In nanobot a model writes
    it, in a call of its own.

    >>> turn = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    >>> consolidated(turn * 3, keep=2)[0]["content"]
    '[Summary of what was said before]\nuser: Hi\nassistant: Hello.\nuser: Hi\nassistant: Hello.'
    """
    opens = [place for place, each in enumerate(messages) if each["role"] == "user"]
    start = max((place for place in opens if place <= len(messages) - keep), default=0)
    told = [each for each in messages[:start] if each["role"] != "tool" and each["content"].strip()]
    if not told:
        return list(messages)
    lines = [f"{each['role']}: {each['content'].splitlines()[0]}" for each in told]
    summary = "\n".join(["[Summary of what was said before]", *lines])
    return [{"role": "user", "content": summary}, *messages[start:]]


DECISIONS: dict[str, dict[str, Any]] = {
    "chapter": {},
    "tail cut": {"shorten": tail},
    "16,000 characters": {"shorten": partial(middle, limit=16_000)},
    "on disk": {"shorten": on_disk},
    "placeholders": {"view": placeholders},
    "consolidation": {"rest": consolidated},
    "tail at 16,000": {"shorten": partial(tail, limit=16_000)},
}
"""What each decision puts in place of the chapter's; the last is two of them at once."""

TO_CHOOSE = ("tail cut", "16,000 characters", "on disk", "placeholders", "consolidation")
"""The four decisions that an exercise asks to choose from; the fourth, to forget, in its two forms."""
