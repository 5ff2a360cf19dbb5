"""How a request differs from the recorded call that is nearest to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.providers.digests import clean, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentlab.providers.cassette import Asked, Recorded

    Ignore = Callable[[str], str] | None

CLIP = 60
CONTEXT = 20
COMPARED_CHARS = 1000
COMPARED_CALLS = 20


def nearest_difference(asked: Asked, calls: Sequence[Recorded], agreeing: Sequence[int], ignore: Ignore = None) -> str:
    """Say which recorded call is nearest to a request, and where the first difference is.

    Nearest is the call whose messages agree longest from the start; then the one with the most of system prompt, tools
    and tool choice in common; then of the most similar length; then with the most similar message where they part.

    Args:
        asked: The request.
        calls: The recorded calls.
        agreeing: For each recorded call, how many messages from the start are those of the request.
        ignore: What the replay ignores: texts are compared, and shown, without it.
    """
    if not calls:
        return "no call was recorded; record the session first"
    best = max(agreeing)
    tied = [(number, call) for number, call in enumerate(calls, 1) if agreeing[number - 1] == best]
    tied.sort(key=lambda pair: abs(pair[1].node.length - len(asked.messages)))
    candidates = [_Candidate(number, call, asked, best, ignore) for number, call in tied[:COMPARED_CALLS]]
    nearest = max(candidates, key=lambda candidate: candidate.rank) if len(candidates) > 1 else candidates[0]
    count = len(asked.messages)
    return (
        f"no recorded call has this request of {count} message{'' if count == 1 else 's'}. Nearest is call "
        f"{nearest.number} (line {nearest.line}): {'; '.join(nearest.differences())}. "
        "Record the session again, or say with ignore= what changes from run to run"
    )


class _Candidate:
    """A recorded call beside the request: all but the messages that agree, each as (recorded, asked)."""

    def __init__(self, number: int, call: Recorded, asked: Asked, agreeing: int, ignore: Ignore) -> None:
        self.number = number
        self.line = call.line
        self.index = agreeing
        self.system = clean(call.system, ignore), clean(asked.system, ignore)
        self.tools = clean(call.tools, ignore), clean(asked.tools, ignore)
        self.choice = call.tool_choice, asked.tool_choice
        self.lengths = call.node.length, len(asked.messages)
        parting = next((node.message for node in call.node.upwards() if node.length == agreeing + 1), None)
        after = asked.messages[agreeing] if agreeing < len(asked.messages) else None
        self.message = clean(parting, ignore), clean(after, ignore)

    @property
    def rank(self) -> tuple[int, int, float]:
        """How near it is; the last figure says how alike the messages are where they part, from 0 to 1."""
        from difflib import SequenceMatcher

        same = sum(a == b for a, b in (self.system, self.tools, self.choice))
        a, b = (_text(side)[:COMPARED_CHARS] for side in self.message)
        alike = SequenceMatcher(None, a, b, autojunk=False).ratio()
        return same, -abs(self.lengths[0] - self.lengths[1]), alike

    def differences(self) -> list[str]:
        """The first difference of each part, one phrase each."""
        found = []
        if self.system[0] != self.system[1]:
            found.append("the system prompt differs" + _sides(*self.system))
        if self.tools[0] != self.tools[1]:
            found.append(_tools(*self.tools))
        if self.choice[0] != self.choice[1]:
            found.append("tool_choice: recorded {!r}, asked {!r}".format(*self.choice))
        if self.message != (None, None):
            found.append(self._messages())
        return found

    def _messages(self) -> str:
        """Where the two lists of messages part."""
        a, b = self.message
        here = f"messages[{self.index}]"
        if a is None:
            return f"it ends before {here}, which is asked ({b.get('role')}): {_clip(_text(b.get('content')))}"
        if b is None:
            return f"it goes on with {here}, which is not asked ({a.get('role')}): {_clip(_text(a.get('content')))}"
        field = _first_difference(a, b)
        role = "" if field == "role" else f" ({a.get('role')})"
        return f"{here}{role} differs in {field}" + _sides(a.get(field, _ABSENT), b.get(field, _ABSENT))


def _tools(recorded: list[dict[str, Any]], asked: list[dict[str, Any]]) -> str:
    """How two lists of tools differ."""
    names = [", ".join(tool["name"] for tool in side) for side in (recorded, asked)]
    if names[0] != names[1]:
        return "the tools differ" + _sides(*names)
    a, b = next((a, b) for a, b in zip(recorded, asked, strict=True) if a != b)
    field = _first_difference(a, b)
    return f"the tool {a['name']} differs in {field}" + _sides(a.get(field, _ABSENT), b.get(field, _ABSENT))


_ABSENT = object()


def _first_difference(a: dict[str, Any], b: dict[str, Any]) -> str:
    """The first field that two objects do not share, the role before others."""
    return next(field for field in dict.fromkeys(("role", *a, *b)) if a.get(field, _ABSENT) != b.get(field, _ABSENT))


def _sides(recorded: object, asked: object) -> str:
    """Both sides, from shortly before the first difference."""
    if recorded is _ABSENT or asked is _ABSENT:
        a, b = ("nothing" if side is _ABSENT else _clip(_text(side)) for side in (recorded, asked))
        return f": recorded {a}, asked {b}"
    a, b = _text(recorded), _text(asked)
    same = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    start = max(0, same - CONTEXT)
    return f" at character {same}: recorded {_clip(a, start)}, asked {_clip(b, start)}"


def _text(value: object) -> str:
    return value if isinstance(value, str) else encode(value).decode()


def _clip(text: str, start: int = 0) -> str:
    """A piece of a text in quotes, with dots where more of it is."""
    piece = repr(text[start : start + CLIP])
    return ("…" if start else "") + piece + ("…" if start + CLIP < len(text) else "")
