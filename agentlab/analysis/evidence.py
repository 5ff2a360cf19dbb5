"""What in an observation may matter later: its first and last line, its error lines, the names that later calls cite.

Each is a span of the full text. A cut keeps a span when all of it is shown. That says what a cut exposes to loss, not
what an agent would have failed at: with a cut it might have read again.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.observe import READ_BACK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentlab.analysis.session import Observed, Session

EDGE = 200
"""Of a longer line this many characters count: its beginning for a first line, its end for a last one."""

_AFTER_LEVEL = r"(?=[]>|/[]|:[ \t]*+(?!['\"]\w+['\"],)\S|[ \t]+[^\s=,;)}])"
"""As in a log, not as in `if level == ERROR:`, `ERROR = 40` or `ERROR: "ERROR",`."""

ERROR_LINES = (
    # The exception line of a traceback, and its head.
    (("rror", "xception", "nterrupt"), r"^(?:E +)?(?:\w+\.)*\w*(?:Error|Exception|Interrupt)(?=:|$)"),
    (("Traceback (most",), r"^ *Traceback \(most recent call last\)"),
    # error: ..., error[E0308]: ..., main.c:3:5: error: ..., npm error ...
    (
        ("rror", "RROR", "atal", "ATAL", "ailed", "AILED", "ailure", "AILURE", "anic", "ANIC"),
        r"^\W{0,4}(?i:error|fatal|failed|failure|panic|panicked)(?=[:\[])",
    ),
    (("rror: ", "anic: "), r"(?<![\w(])(?<!except )(?<!, )(?:[Ee]rror|[Pp]anic): (?![%{])"),
    (("npm ", "ERR!"), r"^npm error\b|\bERR!"),
    (("] Error ",), r"\*\*\* .*\bError \d"),
    (("FAILED",), r"\bFAILED\b"),
    (("panicked at ",), r"\bpanicked at "),
    # The level of a log's line: 11:00 ERROR ..., [ERROR] ..., ERROR:root:..., [error] 31#0: ..., "level":"error".
    (
        ("ERROR", "FATAL", "CRITICAL", "PANIC"),
        r"(?<![\w.$\"'`*-])(?<!\w\()(?<!case )(?<!import )(?<!define )(?:ERROR|FATAL|CRITICAL|PANIC)\b" + _AFTER_LEVEL,
    ),
    (("rror] ", "atal] ", "crit] ", "emerg] "), r"(?<!\S)\[(?:\w+:)?(?:error|fatal|crit|emerg)\] (?=\S)"),
    (
        ("level", "severity"),
        r"(?<![\w.(])(?<!, )(?:level|severity)[\"']? ?[=:] ?[\"']?(?i:error|fatal|critical|panic)\b",
    ),
    # What a shell says, and the system through it.
    (("Segmentation fault", "Bus error", "(core dumped)"), r"\bSegmentation fault|\bBus error|\(core dumped\)"),
    (("Killed",), r"^Killed$"),
    ((" not found",), r"\bcommand not found\b|: not found$"),
    (("No such file or directory",), r"\bNo such file or directory\b"),
    (
        (" denied", " refused", " not permitted", " left on device"),
        r"[:\]] (?:Permission denied|Connection refused|Operation not permitted|No space left on device)\b",
    ),
    # How it ended: exit code 1; 3 failed, 4 passed.
    (("xit",), r"\b(?i:exit(?:ed)?(?: with)? (?:code|status|value)|exited with):? -?\d"),
    ((" failed", " failure", " error"), r"\b[1-9]\d* (?:failed|failures?|errors?)\b"),
)
"""Lines that report an error, a failure or an exit code, not source code that handles one: for each kind its pattern,
and texts of which one stands in any such line. Looking for these first spares the pattern most lines."""

NOTE = re.compile(
    r"\[\.\.\.truncated: \d+ characters[^\]\n]*\]?"
    r"|\[(?:lines|characters) \d+-\d+ of \d+(?:; read_result\([^\n]*?\)[^\]\n]*)?\]"
)
"""What agentlab itself writes into an observation: markers, and how to read on. It was not observed."""

_TOKEN = re.compile(r"[\w./-]+")
_CAMEL = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_SHORTEST = 4

Span = tuple[int, int]


class Lines(msgspec.Struct, frozen=True):
    """Spans of an observation's lines; `first` and `last` are None for a text of white space."""

    first: Span | None
    last: Span | None
    errors: list[Span]


class Citation(msgspec.Struct, frozen=True):
    """A name or id that a call took from an observation.

    Attributes:
        atom: The name or id.
        cited_at: Index of the message that makes the call.
        sources: For each observation that has it, by its index: where.
    """

    atom: str
    cited_at: int
    sources: dict[int, list[Span]]


def lines_of(text: str) -> Lines:
    r"""Find the lines that may matter.

    >>> lines_of("start\n\nValueError: no\nend\n")
    Lines(first=(0, 5), last=(22, 25), errors=[(7, 21)])
    """
    body = text.strip()
    if not body:
        return Lines(None, None, [])
    begin = text.index(body[0])
    end = begin + len(body)
    first_end = _line_end(text, begin, end)
    last_start = text.rfind("\n", begin, end) + 1 or begin
    return Lines((begin, min(first_end, begin + EDGE)), (max(last_start, end - EDGE), end), list(_error_lines(text)))


def citations(session: Session, observations: Sequence[Observed]) -> list[Citation]:
    """The names and ids that tool calls took from earlier observations, and from nowhere else.

    An atom is a token of a call's arguments, of at least 4 characters, with a digit, `_`, `/`, an inner dot or camel
    case. It is cited where it stands at a word boundary in an earlier observation, and in nothing else that the model
    had seen: system prompt, user, its own texts and arguments. So each atom counts once, at its first use. What
    agentlab's own notes say (`NOTE`) is not observed, and reading a cut result back (`read_result`) cites nothing.

    Args:
        session: Any.
        observations: Its observations, in full where they are.
    """
    haystacks = [session.system]
    pending = iter(observations)
    upcoming = next(pending, None)
    seen: list[tuple[int, str]] = []
    found = []
    for index, record in enumerate(session.records):
        while upcoming is not None and upcoming.index < index:
            seen.append((upcoming.index, _without_notes(upcoming.text)))
            upcoming = next(pending, None)
        if record.role == "tool":
            continue
        haystacks.append(record.text)
        for call in record.tool_calls:
            arguments = _strings(call["function"]["arguments"])
            cited = [] if call["function"]["name"] == READ_BACK else atoms(" ".join(arguments))
            for atom in dict.fromkeys(cited):
                if any(_spans(atom, haystack, 1) for haystack in haystacks):
                    continue
                sources = {at: spans for at, text in seen if (spans := _spans(atom, text))}
                if sources:
                    found.append(Citation(atom, index, sources))
            haystacks.append("\n".join(arguments))
    return found


def _error_lines(text: str) -> Iterator[Span]:
    """Spans of the lines that report an error; of a longer one `EDGE` / 2 characters on both sides of the word."""
    words: dict[Span, Span] = {}  # of each line: the first word in it that counts
    for hints, pattern in _error_patterns():
        for line in _lines_with(text, hints):
            match = pattern.search(text, *line)
            if match is not None:
                words[line] = min(match.span(), words.get(line, match.span()))
    for (start, stop), (begin, end) in sorted(words.items()):
        yield max(start, begin - EDGE // 2), min(stop, end + EDGE // 2)


@cache
def _error_patterns() -> list[tuple[tuple[str, ...], re.Pattern[str]]]:
    return [(hints, re.compile(pattern, re.MULTILINE)) for hints, pattern in ERROR_LINES]


def _lines_with(text: str, hints: Sequence[str]) -> Iterator[Span]:
    """The lines in which one of some texts stands; a line can come more than once."""
    for hint in hints:
        at = text.find(hint)
        while at >= 0:
            stop = _line_end(text, at, len(text))
            yield text.rfind("\n", 0, at) + 1, stop
            at = text.find(hint, stop)


def atoms(text: str) -> Iterator[str]:
    """The names and ids in a text.

    >>> list(atoms("read lib/json.py from 2024, as parseFile or json."))
    ['lib/json.py', '2024', 'parseFile']
    """
    for match in _TOKEN.finditer(text):
        token = match.group().strip("./-")
        if len(token) >= _SHORTEST and _is_name(token):
            yield token


def kept(span: Span, head: int, tail_start: int) -> bool:
    """Whether a span is shown whole by a cut that keeps the text before `head` and from `tail_start` on."""
    return span[1] <= head or span[0] >= tail_start


def _without_notes(text: str) -> str:
    """The text with blanks for our own notes, so that offsets stay."""
    return NOTE.sub(lambda note: " " * len(note[0]), text) if "[" in text else text


def _is_name(token: str) -> bool:
    return any(c.isdigit() or c in "_/." for c in token) or _CAMEL.search(token) is not None


def _spans(atom: str, text: str, most: int = 1000) -> list[Span]:
    """Where an atom stands at word boundaries in a text."""
    spans: list[Span] = []
    at = text.find(atom)
    while at >= 0 and len(spans) < most:
        end = at + len(atom)
        if not (at and _is_word(text[at - 1])) and not (end < len(text) and _is_word(text[end])):
            spans.append((at, end))
        at = text.find(atom, end)
    return spans


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _strings(arguments: str) -> list[str]:
    """The values in a call's arguments as texts; arguments that are no JSON as they are."""
    try:
        waiting: list[Any] = [msgspec.json.decode(arguments)]
    except (msgspec.DecodeError, RecursionError):
        return [arguments]
    texts = []
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, dict):
            waiting[:0] = value.values()
        elif isinstance(value, list):
            waiting[:0] = value
        elif value is not None and not isinstance(value, bool):
            texts.append(str(value))
    return texts


def _line_end(text: str, start: int, most: int) -> int:
    end = text.find("\n", start, most)
    return most if end < 0 else end
